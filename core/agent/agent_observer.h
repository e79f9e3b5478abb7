// AgentObserver: what user interfaces and tests implement to watch an agent run. What happens inside a cell
// (output as it is written, tool calls) goes to the EventSink of the session.
//
// Calls come from the thread in Agent::Run, in the order in which things happen. The arguments are only valid
// during the call.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_OBSERVER_H_
#define GLOVEPORT_CORE_AGENT_AGENT_OBSERVER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/agent_result.h"

namespace gloveport {

// Where a run stands: (plan →) generate → parse (→ check) → run → validate or observe → generate ... →
// stopped; recover where it would have had to stop and goes on instead.
enum class AgentState : std::uint8_t {
  kPlan,
  kGenerate,
  kParse,
  kCheck,
  kRun,
  kValidate,
  kObserve,
  kRecover,
  kStopped
};
std::string_view AgentStateName(AgentState state);  // "plan", "generate", "parse", ...

class AgentObserver {
 public:
  virtual ~AgentObserver() = default;
  virtual void OnState(AgentState) {}
  virtual void OnStep(std::size_t /*number*/, std::size_t /*max_steps*/) {}  // before the model is asked
  // While the model writes, where the server streams: pieces of what OnModelReply or OnPlan has in the end,
  // or of a reply that then fails. Asked for only where wants_deltas says so.
  virtual bool wants_deltas() const { return false; }
  virtual void OnDelta(const ChatDelta&) {}
  virtual void OnModelReply(const ChatReply&) {}
  virtual void OnPlan(const AgentPlan&) {}
  virtual void OnAction(const Action&) {}  // code, or why there is none
  // By AgentOptions::check, where that is set; an error: the cell could not be checked, and runs.
  virtual void OnCheck(const Result<std::vector<Finding>>&) {}
  virtual void OnResult(const CellResult&) {}                    // the cell has ended, or was refused
  virtual void OnValidation(const std::vector<SchemaError>&) {}  // of a final answer; empty: it fits
  virtual void OnObservation(std::string_view) {}                // what the model is told
  virtual void OnRecovery(const RecoveryRecord&) {}              // done: the run goes on
  virtual void OnStop(const AgentResult&) {}
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_OBSERVER_H_
