#include "gloveport/core/base/result.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

namespace gloveport {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kDenied:
      return "denied";
    case ErrorCode::kConfinementUnavailable:
      return "confinement_unavailable";
    case ErrorCode::kDeadlineExceeded:
      return "deadline_exceeded";
    case ErrorCode::kResourceExhausted:
      return "resource_exhausted";
    case ErrorCode::kProtocol:
      return "protocol";
    case ErrorCode::kClosed:
      return "closed";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

tl::unexpected<Error> FailErrno(std::string_view what, int error_number) {
  const auto code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Fail(code, fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

}  // namespace gloveport
