#include "gloveport/core/cli/agent_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>

#include "gloveport/core/agent/run_store.h"
#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/check_option.h"
#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/cli/terminal_approver.h"
#include "gloveport/core/host/sha256.h"
#include "gloveport/core/model/factory.h"
#include "gloveport/core/model/price_table.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxFileBytes = 64u << 20;
constexpr std::size_t kMaxSchemaBytes = 1u << 20;
constexpr std::size_t kMaxTemplateBytes = 1u << 20;

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

Result<std::string> ReadTemplate(std::string_view option, const std::string& path) {
  if (path.empty()) return std::string();
  auto text = ReadFile(path, kMaxTemplateBytes);
  if (!text) return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", option, text.error().message));
  return std::move(*text);
}

Result<std::string> ReadInstructions(const std::string& text) {
  if (!text.starts_with('@')) return text;
  return ReadTemplate("--instructions", text.substr(1));
}

Status ReadTexts(const AgentFlags& flags, AgentOptions& agent) {
  ASSIGN_OR_RETURN(agent.instructions, ReadInstructions(flags.instructions));
  ASSIGN_OR_RETURN(agent.system_template, ReadTemplate("--system-template", flags.system_template));
  ASSIGN_OR_RETURN(agent.task_template, ReadTemplate("--task-template", flags.task_template));
  return {};
}

// The rungs in the order of what they lose: nothing, the variables, the model's habits, tools and modules.
Status ReadRecovery(const Program&, const AgentFlags& flags, AgentInputs& inputs) {
  auto& rungs = inputs.agent.recovery;
  if (flags.fresh_session) rungs.push_back({RecoveryAction::kFreshSession, {}});
  if (!flags.second_model.empty()) {
    ASSIGN_OR_RETURN(inputs.second_model, AtOption("--second-model", MakeModel(flags.second_model)));
    inputs.agent.second_model = inputs.second_model.get();
    rungs.push_back({RecoveryAction::kSecondModel, {}});
  }
  if (flags.fallback_policy.empty()) return {};
  inputs.agent.fallback_session = inputs.session;
  ASSIGN_OR_RETURN(inputs.agent.fallback_session->policy,
                   AtOption("--fallback-policy", LoadPolicy(flags.fallback_policy)));
  rungs.push_back({RecoveryAction::kFallbackRuntime, {}});
  return {};
}

Status ReadPrices(const AgentFlags& flags, AgentOptions& agent) {
  auto prices = std::make_shared<PriceTable>(PriceTable::BuiltIn());
  if (!flags.prices.empty()) {
    ASSIGN_OR_RETURN(*prices, AtOption("--prices", PriceTable::Load(flags.prices)));
  }
  agent.currency = prices->currency();
  agent.cost_of = [prices](std::string_view model, const TokenUsage& usage) {
    return prices->Cost(model, usage);
  };
  return {};
}

void SetBudgets(const AgentFlags& flags, AgentOptions& agent) {
  agent.max_steps = static_cast<std::size_t>(flags.max_steps);
  agent.planning_interval = static_cast<std::size_t>(flags.plan_every);
  agent.max_tokens = flags.max_tokens;
  agent.max_cost = flags.max_cost;
  agent.output.max_verbatim_bytes = flags.max_verbatim;
  if (flags.timeout_s)
    agent.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*flags.timeout_s * 1000));
}

std::string PolicyLine(const Policy& policy) {
  const Limits& limits = policy.limits;
  return fmt::format("{}: {} s of time and {} MiB of memory for a cell, {} tool calls, no network",
                     policy.name, static_cast<double>(limits.wall.count()) / 1000, limits.memory_mib,
                     limits.tool_calls);
}

}  // namespace

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

void AddAgentFlags(CLI::App& command, AgentFlags& flags) {
  command
      .add_option(
          "--model", flags.model,
          "openai:NAME or openai-responses:NAME (OPENAI_API_KEY, OPENAI_BASE_URL),\n"
          "anthropic:NAME (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL); behind a NAME, ?action=text|json|tool\n"
          "says how it acts and &effort=LEVEL how much it thinks first. record:FILE=MODEL keeps what\n"
          "one of them says, replay:FILE (or FILE?match=order) plays it again without the model;\n"
          "scripted:FILE plays a transcript")
      ->required();
  command.add_option("--file,-f", flags.files, "Copied into the session's work folder; may be repeated");
  command.add_option("--tools,-t", flags.tools, "Tools to grant, by name: a,b")->delimiter(',');
  command.add_option("--agents", flags.agents, kAgentsHelp);
  command.add_option("--schema,-s", flags.schema, "JSON Schema that the answer must fit");
  command.add_option("--policy,-p", flags.policy, "A preset's name or a policy file")->capture_default_str();
  command.add_option("--instructions", flags.instructions,
                     "For the model, besides the goal; @FILE reads them from a file");
  command.add_option("--max-steps", flags.max_steps, "Answers that the model may give")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--max-tokens", flags.max_tokens, "Tokens of all prompts and replies together")
      ->check(CLI::PositiveNumber);
  command.add_option("--max-cost", flags.max_cost, "What all replies may cost together, by the price table")
      ->check(CLI::PositiveNumber);
  command.add_option("--prices", flags.prices, "Price table (JSON) in place of the built-in one");
  command.add_option("--timeout", flags.timeout_s, "Seconds for a whole run; in a chat for each goal")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--plan-every", flags.plan_every,
                  "Have the model plan before every so many steps; 0: never")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_flag("--fresh-session", flags.fresh_session,
                   "Where the run would have to give up: go on in a new session, once");
  command.add_option("--second-model", flags.second_model,
                     "Then: let another model go on, as --model names it");
  command.add_option("--fallback-policy", flags.fallback_policy,
                     "Then: go on in a session under this (stricter) policy");
  command.add_option("--max-verbatim", flags.max_verbatim,
                     "Longest passage, in bytes, of a given file that an answer may repeat word\n"
                     "for word; 0: any");
  command.add_option("--system-template", flags.system_template,
                     "File in place of the built-in system prompt");
  command.add_option("--task-template", flags.task_template,
                     "File in place of the built-in form of the task");
  command.add_flag("--check", flags.check,
                   "Have a type checker (ty, pyright or mypy, found on PATH) look at each cell and the\n"
                   "tools that it calls first; the model mends what is found, before anything runs");
  command.add_flag("--save", flags.save, "Keep the run for `gloveport runs` and `gloveport trace`");
  command.add_flag("--no-stream", flags.no_stream, "Ask the model for whole replies");
}

