#include "gloveport/core/agent/agent.h"

#include <utility>

#include "gloveport/core/agent/agent_run.h"
#include "gloveport/core/agent/prompts.h"
#include "gloveport/core/agent/rejection_counter.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/event_tee.h"

namespace gloveport {
namespace {

std::string_view TemplateOr(const std::string& own, std::string_view fallback) {
  if (own.empty()) return fallback;
  return own;
}

Result<Memory> BeginMemory(Session& session, const SessionOptions& session_options,
                           const AgentOptions& options, ActionForm form) {
  PromptInput input{.goal = options.goal,
                    .instructions = options.instructions,
                    .schema = options.schema,
                    .cell_timeout = options.cell_timeout,
                    .form = form};
  ASSIGN_OR_RETURN(input.files, session.ListFiles());
  input.tools = VisibleTools(session_options, session.policy());
  return Memory(
      RenderPrompt(TemplateOr(options.system_template, DefaultSystemTemplate()), input, session.policy()),
      RenderPrompt(TemplateOr(options.task_template, DefaultTaskTemplate()), input, session.policy()),
      options.memory);
}

Result<OutputCheck> MakeOutputCheck(const AgentOptions& options, const Policy& policy) {
  ASSIGN_OR_RETURN(OutputCheck check, OutputCheck::Compile(options.output, policy));
  for (const InputFile& file : options.files) {
    check.Protect("the file " + file.path,
                  {reinterpret_cast<const char*>(file.data.data()), file.data.size()});
  }
  return check;
}

}  // namespace

std::string_view AgentStateName(AgentState state) {
  switch (state) {
    case AgentState::kPlan:
      return "plan";
    case AgentState::kGenerate:
      return "generate";
    case AgentState::kParse:
      return "parse";
    case AgentState::kCheck:
      return "check";
    case AgentState::kRun:
      return "run";
    case AgentState::kValidate:
      return "validate";
    case AgentState::kObserve:
      return "observe";
    case AgentState::kRecover:
      return "recover";
    case AgentState::kStopped:
      return "stopped";
  }
  return "stopped";
}

Agent::Agent(Runtime& runtime, Model& model, SessionOptions session, AgentOptions options)
    : runtime_(runtime),
      model_(model),
      session_options_(std::move(session)),
      options_(std::move(options)),
      rejections_(std::make_shared<RejectionCounter>()) {
  session_options_.sink = Tee(rejections_, session_options_.sink);
  // A model that lost its variables to one bad cell would have to do everything again.
  Checkpoints& checkpoints = session_options_.policy.checkpoints;
  if (checkpoints == Checkpoints::kAuto) checkpoints = Checkpoints::kEachCell;
}

Agent::~Agent() = default;

Result<AgentResult> Agent::Run() {
  RETURN_IF_ERROR(CheckOptions());
  RETURN_IF_ERROR(Begin());
  return RunOnce();
}

Result<AgentResult> Agent::Continue(std::string goal) {
  options_.goal = std::move(goal);
  RETURN_IF_ERROR(CheckOptions());
  const bool first = !memory_;
  RETURN_IF_ERROR(Begin());
  if (!first) memory_->AddNote("# Task\n" + std::string(Trim(options_.goal)));
  return RunOnce();
}

Status Agent::Begin() {
  if (!session_) {
    ASSIGN_OR_RETURN(auto opened, runtime_.Open(session_options_));
    for (const InputFile& file : options_.files) RETURN_IF_ERROR(opened->PutFile(file.path, file.data));
    session_ = std::move(opened);
    history_ = {.tools = VisibleTools(session_options_, session_->policy()), .cells = {}};
  }
  if (std::exchange(loaded_, false)) {
    memory_->AddNote(
        "The conversation goes on in a new session: variables, imports and files of earlier cells are gone. "
        "What holds now, in the place of the above:\n" +
        SessionRules(session_options_, session_->policy(), options_.cell_timeout) +
        ReplyRules(model_.action_form()));
  }
  if (!memory_) {
    ASSIGN_OR_RETURN(memory_, BeginMemory(*session_, session_options_, options_, model_.action_form()));
  }
  return {};
}

Result<AgentResult> Agent::RunOnce() {
  ASSIGN_OR_RETURN(Redactor redactor, Redactor::Compile(session_options_.policy));
  ASSIGN_OR_RETURN(OutputCheck output, MakeOutputCheck(options_, session_options_.policy));
  const auto stop = [this] {
    const std::lock_guard lock(mutex_);
    return stop_;
  }();
  AgentRun run({.runtime = runtime_,
                .model = model_,
                .session_options = session_options_,
                .session = session_,
                .history = history_,
                .options = options_,
                .memory = *memory_,
                .rejections = *rejections_,
                .redactor = std::move(redactor),
                .output = std::move(output),
                .interrupt = stop.get_token(),
                .state = state_});
  AgentResult result = run.Run();
  const std::lock_guard lock(mutex_);
  stop_ = std::stop_source();
  return result;
}

void Agent::Interrupt() {
  // A copy: callbacks of the request may take long, and may end the run.
  auto stop = [this] {
    const std::lock_guard lock(mutex_);
    return stop_;
  }();
  stop.request_stop();
}

Json Agent::SaveMemory() const { return memory_ ? memory_->Save() : Json(); }

Status Agent::LoadMemory(const Json& saved) {
  if (memory_)
    return Fail(ErrorCode::kInvalidArgument, "a conversation has begun already", "load before the first run");
  ASSIGN_OR_RETURN(memory_, Memory::Load(saved, options_.memory));
  loaded_ = true;
  return {};
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
