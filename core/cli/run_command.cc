#include "gloveport/core/cli/run_command.h"

#include <memory>
#include <utility>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/agent/observer_tee.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/interrupt_watcher.h"
#include "gloveport/core/cli/jsonl_events.h"
#include "gloveport/core/cli/narrator.h"
#include "gloveport/core/host/event_tee.h"

namespace gloveport {
namespace {

void Conclude(const Program& program, const AgentResult& result, Console& console) {
  if (result.answer) {
    console.Note("\nThe answer", Style::kHeading);
    console.JsonData(DumpJson(*result.answer));
    if (!result.explanation.empty()) console.Note(Console::Safe(result.explanation), Style::kBold);
  } else {
    Error error = result.error.value_or(Error{});
    error.message = "no answer: " + result.stop_message;
    console.Note("");
    console.Failure(program.name + " run", error);
  }
  console.Note("\n" + std::string(Trim(EvidenceText(result))));
}

// Who hears what an agent does that is called as a tool.
ListenToAgent ListenersOf(const RunCommandOptions& options, const std::shared_ptr<Narrator>& narrator,
                          Console& console) {
  return [&options, narrator, &console](std::string_view name, const CallContext& call) {
    auto listeners = narrator->ListenTo(name, call);
    if (!options.jsonl) return listeners;
    const Json of = {{"of", {{"agent", name}, {"cell", call.cell}, {"call", call.call}}}};
    const auto events = std::make_shared<JsonlEvents>(console, !options.agent.no_stream, of);
    listeners.observer = Tee(listeners.observer, std::shared_ptr<AgentObserver>(events));
    listeners.sink = Tee(listeners.sink, std::shared_ptr<EventSink>(events));
    return listeners;
  };
}

Result<AgentResult> RunAgent(AgentInputs inputs, const RunCommandOptions& options,
                             const std::shared_ptr<AuditLog>& log, Console& console, bool& kept) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime,
                   Runtime::Create({.record = log, .hook = inputs.hook}));
  const auto voice = inputs.model->scripted() ? Narrator::Voice::kScript : Narrator::Voice::kModel;
  const auto narrator = std::make_shared<Narrator>(console, voice, !options.agent.no_stream);
  for (const NamedAgent& agent : inputs.agents) narrator->ExpectAgent(agent.options.name);
  const auto events =
      options.jsonl ? std::make_shared<JsonlEvents>(console, !options.agent.no_stream) : nullptr;
  inputs.session.sink = Tee(std::shared_ptr<EventSink>(narrator), std::shared_ptr<EventSink>(events));
  RETURN_IF_ERROR(Connect(inputs, options.agent, *runtime, ListenersOf(options, narrator, console), console));
  inputs.agent.observer =
      Tee(std::shared_ptr<AgentObserver>(narrator), std::shared_ptr<AgentObserver>(events));
  const Policy policy = inputs.session.policy;
  Agent agent(*runtime, *inputs.model, std::move(inputs.session), std::move(inputs.agent));
  const InterruptWatcher watcher([&agent] { agent.Interrupt(); });
  auto result = agent.Run();
  if (!result) return result;
  if (log) log->Note("run_end", RunEnd(*result));
  kept = SaveRun(options.agent, agent, *result, policy, console);
  return result;
}

}  // namespace

ExitCode RunGoal(const Program& program, const RunCommandOptions& options, Console& console) {
  const FailureForm form = FailureFormOf(options.json || options.jsonl);
  auto inputs = ReadAgentInputs(program, options.agent, console);
  if (!inputs) return ReportFailure(program, "run", inputs.error(), form, console);
  inputs->agent.goal = options.goal;
  const auto log = OpenAuditLog(options.agent.audit);
  if (!log) return ReportFailure(program, "run", log.error(), form, console);
  console.Note("Goal    " + console.Paint(Console::Safe(options.goal), Style::kBold));
  Introduce(*inputs, options.agent, console);
  bool kept = true;
  const auto result = RunAgent(std::move(*inputs), options, *log, console, kept);
  if (!result) {
    (void)FinishAuditLog(*log, console);
    return ReportFailure(program, "run", result.error(), form, console);
  }
  if (options.json) console.JsonData(DumpJson(ToJson(*result)));
  if (!options.json && !options.jsonl) {
    Conclude(program, *result, console);
  } else if (!result->answer) {
    console.Failure(program.name + " run", {.message = "no answer: " + result->stop_message});
  }
  if (!FinishAuditLog(*log, console) || !kept) return kExitProgramFailed;
  return ExitCodeOf(*result);
}

}  // namespace gloveport
