#include "gloveport/core/cli/run_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/cli/interrupt_watcher.h"
#include "gloveport/core/cli/narrator.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/cli/terminal_approver.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/sha256.h"
#include "gloveport/core/model/factory.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxFileBytes = 64u << 20;
constexpr std::size_t kMaxSchemaBytes = 1u << 20;

// Everything that a run needs, read and checked before anything starts.
struct Inputs {
  std::unique_ptr<Model> model;
  SessionOptions session;
  AgentOptions agent;
  std::shared_ptr<DecisionHook> hook;
};

Result<InputFile> ReadInputFile(const std::string& path) {
  auto text = ReadFile(path, kMaxFileBytes);
  if (!text) {
    return Fail(ErrorCode::kInvalidArgument, "--file: " + text.error().message,
                text.error().code == ErrorCode::kResourceExhausted
                    ? "give a policy with files.read instead: the code reads the file where it is"
                    : "check the path; it is relative to the folder that the command was started in");
  }
  const auto bytes = AsBytes(*text);
  return InputFile{std::filesystem::path(path).filename().string(), {bytes.begin(), bytes.end()}};
}

Result<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(InputFile file, ReadInputFile(path));
    const bool taken =
        std::ranges::any_of(files, [&](const InputFile& other) { return other.path == file.path; });
    if (taken) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("--file {}: there is another file named {}", path, file.path),
                  "files are put into the work folder under their base names; rename one");
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::optional<Value>> ReadSchema(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto text = ReadFile(path, kMaxSchemaBytes);
  if (!text) return Fail(ErrorCode::kInvalidArgument, "--schema: " + text.error().message);
  const auto json = ParseJson(*text);
  if (!json) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("--schema {}: {}", path, json.error().message),
                "the file must hold one JSON Schema");
  }
  return std::optional<Value>(FromPlainJson(*json));
}

std::string ToolNames(const Program& program) {
  std::vector<std::string> names;
  if (program.tools) {
    for (const auto& tool : program.tools->tools()) names.push_back(tool->spec().name);
  }
  return names.empty() ? "" : fmt::format("{}", fmt::join(names, ", "));
}

Result<std::shared_ptr<const ToolRegistry>> GrantTools(const Program& program,
                                                       const std::vector<std::string>& names) {
  auto granted = std::make_shared<ToolRegistry>();
  for (const std::string& name : names) {
    const auto tool = program.tools ? program.tools->Find(name) : nullptr;
    if (!tool) {
      const std::string known = ToolNames(program);
      return Fail(
          ErrorCode::kInvalidArgument, fmt::format("--tools {}: {} has no such tool", name, program.name),
          known.empty()
              ? "tools are C++ functions built into a program; examples/conversion shows how to make a "
                "command with tools of your own"
              : "its tools are: " + known);
    }
    RETURN_IF_ERROR(granted->Add(tool));
  }
  return granted;
}

Result<Inputs> ReadInputs(const Program& program, const RunCommandOptions& options) {
  Inputs inputs;
  ASSIGN_OR_RETURN(inputs.session.policy, AtOption("--policy", LoadPolicy(options.policy)));
  ASSIGN_OR_RETURN(inputs.session.tools, GrantTools(program, options.tools));
  ASSIGN_OR_RETURN(inputs.agent.files, ReadInputFiles(options.files));
  ASSIGN_OR_RETURN(inputs.agent.schema, ReadSchema(options.schema));
  ASSIGN_OR_RETURN(inputs.model, AtOption("--model", MakeModel(options.model)));
  ASSIGN_OR_RETURN(inputs.hook, MakeHook(options.hook));
  inputs.agent.goal = options.goal;
  inputs.agent.max_steps = static_cast<std::size_t>(options.max_steps);
  return inputs;
}

// ---- what a reader is told before and after ----

std::string PolicyLine(const Policy& policy) {
  const Limits& limits = policy.limits;
  return fmt::format("{}: {} s of time and {} MiB of memory for a cell, {} tool calls, no network",
                     policy.name, static_cast<double>(limits.wall.count()) / 1000, limits.memory_mib,
                     limits.tool_calls);
}

