// AgentRun: one run of an Agent as a state machine. Internal to core/agent; used by one thread.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_RUN_H_
#define GLOVEPORT_CORE_AGENT_AGENT_RUN_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/agent/budget.h"
#include "gloveport/core/agent/memory.h"
#include "gloveport/core/agent/output_rules.h"
#include "gloveport/core/agent/recovery.h"
#include "gloveport/core/agent/rejection_counter.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

// What a run works with. All but the redactor and the check is borrowed from the Agent and outlives the run.
struct AgentRunParts {
  Runtime& runtime;
  Model& model;
  const SessionOptions& session_options;
  std::unique_ptr<Session>& session;  // never null at the start; a recovery may replace it
  CellHistory& history;               // of that session
  const AgentOptions& options;
  Memory& memory;
  RejectionCounter& rejections;
  Redactor redactor;  // of what the model is told
  OutputCheck output;
  std::stop_token interrupt;
  std::atomic<AgentState>& state;
};

class AgentRun {
 public:
  explicit AgentRun(AgentRunParts parts);

  AgentResult Run();

 private:
  struct Ending {
    StopReason reason;
    std::string message;
    std::optional<Error> error;
  };

  // One state each; they return the next one.
  AgentState Plan();
  AgentState Generate();
  AgentState Parse();
  AgentState CheckCell();
  AgentState RunCell();
  AgentState Validate();
  AgentState Observe();
  AgentState Recover();
  AgentState Advance(AgentState state);
  AgentState NextReply() const;  // kPlan or kGenerate

  AgentState Stop(Ending ending);
  // Stops, or recovers where there is a rung for it.
  AgentState GiveUp(Ending ending);
  AgentState GiveUpFor(const Error& error, StopReason otherwise, std::string message);
  std::optional<Ending> EndBeforeStep() const;
  std::optional<Ending> EndAfterStep() const;

  bool HoldsBack();  // the cell, for what the check has found
  Result<ChatReply> AskModel(std::vector<ChatMessage> messages, ActionForm form);
  void CountReply(const ChatReply& reply);
  std::vector<SchemaError> CheckInvariants(const Value& answer);
  std::vector<SchemaError> CheckOutputs(const FinalAnswerValue& answer);
  void CheckFiles(std::vector<SchemaError>& found);
  void WithholdDisplays();

  // What was done for a recovery, in words for the model; nothing where it cannot be done.
  std::optional<std::string> Apply(const RecoveryRecord& record);
  std::optional<std::string> ChangeModel(const RecoveryRecord& record);
  std::optional<std::string> OpenAnew(const SessionOptions& options);
  void AdoptSession();

  AgentStep& step() { return result_.steps.back(); }
  std::string ObservationOfStep();
  std::string Remember();  // the step, in the memory; returns its observation
  void CountRepetition();
  std::size_t StepsLeft() const;

  AgentRunParts parts_;
  const AgentOptions& options_;
  Model* model_;
  std::shared_ptr<Budget> budget_;
  Deadline deadline_;
  Recovery recovery_;
  std::optional<Ending> given_up_;  // what Recover is to get over
  AgentObserver no_observer_;
  AgentObserver& observer_;
  AgentResult result_;
  std::chrono::nanoseconds reply_time_{0};  // of the last question to the model
  std::size_t planned_before_ = 0;          // the step that the last plan was made for
  const std::size_t rejections_before_;

  // In a row, but for invalid answers; a recovery begins anew.
  std::size_t begun_at_ = 0;  // steps before the last recovery
  std::size_t without_code_ = 0;
  std::size_t denials_ = 0;
  std::size_t failed_checks_ = 0;
  std::size_t repetitions_ = 1;
  std::size_t invalid_answers_ = 0;
  std::vector<SchemaError> last_errors_;  // of the last of them
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_RUN_H_
