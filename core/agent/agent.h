// Agent: reaches a goal by letting a model write Python, running it in a confined session and handing back
// what came of it, until there is an answer that fits or a reason to stop.
//
// Run and Continue block; one may be called at a time. Interrupt and state may be called from any thread.
// Runtime and models are borrowed and must outlive the Agent.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_H_
#define GLOVEPORT_CORE_AGENT_AGENT_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/agent_observer.h"
#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/agent/budget.h"
#include "gloveport/core/agent/cell_check.h"
#include "gloveport/core/agent/memory.h"
#include "gloveport/core/agent/observation.h"
#include "gloveport/core/agent/output_rules.h"
#include "gloveport/core/agent/recovery.h"
#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

class RejectionCounter;

// A file that is put into the work folder before the first step.
struct InputFile {
  std::string path;  // in the work folder
  std::vector<std::byte> data;
};

// What has to be true of an answer besides its schema: a question that the host program asks of the answer
// and of the record of the run so far. It returns what is wrong, at which JSON Pointer, or nothing. It is
// called on the thread in Agent::Run; where it throws, the answer does not count.
struct Invariant {
  std::string name;
  std::function<std::optional<SchemaError>(const Value& answer, const AgentResult& record)> check;
};

struct AgentOptions {
  std::string goal;
  std::optional<Value> schema;        // JSON Schema of the answer
  std::vector<Invariant> invariants;  // asked where the schema fits
  OutputRules output;        // of the answer and the files written; displays against them are withheld
  std::string instructions;  // for the model, besides the goal
  std::vector<InputFile> files;

  // Budgets. Each run has its own, unless `budget` is given, which a tree of agents shares; then that one
  // counts besides max_steps.
  std::size_t max_steps = 10;              // replies of the model with which it acts; plans are none
  std::optional<std::int64_t> max_tokens;  // of all replies and prompts together
  std::optional<double> max_cost;          // as cost_of counts it
  Deadline deadline = Deadline::Never();   // of all runs
  std::optional<std::chrono::milliseconds> timeout;  // of each run
  std::shared_ptr<Budget> budget;                    // may be null
  // What a reply of the named model costs; nothing where that is not known. Null: nothing is known.
  std::function<std::optional<double>(std::string_view model, const TokenUsage&)> cost_of;
  std::string currency;  // that cost_of counts in, for people

  std::optional<std::chrono::milliseconds> cell_timeout;  // never more than the policy's
  InspectMode inspect = InspectMode::kAsPolicySays;
  // Looks at each cell before it runs; null: nobody does. The model is told what is found in the place of
  // running the cell, which runs all the same when the model sends it once more as it was, or when something
  // is found still after `max_failed_checks` in a row: the checker may be wrong.
  CellChecker check;
  std::size_t max_failed_checks = 2;
  std::size_t planning_interval = 0;  // a plan before every so many steps, with what is left; 0: none

  // In a row; one more than the model may make of each.
  std::size_t max_replies_without_code = 4;
  std::size_t max_denials = 4;
  std::size_t max_repetitions = 3;
  std::size_t max_invalid_answers = 3;  // over the run
  std::size_t max_rejections = 3;       // by persons, over the run

  // What is tried, in this order, where the run would have to give up.
  std::vector<RecoveryRung> recovery;
  Model* second_model = nullptr;                   // of kSecondModel
  std::optional<SessionOptions> fallback_session;  // of kFallbackRuntime; its tools and policy
  // Of kEscalate: what the model is told by the person who was asked; nothing ends the run.
  std::function<std::optional<std::string>(const RecoveryRecord&, const AgentResult&)> on_escalation;

  double temperature = 0;
  std::optional<int> max_reply_tokens;
  std::vector<std::string> stop_sequences;

  std::string system_template;  // empty: DefaultSystemTemplate()
  std::string task_template;    // empty: DefaultTaskTemplate()
  MemoryLimits memory;
  ObservationLimits observation;
  std::shared_ptr<AgentObserver> observer;  // may be null
};

class Agent {
 public:
  // The tools and the EventSink are those of `session`. With the policy's "checkpoint": "auto" a copy of the
  // session stands by for each cell.
  Agent(Runtime& runtime, Model& model, SessionOptions session, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // However the run ends, that is a value. An error means that it never began: kInvalidArgument for options
  // that make no sense (no goal, a schema that is none), or what Runtime::Open and Session::PutFile say.
  Result<AgentResult> Run();

  // Another goal in the same session and conversation, as in a chat; the first one where nothing ran yet.
  // Files, schema and budgets are those of the options; a budget that is not shared begins anew.
  Result<AgentResult> Continue(std::string goal);

  // The conversation so far as JSON, for another process to go on with; null before the first run. It has
  // what the model was told, redacted, and none of the session's variables.
  Json SaveMemory() const;
  // Goes on from what SaveMemory gave; before the first run. kInvalidArgument for what is none.
  Status LoadMemory(const Json& saved);

  // The session, between two runs; null before the first and where it could not be opened anew.
  Session* session() { return session_.get(); }

  // Ends the run soon, in the middle of a reply or a cell as well: kInterrupted, with what was reached so
  // far. Where none runs, it is meant for the next one.
  void Interrupt();

  AgentState state() const { return state_; }

 private:
  Status CheckOptions();
  Status Begin();  // opens the session and the conversation, once
  Result<AgentResult> RunOnce();

  Runtime& runtime_;
  Model& model_;
  SessionOptions session_options_;
  AgentOptions options_;
  std::unique_ptr<Session> session_;
  CellHistory history_;  // of it
  std::optional<Memory> memory_;
  bool loaded_ = false;  // memory_ is of an earlier session, and its model has not been told so
  std::shared_ptr<RejectionCounter> rejections_;
  std::mutex mutex_;       // of stop_
  std::stop_source stop_;  // of the running or next run
  std::atomic<AgentState> state_{AgentState::kStopped};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_H_
