// Recovery: what a run does where it would have to give up, as a list of rungs. Each rung is taken at most
// once, so that no run goes on for ever. Not thread-safe.
//
// Before a rung is taken the model was already handed its error back as often as AgentOptions says
// (max_denials, max_repetitions ...): that is the retry with the error.
#ifndef GLOVEPORT_CORE_AGENT_RECOVERY_H_
#define GLOVEPORT_CORE_AGENT_RECOVERY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/stop_reason.h"

namespace gloveport {

enum class RecoveryAction : std::uint8_t {
  kFreshSession,     // a new session of the same policy: variables are gone, files given are put again
  kSecondModel,      // AgentOptions::second_model writes from here on
  kFallbackRuntime,  // a new session of AgentOptions::fallback_session, a stricter one
  kEscalate,         // a person is asked: AgentOptions::on_escalation
};
// "fresh_session", "second_model", "fallback_runtime", "escalate"
std::string_view RecoveryActionName(RecoveryAction action);

struct RecoveryRung {
  RecoveryAction action;
  // For which reasons to give up; empty: for each that can be recovered from (IsRecoverable).
  std::vector<StopReason> reasons;
};

// kModelError, kDenied, kRepeatedAction, kValidationFailed, kRuntimeError: what another attempt may get over.
// Budgets, interrupts and persons that refuse are final.
bool IsRecoverable(StopReason reason);

class Recovery {
 public:
  explicit Recovery(std::vector<RecoveryRung> rungs) : rungs_(std::move(rungs)) {}

  // The next rung that is for `reason`, which is then used up.
  std::optional<RecoveryAction> Take(StopReason reason);

 private:
  std::vector<RecoveryRung> rungs_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_RECOVERY_H_
