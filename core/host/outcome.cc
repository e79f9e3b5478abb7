#include "gloveport/core/host/outcome.h"

namespace gloveport {

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kError:
      return "error";
    case Outcome::kDenied:
      return "denied";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kMemory:
      return "memory";
    case Outcome::kOutputLimit:
      return "output_limit";
    case Outcome::kViolation:
      return "violation";
    case Outcome::kCrashed:
      return "crashed";
    case Outcome::kKilled:
      return "killed";
    case Outcome::kProtocolError:
      return "protocol_error";
  }
  return "error";
}

std::string_view SessionStateName(SessionState state) {
  switch (state) {
    case SessionState::kKept:
      return "kept";
    case SessionState::kRestored:
      return "restored";
    case SessionState::kLost:
      return "lost";
  }
  return "lost";
}

std::string_view DecisionName(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
      return "allow";
    case Decision::kDeny:
      return "deny";
    case Decision::kEscalate:
      return "escalate";
  }
  return "deny";
}

}  // namespace gloveport
