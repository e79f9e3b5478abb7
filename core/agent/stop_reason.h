// Why an agent run ended.
#ifndef GLOVEPORT_CORE_AGENT_STOP_REASON_H_
#define GLOVEPORT_CORE_AGENT_STOP_REASON_H_

#include <cstdint>
#include <string_view>

namespace gloveport {

enum class StopReason : std::uint8_t {
  kFinalAnswer,       // an answer was given and, where there is a schema, fits it
  kMaxSteps,          // as many replies as were allowed
  kMaxTokens,         // the token budget is used up
  kMaxCost,           // the money is spent, or what a reply costs is not known
  kDeadline,          // the time for the whole run is over
  kModelError,        // the endpoint failed, or the model gave no code several times in a row
  kValidationFailed,  // answers were given, none of them fits the schema and the other rules
  kDenied,            // the policy refused cell after cell
  kApprovalRejected,  // a person refused what the model wanted, more often than may be
  kRepeatedAction,    // the same cell with the same outcome again and again
  kInterrupted,       // Agent::Interrupt
  kRuntimeError,      // the session or the inspector could not go on
};

// "final_answer", "max_steps", ...
std::string_view StopReasonName(StopReason reason);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_STOP_REASON_H_