void Introduce(const Inputs& inputs, const RunCommandOptions& options, Console& console) {
  const auto row = [&console](std::string_view name, std::string_view text, Style style = Style::kPlain) {
    console.Note(fmt::format("{:<7} {}", name, console.Paint(Console::Safe(text), style)));
  };
  row("Goal", options.goal, Style::kBold);
  if (inputs.model->scripted()) {
    row("Model",
        fmt::format("none: a script speaks in its place ({}). Everything else is real.",
                    inputs.model->name()),
        Style::kWarning);
  } else {
    row("Model", inputs.model->name());
  }
  for (const InputFile& file : inputs.agent.files) {
    row("File", fmt::format("{} ({}), copied into the session's work folder", file.path,
                            DescribeBytes(file.data.size())));
  }
  for (const auto& tool : inputs.session.tools->tools()) {
    row("Tool", fmt::format("{}, native: {}", tool->spec().Signature(), tool->spec().description));
  }
  row("Policy", PolicyLine(inputs.session.policy));
  if (!options.schema.empty()) row("Schema", options.schema + ", which the answer must fit");
}

ExitCode ExitCodeOf(const AgentResult& result) {
  switch (result.stop_reason) {
    case StopReason::kFinalAnswer:
      return kExitOk;
    case StopReason::kMaxSteps:
    case StopReason::kMaxTokens:
    case StopReason::kMaxCost:
    case StopReason::kDeadline:
      return kExitLimit;
    case StopReason::kModelError:
      return kExitModel;
    case StopReason::kDenied:
    case StopReason::kApprovalRejected:
      return kExitDenied;
    case StopReason::kRuntimeError:
      return result.error ? gloveport::ExitCodeOf(*result.error) : kExitProgramFailed;
    case StopReason::kValidationFailed:
    case StopReason::kRepeatedAction:
    case StopReason::kInterrupted:
      return kExitProgramFailed;
  }
  return kExitProgramFailed;
}

void Conclude(const Program& program, const AgentResult& result, Console& console) {
  if (result.answer) {
    console.Note("\nThe answer", Style::kHeading);
    console.Data(DumpJson(*result.answer) + "\n");
    if (!result.explanation.empty()) console.Note(Console::Safe(result.explanation), Style::kBold);
  } else {
    Error error = result.error.value_or(Error{});
    error.message = "no answer: " + result.stop_message;
    console.Note("");
    console.Failure(program.name + " run", error);
  }
  console.Note("\n" + std::string(Trim(EvidenceText(result))));
}

// What an auditor asks of the run as a whole.
Json RunEnd(const AgentResult& result) {
  Json json = {{"stop_reason", StopReasonName(result.stop_reason)}, {"message", result.stop_message}};
  if (result.answer) json["answer_sha256"] = Sha256Hex(DumpJson(*result.answer));
  return json;
}

Result<AgentResult> RunAgent(Inputs inputs, const std::shared_ptr<AuditLog>& log, Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime,
                   Runtime::Create({.record = log, .hook = inputs.hook}));
  const auto voice = inputs.model->scripted() ? Narrator::Voice::kScript : Narrator::Voice::kModel;
  const auto narrator = std::make_shared<Narrator>(console, voice);
  inputs.session.sink = narrator;
  inputs.session.approver = TerminalApprover::Find(console);
  inputs.agent.observer = narrator;
  Agent agent(*runtime, *inputs.model, std::move(inputs.session), std::move(inputs.agent));
  const InterruptWatcher watcher([&agent] { agent.Interrupt(); });
  auto result = agent.Run();
  if (result && log) log->Note("run_end", RunEnd(*result));
  return result;
}

}  // namespace

ExitCode RunGoal(const Program& program, const RunCommandOptions& options, Console& console) {
  auto inputs = ReadInputs(program, options);
  if (!inputs) return ReportFailure(program, "run", inputs.error(), FailureFormOf(options.json), console);
  const auto log = OpenAuditLog(options.audit);
  if (!log) return ReportFailure(program, "run", log.error(), FailureFormOf(options.json), console);
  Introduce(*inputs, options, console);
  const auto result = RunAgent(std::move(*inputs), *log, console);
  if (!result) return ReportFailure(program, "run", result.error(), FailureFormOf(options.json), console);
  if (options.json) {
    console.Data(DumpJson(ToJson(*result)) + "\n");
    if (!result->answer)
      console.Failure(program.name + " run", {.message = "no answer: " + result->stop_message});
  } else {
    Conclude(program, *result, console);
  }
  if (!FinishAuditLog(*log, console)) return kExitProgramFailed;
  return ExitCodeOf(*result);
}

}  // namespace gloveport
