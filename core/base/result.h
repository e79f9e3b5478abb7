// Result<T>: the one way a function of Gloveport says that it failed. Public functions throw nothing.
//
// An Error names the operation, the object and the cause in `message`, and, where there is something the
// caller can do, says so in `hint`. Values of this file are plain data and may be used from any thread.
#ifndef GLOVEPORT_CORE_BASE_RESULT_H_
#define GLOVEPORT_CORE_BASE_RESULT_H_

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace gloveport {

enum class ErrorCode {
  kInvalidArgument,         // the caller's input is wrong: fix it, a retry will not help
  kNotFound,                // a named file, session, tool or preset does not exist
  kDenied,                  // the policy or a person refused
  kConfinementUnavailable,  // a required layer of confinement cannot be had here; nothing was run
  kDeadlineExceeded,        // the time that was given ran out
  kResourceExhausted,       // a limit other than time was reached
  kProtocol,                // the peer broke the protocol
  kClosed,                  // the object or its peer has gone
  kIo,                      // a system call failed
  kInternal,                // a defect of Gloveport
};

// The name used in protocols and logs, for example "invalid_argument".
std::string_view ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string hint;  // what to do instead; empty where there is no advice

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string hint = "") {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

// "cannot open /x: No such file or directory", with the text of `error_number`; code kIo (kNotFound for
// ENOENT).
tl::unexpected<Error> FailErrno(std::string_view what, int error_number);

}  // namespace gloveport

#define GLOVEPORT_CONCAT_INNER(a, b) a##b
#define GLOVEPORT_CONCAT(a, b) GLOVEPORT_CONCAT_INNER(a, b)

// Returns the error of `expression` from the enclosing function, if it has one.
#define RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                  \
    if (auto gloveport_status = (expression); !gloveport_status)                        \
      return ::tl::unexpected<::gloveport::Error>(std::move(gloveport_status).error()); \
  } while (false)

// ASSIGN_OR_RETURN(auto x, MakeX()): takes the value, or returns the error from the enclosing function.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_INNER(GLOVEPORT_CONCAT(gloveport_result_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_INNER(result, target, expression)                             \
  auto result = (expression);                                                          \
  if (!result) return ::tl::unexpected<::gloveport::Error>(std::move(result).error()); \
  target = std::move(*result)

#endif  // GLOVEPORT_CORE_BASE_RESULT_H_
