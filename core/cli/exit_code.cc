#include "gloveport/core/cli/exit_code.h"

namespace gloveport {

ExitCode ExitCodeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return kExitOk;
    case Outcome::kDenied:
    case Outcome::kViolation:
      return kExitDenied;
    case Outcome::kTimeout:
    case Outcome::kMemory:
    case Outcome::kOutputLimit:
      return kExitLimit;
    case Outcome::kError:
    case Outcome::kCrashed:
    case Outcome::kKilled:
    case Outcome::kProtocolError:
      return kExitProgramFailed;
  }
  return kExitProgramFailed;
}

ExitCode ExitCodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
      return kExitUsage;
    case ErrorCode::kDenied:
      return kExitDenied;
    case ErrorCode::kConfinementUnavailable:
      return kExitConfinement;
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kResourceExhausted:
      return kExitLimit;
    case ErrorCode::kProtocol:
    case ErrorCode::kClosed:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return kExitProgramFailed;
  }
  return kExitProgramFailed;
}

}  // namespace gloveport
