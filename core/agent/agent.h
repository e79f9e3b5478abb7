// Agent: reaches a goal by letting a model write Python, running it in a confined session and handing back
// what came of it, until there is an answer that fits or a reason to stop.
//
// Run may be called once and blocks; Interrupt and state may be called from any thread. Runtime and Model are
// borrowed and must outlive the Agent.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_H_
#define GLOVEPORT_CORE_AGENT_AGENT_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gloveport/core/agent/agent_observer.h"
#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/agent/memory.h"
#include "gloveport/core/agent/observation.h"
#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

// A file that is put into the work folder before the first step.
struct InputFile {
  std::string path;  // in the work folder
  std::vector<std::byte> data;
};

struct AgentOptions {
  std::string goal;
  std::optional<Value> schema;  // JSON Schema of the answer
  std::string instructions;     // for the model, besides the goal
  std::vector<InputFile> files;

  std::size_t max_steps = 10;                             // replies of the model
  Deadline deadline = Deadline::Never();                  // of the whole run
  std::optional<std::chrono::milliseconds> cell_timeout;  // never more than the policy's
  InspectMode inspect = InspectMode::kAsPolicySays;
  std::optional<std::int64_t> max_tokens;  // of all replies and prompts together

  // In a row; one more than the model may make of each.
  std::size_t max_replies_without_code = 4;
  std::size_t max_denials = 4;
  std::size_t max_repetitions = 3;
  std::size_t max_invalid_answers = 3;  // over the run

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
  // The tools and the EventSink are those of `session`.
  Agent(Runtime& runtime, Model& model, SessionOptions session, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // However the run ends, that is a value. An error means that it never began: kInvalidArgument for options
  // that make no sense (no goal, a schema that is none), or what Runtime::Open and Session::PutFile say.
  Result<AgentResult> Run();

  // Ends the run soon, in the middle of a reply or a cell as well: kInterrupted, with what was reached so
  // far.
  void Interrupt() { stop_.request_stop(); }

  AgentState state() const { return state_; }

 private:
  Status CheckOptions();

  Runtime& runtime_;
  Model& model_;
  SessionOptions session_options_;
  AgentOptions options_;
  std::stop_source stop_;
  std::atomic<AgentState> state_{AgentState::kGenerate};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_H_
