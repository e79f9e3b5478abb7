#include "gloveport/core/agent/agent_tool.h"

#include <fmt/format.h>

#include <stop_token>
#include <utility>

#include "gloveport/core/agent/observer_tee.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/event_tee.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostContext = 64u << 10;

ToolSpec MakeSpec(const AgentToolOptions& options) {
  ToolSpec spec;
  spec.name = options.name;
  spec.description = options.description;
  spec.parameters = {
      {.name = "task",
       .description = "What is to be found out or done, whole: the agent knows nothing of this run",
       .annotation = "str",
       .schema = Value::Object({{"type", "string"}, {"minLength", 1}})},
      {.name = "context",
       .description = "Plain data that the task is about",
       .annotation = "object",
       .schema = Value(Value::Map{}),
       .default_value = Value()}};
  spec.returns_description = "the answer";
  if (options.agent.schema) spec.returns_schema = *options.agent.schema;
  spec.is_async = options.is_async;
  return spec;
}

Result<std::string> GoalOf(const Arguments& arguments) {
  const Value* task = arguments.Find("task");
  if (!task || !task->is_text() || Trim(task->as_text()).empty())
    return Fail(ErrorCode::kInvalidArgument, "task must be a text that says what is to be done");
  const Value* context = arguments.Find("context");
  if (!context || context->is_null()) return task->as_text();
  const std::string json = DumpJson(*context);
  if (json.size() > kMostContext) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("context has {} bytes as JSON, {} are allowed", json.size(), kMostContext),
                "give a part of it, or sum it up");
  }
  return fmt::format("{}\n\nGiven with the task, as JSON:\n{}", task->as_text(), json);
}

}  // namespace

AgentTool::AgentTool(Runtime& runtime, Model& model, AgentToolOptions options)
    : runtime_(runtime), model_(model), options_(std::move(options)), spec_(MakeSpec(options_)) {}

Result<Value> AgentTool::Call(const Arguments& arguments, CallContext& context) {
  AgentOptions options = options_.agent;
  ASSIGN_OR_RETURN(options.goal, GoalOf(arguments));
  options.deadline = Earlier(options.deadline, context.deadline);
  SessionOptions session = options_.session;
  if (options_.on_call) {
    const AgentToolOptions::Listeners listeners = options_.on_call(context);
    options.observer = Tee(options.observer, listeners.observer);
    session.sink = Tee(session.sink, listeners.sink);
  }
  Agent agent(runtime_, model_, std::move(session), std::move(options));
  const std::stop_callback interrupt(context.stop, [&agent] { agent.Interrupt(); });
  ASSIGN_OR_RETURN(const AgentResult result, agent.Run());
  if (options_.on_result) options_.on_result(result);
  if (result.answer) return *result.answer;
  return Fail(ErrorCode::kResourceExhausted,
              fmt::format("the agent {} gave no answer ({}): {}", spec_.name,
                          StopReasonName(result.stop_reason), result.stop_message));
}

}  // namespace gloveport
