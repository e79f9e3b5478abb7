// AgentRun: one run of an Agent as a state machine. Internal to core/agent; used by one thread.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_RUN_H_
#define GLOVEPORT_CORE_AGENT_AGENT_RUN_H_

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <string>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/agent/memory.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

class AgentRun {
 public:
  // All must outlive the run.
  AgentRun(Runtime& runtime, Model& model, Session& session, const AgentOptions& options, Redactor redactor,
           Memory memory, std::stop_token interrupt, std::atomic<AgentState>& state);

  AgentResult Run();

 private:
  // One state each; they return the next one.
  AgentState Generate();
  AgentState Parse();
  AgentState RunCell();
  AgentState Validate();
  AgentState Observe();
  AgentState Advance(AgentState state);

  AgentState Stop(StopReason reason, std::string message, std::optional<Error> error = {});
  AgentState StopFor(const Error& error, StopReason otherwise, std::string message);
  bool StopBeforeStep();  // true: result_ says why
  bool StopAfterStep();

  AgentStep& step() { return result_.steps.back(); }
  std::string ObservationOfStep();
  void CountRepetition();
  void AddUsage(const Usage& usage);

  Runtime& runtime_;
  Model& model_;
  Session& session_;
  const AgentOptions& options_;
  AgentObserver no_observer_;
  AgentObserver& observer_;
  const Redactor redactor_;  // of what the model is told
  Memory memory_;
  std::stop_token interrupt_;
  std::atomic<AgentState>& state_;
  AgentResult result_;

  // In a row, but for invalid answers.
  std::size_t without_code_ = 0;
  std::size_t denials_ = 0;
  std::size_t repetitions_ = 1;
  std::size_t invalid_answers_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_RUN_H_
