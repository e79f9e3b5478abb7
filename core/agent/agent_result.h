// What an agent run came to: the answer, and everything it rests on. Plain values.
//
// Text in it was written by the model or by the session: escape it before showing it in a terminal.
// evidence.h has renderers that do.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_RESULT_H_
#define GLOVEPORT_CORE_AGENT_AGENT_RESULT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/agent/action_parser.h"
#include "gloveport/core/agent/recovery.h"
#include "gloveport/core/agent/stop_reason.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/session.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

// One reply of the model and what came of it.
struct AgentStep {
  std::size_t number = 0;                 // 1-based
  std::string reply;                      // as the model wrote it
  std::string reasoning;                  // what the endpoint reported apart from the reply
  std::optional<CodeAction> code_action;  // where the model acted by a tool call or structured output
  std::string opaque;                     // what the server wants to see again
  std::string finish_reason;
  TokenUsage tokens;
  std::chrono::nanoseconds model_time{0};
  Action action;  // thought and code, or why there is none
  // Of AgentOptions::check. Where something was found and there is no result, the cell was held back for it.
  std::vector<Finding> findings;
  std::optional<Error> check_error;            // why the cell could not be checked
  std::optional<CellResult> result;            // absent where nothing was run
  std::vector<SchemaError> validation_errors;  // of this step's final answer, from each kind of rule
  std::vector<SchemaError> withheld;           // displays that an output rule kept from being shown
  std::string observation;                     // what the model was told; empty after the last step
};

// What the model planned, without code.
struct AgentPlan {
  std::size_t before_step = 1;  // 1-based
  std::string text;
  TokenUsage tokens;
  std::chrono::nanoseconds model_time{0};
};

// Where the run would have had to give up and did not.
struct RecoveryRecord {
  std::size_t after_step = 0;  // 0: before the first
  RecoveryAction action = RecoveryAction::kFreshSession;
  StopReason reason = StopReason::kRuntimeError;  // for which it would have ended
  std::string message;                            // of that reason
};

struct AgentResult {
  StopReason stop_reason = StopReason::kRuntimeError;
  std::string stop_message;     // one sentence for people: what ended the run
  std::optional<Value> answer;  // present exactly if stop_reason is kFinalAnswer
  std::string answer_repr;      // of `answer`, as Python writes it
  std::string explanation;      // that the model gave with the answer
  // What the answer has passed: "schema", the names of invariants, "output rules"; empty without an answer.
  std::vector<std::string> checked_by;
  std::optional<Error> error;  // behind kModelError and kRuntimeError
  std::vector<AgentStep> steps;
  std::vector<AgentPlan> plans;
  std::vector<RecoveryRecord> recoveries;

  std::string model;      // its name
  bool scripted = false;  // the model's words came from a script
  std::string policy;     // name of the policy
  std::string session;    // id, of the last one
  std::vector<LayerStatus> layers;

  std::string goal;
  std::vector<ChatMessage> prompt;  // the conversation before the first reply of this run
  TokenUsage tokens;                // of all steps and plans
  std::optional<double> cost;       // of them; absent where the price of one is not known
  std::string currency;             // that cost counts in
  Usage totals;                     // of all cells: sums, the largest max_rss_bytes, files once each in order
  std::chrono::nanoseconds wall{0};        // of the whole run
  std::chrono::nanoseconds model_time{0};  // of it, waiting for the model
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_RESULT_H_
