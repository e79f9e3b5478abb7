#include "gloveport/core/agent/agent.h"

#include <utility>

#include "gloveport/core/agent/agent_run.h"
#include "gloveport/core/agent/prompts.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

std::string_view TemplateOr(const std::string& own, std::string_view fallback) {
  if (own.empty()) return fallback;
  return own;
}

Result<Memory> BeginMemory(Session& session, const SessionOptions& session_options,
                           const AgentOptions& options) {
  PromptInput input{.goal = options.goal,
                    .instructions = options.instructions,
                    .schema = options.schema,
                    .cell_timeout = options.cell_timeout};
  ASSIGN_OR_RETURN(input.files, session.ListFiles());
  if (session_options.tools) {
    std::vector<ToolSpec> specs;
    for (const auto& tool : session_options.tools->tools()) specs.push_back(tool->spec());
    input.tools = VisibleTools(specs, session.policy().tools);
  }
  return Memory(
      RenderPrompt(TemplateOr(options.system_template, DefaultSystemTemplate()), input, session.policy()),
      RenderPrompt(TemplateOr(options.task_template, DefaultTaskTemplate()), input, session.policy()),
      options.memory);
}

}  // namespace

std::string_view AgentStateName(AgentState state) {
  switch (state) {
    case AgentState::kGenerate:
      return "generate";
    case AgentState::kParse:
      return "parse";
    case AgentState::kRun:
      return "run";
    case AgentState::kValidate:
      return "validate";
    case AgentState::kObserve:
      return "observe";
    case AgentState::kStopped:
      return "stopped";
  }
  return "stopped";
}

Agent::Agent(Runtime& runtime, Model& model, SessionOptions session, AgentOptions options)
    : runtime_(runtime), model_(model), session_options_(std::move(session)), options_(std::move(options)) {
  // A model that lost its variables to one bad cell would have to do everything again.
  Checkpoints& checkpoints = session_options_.policy.checkpoints;
  if (checkpoints == Checkpoints::kAuto) checkpoints = Checkpoints::kEachCell;
}

Agent::~Agent() = default;

Result<AgentResult> Agent::Run() {
  RETURN_IF_ERROR(CheckOptions());
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, runtime_.Open(session_options_));
  for (const InputFile& file : options_.files) RETURN_IF_ERROR(session->PutFile(file.path, file.data));
  ASSIGN_OR_RETURN(Memory memory, BeginMemory(*session, session_options_, options_));
  ASSIGN_OR_RETURN(Redactor redactor, Redactor::Compile(session_options_.policy));
  return AgentRun(runtime_, model_, *session, options_, std::move(redactor), std::move(memory),
                  stop_.get_token(), state_)
      .Run();
}

Status Agent::CheckOptions() {
  if (Trim(options_.goal).empty())
    return Fail(ErrorCode::kInvalidArgument, "the agent has no goal",
                "say in AgentOptions::goal what is to be found out");
  if (!options_.schema) return {};
  // Any value does: what counts is whether the schema is one.
  const auto checked = runtime_.Validate(Value(), *options_.schema);
  if (!checked) return tl::unexpected(checked.error());
  return {};
}

}  // namespace gloveport