Result<AgentInputs> ReadAgentInputs(const Program& program, const AgentFlags& flags, Console& console) {
  AgentInputs inputs;
  ASSIGN_OR_RETURN(inputs.session.policy, AtOption("--policy", LoadPolicy(flags.policy)));
  ASSIGN_OR_RETURN(inputs.session.tools, GrantTools(program, flags.tools));
  ASSIGN_OR_RETURN(inputs.session.tools, WithBuiltinTools(inputs.session.tools, flags.builtin, &console));
  ASSIGN_OR_RETURN(inputs.agent.files, ReadInputFiles(flags.files));
  ASSIGN_OR_RETURN(inputs.agent.schema, ReadSchema(flags.schema));
  ASSIGN_OR_RETURN(inputs.model, AtOption("--model", MakeModel(flags.model)));
  ASSIGN_OR_RETURN(inputs.hook, MakeHook(flags.hook));
  RETURN_IF_ERROR(ReadTexts(flags, inputs.agent));
  RETURN_IF_ERROR(ReadPrices(flags, inputs.agent));
  RETURN_IF_ERROR(ReadRecovery(program, flags, inputs));
  if (!flags.agents.empty()) {
    ASSIGN_OR_RETURN(inputs.agents, ReadAgents(flags.agents, inputs.session.policy));
  }
  if (flags.check) {
    ASSIGN_OR_RETURN(inputs.agent.check, MakeCellChecker());
  }
  SetBudgets(flags, inputs.agent);
  // One for the whole tree.
  if (!inputs.agents.empty())
    inputs.agent.budget =
        std::make_shared<Budget>(BudgetLimits{.max_tokens = flags.max_tokens, .max_cost = flags.max_cost});
  return inputs;
}

Status Connect(AgentInputs& inputs, const AgentFlags& flags, Runtime& runtime, ListenToAgent listen,
               Console& console) {
  inputs.session.approver = TerminalApprover::Find(console);
  ASSIGN_OR_RETURN(const auto mcp, OpenMcp(flags.mcp, &runtime, inputs.session.approver, console));
  ASSIGN_OR_RETURN(inputs.session.tools, AddMcpTools(mcp, std::move(inputs.session.tools), console));
  if (mcp) console.Note(DescribeServers(*mcp));
  if (!inputs.agents.empty()) {
    ASSIGN_OR_RETURN(inputs.session.tools, AddAgents(inputs.agents, {runtime, *inputs.model, inputs.session,
                                                                     inputs.agent, std::move(listen)}));
  }
  if (auto& fallback = inputs.agent.fallback_session) {
    fallback->tools = inputs.session.tools;
    fallback->approver = inputs.session.approver;
  }
  return {};
}

void Introduce(const AgentInputs& inputs, const AgentFlags& flags, Console& console) {
  const auto row = [&console](std::string_view name, std::string_view text, Style style = Style::kPlain) {
    console.Note(fmt::format("{:<7} {}", name, console.Paint(Console::Safe(text), style)));
  };
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
  if (!flags.schema.empty()) row("Schema", flags.schema + ", which the answer must fit");
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

Json RunEnd(const AgentResult& result) {
  Json json = {{"stop_reason", StopReasonName(result.stop_reason)}, {"message", result.stop_message}};
  if (result.answer) json["answer_sha256"] = Sha256Hex(DumpJson(*result.answer));
  return json;
}

bool SaveRun(const AgentFlags& flags, const Agent& agent, const AgentResult& result, const Policy& policy,
             Console& console) {
  if (!flags.save) return true;
  const auto saved = [&]() -> Result<std::string> {
    ASSIGN_OR_RETURN(const auto folder, RunStore::DefaultFolder());
    ASSIGN_OR_RETURN(RunStore store, RunStore::Open(folder));
    ASSIGN_OR_RETURN(const Redactor redactor, Redactor::Compile(policy));
    return store.Save(result, {.memory = agent.SaveMemory(), .audit = flags.audit.file}, redactor);
  }();
  if (saved) {
    console.Note(fmt::format("Kept as run {} (gloveport runs show {})", *saved, *saved), Style::kDim);
  } else {
    console.Failure("--save", saved.error());
  }
  return saved.has_value();
}

}  // namespace gloveport
