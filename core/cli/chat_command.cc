#include "gloveport/core/cli/chat_command.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/agent/run_store.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/interrupt_watcher.h"
#include "gloveport/core/cli/line_editor.h"
#include "gloveport/core/cli/narrator.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::string_view kHelp =
    R"(A line is a goal; one that ends with \ goes on in the next. Ctrl-C stops what runs, Ctrl-D leaves.
  /files      the files of the work folder
  /tools      the tools that code can call
  /evidence   what the last answer rests on
  /policy     the rules that hold
  /new        forget all and begin anew: another session, another conversation
  /quit       leave)";

class Chat {
 public:
  Chat(const ChatOptions& options, Runtime& runtime, AgentInputs inputs, std::shared_ptr<Narrator> narrator,
       std::shared_ptr<AuditLog> log, Console& console)
      : options_(options),
        runtime_(runtime),
        inputs_(std::move(inputs)),
        log_(std::move(log)),
        console_(console) {
    inputs_.session.sink = narrator;
    inputs_.agent.observer = std::move(narrator);
    Begin();
  }

  Status Resume() {
    if (options_.resume.empty()) return {};
    ASSIGN_OR_RETURN(const auto folder, RunStore::DefaultFolder());
    ASSIGN_OR_RETURN(const RunStore store, RunStore::Open(folder));
    ASSIGN_OR_RETURN(const Json run, store.Load(options_.resume));
    RETURN_IF_ERROR(agent_->LoadMemory(MemberOf(run, "memory")));
    console_.Note(fmt::format("The conversation of run {} goes on; variables of its session are gone.",
                              Console::Safe(TextOf(run, "id"))));
    return {};
  }

  // False: it is to end.
  bool Take(const std::string& line) {
    const std::string_view word = Trim(line);
    if (word.empty()) return true;
    if (word == "/quit" || word == "/exit") return false;
    if (word.starts_with('/')) {
      Command(word);
    } else {
      Reach(std::string(word));
    }
    return true;
  }

  ExitCode exit_code() const { return exit_code_; }

 private:
  void Begin() { agent_ = std::make_unique<Agent>(runtime_, *inputs_.model, inputs_.session, inputs_.agent); }

  void Command(std::string_view word) {
    if (word == "/help") return console_.Note(kHelp);
    if (word == "/tools") return ShowTools();
    if (word == "/files") return ShowFiles();
    if (word == "/policy")
      return console_.Note(Console::Safe(inputs_.session.policy.name) +
                           "; `gloveport policy explain` says it in words");
    if (word == "/evidence") {
      return console_.Note(last_ ? std::string(Trim(EvidenceText(*last_))) : "Nothing was run yet.");
    }
    if (word == "/new") {
      Begin();
      return console_.Note("A new session and conversation begin with the next goal.");
    }
    console_.Note(fmt::format("{} is no command; /help lists them.", Console::Safe(word)), Style::kWarning);
  }

  void ShowTools() {
    for (const auto& tool : inputs_.session.tools->tools())
      console_.Note("  " + Console::Safe(tool->spec().Signature()));
    if (inputs_.session.tools->tools().empty()) console_.Note("  none; --tools grants some");
  }

  void ShowFiles() {
    if (!agent_->session()) return console_.Note("  The session begins with the first goal.");
    const auto files = agent_->session()->ListFiles();
    if (!files) return console_.Failure("/files", files.error());
    for (const FileInfo& file : *files)
      console_.Note(fmt::format("  {} ({})", Console::Safe(file.path), DescribeBytes(file.size_bytes)));
    if (files->empty()) console_.Note("  none");
  }

  void Reach(std::string goal) {
    auto result = [&] {
      const InterruptWatcher watcher([this] { agent_->Interrupt(); });
      return agent_->Continue(std::move(goal));
    }();
    if (!result) {
      exit_code_ = ExitCodeOf(result.error());
      return console_.Failure("gloveport chat", result.error());
    }
    if (log_) log_->Note("run_end", RunEnd(*result));
    exit_code_ = gloveport::ExitCodeOf(*result);
    Tell(*result);
    SaveRun(options_.agent, *agent_, *result, inputs_.session.policy, console_);
    last_ = std::move(*result);
  }

  void Tell(const AgentResult& result) {
    console_.Note("");
    if (!result.answer) return console_.Note("No answer: " + Console::Safe(result.stop_message), Style::kBad);
    console_.JsonData(DumpJson(*result.answer));
    if (!result.explanation.empty()) console_.Note(Console::Safe(result.explanation), Style::kBold);
  }

  const ChatOptions& options_;
  Runtime& runtime_;
  AgentInputs inputs_;
  const std::shared_ptr<AuditLog> log_;
  Console& console_;
  std::unique_ptr<Agent> agent_;
  std::optional<AgentResult> last_;
  ExitCode exit_code_ = kExitOk;
};

}  // namespace

ExitCode RunChat(const Program& program, const ChatOptions& options, Console& console) {
  const auto fail = [&](const Error& error) {
    return ReportFailure(program, "chat", error, FailureForm::kText, console);
  };
  auto inputs = ReadAgentInputs(program, options.agent, console);
  if (!inputs) return fail(inputs.error());
  const auto log = OpenAuditLog(options.agent.audit);
  if (!log) return fail(log.error());
  const auto runtime = Runtime::Create({.record = *log, .hook = inputs->hook});
  if (!runtime) return fail(runtime.error());
  Introduce(*inputs, options.agent, console);
  const auto voice = inputs->model->scripted() ? Narrator::Voice::kScript : Narrator::Voice::kModel;
  const auto narrator = std::make_shared<Narrator>(console, voice, !options.agent.no_stream);
  for (const NamedAgent& agent : inputs->agents) narrator->ExpectAgent(agent.options.name);
  const auto listen = [narrator](std::string_view name, const CallContext& call) {
    return narrator->ListenTo(name, call);
  };
  if (const Status connected = Connect(*inputs, options.agent, **runtime, listen, console); !connected)
    return fail(connected.error());
  ExitCode code = kExitOk;
  {
    Chat chat(options, **runtime, std::move(*inputs), narrator, *log, console);
    if (const Status resumed = chat.Resume(); !resumed) return fail(resumed.error());
    LineEditor editor;
    if (editor.at_terminal()) console.Note("Write a goal, or /help.\n");
    while (const auto line = editor.Read("> ")) {
      if (!chat.Take(*line)) break;
      if (editor.at_terminal()) console.Note("");
    }
    code = chat.exit_code();
  }
  return FinishAuditLog(*log, console) ? code : kExitProgramFailed;
}

}  // namespace gloveport
