#include "gloveport/core/agent/recovery.h"

#include <algorithm>

namespace gloveport {

std::string_view RecoveryActionName(RecoveryAction action) {
  switch (action) {
    case RecoveryAction::kFreshSession:
      return "fresh_session";
    case RecoveryAction::kSecondModel:
      return "second_model";
    case RecoveryAction::kFallbackRuntime:
      return "fallback_runtime";
    case RecoveryAction::kEscalate:
      return "escalate";
  }
  return "escalate";
}

bool IsRecoverable(StopReason reason) {
  switch (reason) {
    case StopReason::kModelError:
    case StopReason::kDenied:
    case StopReason::kRepeatedAction:
    case StopReason::kValidationFailed:
    case StopReason::kRuntimeError:
      return true;
    case StopReason::kFinalAnswer:
    case StopReason::kMaxSteps:
    case StopReason::kMaxTokens:
    case StopReason::kMaxCost:
    case StopReason::kDeadline:
    case StopReason::kApprovalRejected:
    case StopReason::kInterrupted:
      return false;
  }
  return false;
}

std::optional<RecoveryAction> Recovery::Take(StopReason reason) {
  if (!IsRecoverable(reason)) return std::nullopt;
  const auto rung = std::find_if(rungs_.begin(), rungs_.end(), [reason](const RecoveryRung& each) {
    return each.reasons.empty() ||
           std::find(each.reasons.begin(), each.reasons.end(), reason) != each.reasons.end();
  });
  if (rung == rungs_.end()) return std::nullopt;
  const RecoveryAction action = rung->action;
  rungs_.erase(rung);
  return action;
}

}  // namespace gloveport
