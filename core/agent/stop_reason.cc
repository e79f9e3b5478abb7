#include "gloveport/core/agent/stop_reason.h"

namespace gloveport {

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kFinalAnswer:
      return "final_answer";
    case StopReason::kMaxSteps:
      return "max_steps";
    case StopReason::kMaxTokens:
      return "max_tokens";
    case StopReason::kMaxCost:
      return "max_cost";
    case StopReason::kDeadline:
      return "deadline";
    case StopReason::kModelError:
      return "model_error";
    case StopReason::kValidationFailed:
      return "validation_failed";
    case StopReason::kDenied:
      return "denied";
    case StopReason::kApprovalRejected:
      return "approval_rejected";
    case StopReason::kRepeatedAction:
      return "repeated_action";
    case StopReason::kInterrupted:
      return "interrupted";
    case StopReason::kRuntimeError:
      return "runtime_error";
  }
  return "runtime_error";
}

}  // namespace gloveport
