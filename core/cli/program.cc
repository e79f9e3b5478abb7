#include "gloveport/core/cli/program.h"

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "gloveport/core/cli/audit_command.h"
#include "gloveport/core/cli/audit_option.h"
#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/chat_command.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/doctor_command.h"
#include "gloveport/core/cli/exec_command.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_server_command.h"
#include "gloveport/core/cli/option_tree.h"
#include "gloveport/core/cli/policy_command.h"
#include "gloveport/core/cli/replay_command.h"
#include "gloveport/core/cli/run_command.h"
#include "gloveport/core/cli/runs_command.h"
#include "gloveport/core/cli/session_command.h"
#include "gloveport/core/cli/settings.h"
#include "gloveport/core/cli/tools_command.h"
#include "gloveport/core/cli/version.h"

namespace gloveport {
namespace {

using Command = std::function<ExitCode(Console&)>;

void AddBuiltin(CLI::App& command, std::string& builtin) {
  command.add_option("--builtin", builtin, kBuiltinHelp);
}

void AddWatching(CLI::App& command, AuditFile& audit, std::string& hook) {
  command.add_option("--hook", hook,
                     "Program or http(s) URL that is asked about each cell and tool call, as JSON, and may\n"
                     "make the policy's verdict stricter, never looser");
  command.add_option("--audit", audit.file,
                     "New file for the audit log, or a folder in which each run gets one: a hash chain of\n"
                     "all that was decided, run, opened, called, refused and used");
  command.add_option("--audit-key", audit.key, "Ed25519 private key (PEM) that signs the log");
}

void AddMcpConfig(CLI::App& command, McpFlags& mcp) {
  command.add_option("--mcp-config", mcp.config,
                     "File with MCP servers: {\"mcpServers\": {NAME: {\"command\", \"args\", \"env\"} or\n"
                     "{\"url\", \"headers\"}}}; ${VAR} is taken from the environment");
}

void AddMcp(CLI::App& command, McpFlags& mcp) {
  command
      .add_option("--mcp", mcp.servers,
                  "MCP server whose tools become Python functions: 'NAME=COMMAND ARG ...' or NAME=URL;\n"
                  "may be repeated")
      ->take_all()
      ->expected(1);
  AddMcpConfig(command, mcp);
}

// Each Add... declares a subcommand; `action` becomes what it does when it is the one that was called.

void AddRun(CLI::App& app, const Program& program, RunCommandOptions& options, Command& action) {
  CLI::App* command = app.add_subcommand("run", "Let a model reach a goal by writing Python");
  command->add_option("goal", options.goal, "What is to be found out or done, in words")->required();
  AddAgentFlags(*command, options.agent);
  command->add_flag("--json", options.json, "One JSON object on stdout: answer, steps, evidence");
  command->add_flag("--jsonl", options.jsonl,
                    "A JSON object a line on stdout for all that happens, as it happens");
  AddWatching(*command, options.agent.audit, options.agent.hook);
  AddMcp(*command, options.agent.mcp);
  AddBuiltin(*command, options.agent.builtin);
  command->callback([&] { action = [&](Console& console) { return RunGoal(program, options, console); }; });
}

void AddExec(CLI::App& app, const Program& program, ExecOptions& options, Command& action) {
  CLI::App* command = app.add_subcommand("exec", "Run one piece of Python in a fresh session");
  auto* file = command->add_option("file", options.file, "File with the code; - for standard input");
  auto* code = command->add_option("-c", options.code, "The code itself, in place of a file");
  file->excludes(code);
  command->add_option("--policy,-p", options.policy, "A preset's name or a policy file")
      ->capture_default_str();
  command->add_option("--timeout", options.timeout_s, "Wall time limit in seconds, in place of the policy's")
      ->check(CLI::PositiveNumber);
  command->add_option("--workdir", options.workdir, "Host folder to work in; without it a fresh one");
  command->add_option("--figures", options.figures,
                      "Folder for the images that the code shows, in place of the current one;\n"
                      "with --json, images become files only where it is given");
  command->add_flag("--json", options.json, "One JSON object on stdout: value, output, error, usage");
  command->add_flag("--check", options.check,
                    "Let ty, pyright or mypy (the first on PATH) look at the code with the tools' types\n"
                    "first, and run nothing where it finds errors: a help, not a protection");
  command->add_flag("--tools-pyi", options.tools_pyi, "Print the tools as a Python stub, and run nothing");
  AddBuiltin(*command, options.builtin);
  AddWatching(*command, options.audit, options.hook);
  AddMcp(*command, options.mcp);
  command->callback([&] {
    if (options.file.empty() && !options.code && !options.tools_pyi) {
      throw CLI::RequiredError("exec: a file, or -c with the code itself,");
    }
    action = [&](Console& console) { return RunExec(program, options, console); };
  });
}

void AddSession(CLI::App& app, const Program& program, SessionCommandOptions& options, Command& action) {
  CLI::App* command =
      app.add_subcommand("session", "Serve sessions to a program: JSON lines on stdin and stdout");
  AddBuiltin(*command, options.builtin);
  AddWatching(*command, options.audit, options.hook);
  AddMcp(*command, options.mcp);
  command->callback(
      [&] { action = [&](Console& console) { return RunSession(program, options, console); }; });
}

void AddMcpServer(CLI::App& app, const Program& program, McpServerFlags& flags, Command& action) {
  CLI::App* command = app.add_subcommand(
      "mcp", "Serve Python sessions to an MCP client, which starts this command: stdin and stdout");
  AddMcpServerFlags(*command, flags);
  AddBuiltin(*command, flags.builtin);
  AddWatching(*command, flags.audit, flags.hook);
  AddMcp(*command, flags.mcp);
  command->callback(
      [&] { action = [&](Console& console) { return RunMcpServer(program, flags, console); }; });
}

void AddServe(CLI::App& app, const Program& program, ServeFlags& flags, Command& action) {
  CLI::App* command =
      app.add_subcommand("serve", "Serve Python sessions to MCP clients over HTTP on this machine");
  AddServeFlags(*command, flags);
  AddMcpServerFlags(*command, flags.server);
  AddBuiltin(*command, flags.server.builtin);
  AddWatching(*command, flags.server.audit, flags.server.hook);
  AddMcpConfig(*command, flags.server.mcp);
  command->callback([&] { action = [&](Console& console) { return RunServe(program, flags, console); }; });
}

void AddToolsCommand(CLI::App& app, const Program& program, ToolsCommandOptions& options, Command& action) {
  CLI::App* command =
      app.add_subcommand("tools",
                         "List built-in tools and those of MCP servers as the Python functions that\n"
                         "they are in sessions");
  AddBuiltin(*command, options.builtin);
  AddMcp(*command, options.mcp);
  command->add_flag("--brief", options.brief, "One line each");
  command->add_flag("--json", options.json, "One JSON list on stdout");
  command->callback([&] { action = [&](Console& console) { return RunTools(program, options, console); }; });
}

void AddDoctor(CLI::App& app, const Program& program, DoctorOptions& options, Command& action) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Say what is installed, which layers of confinement hold here, and what to do");
  command->add_flag("--json", options.json, "One JSON object on stdout");
  command->add_flag("--attack", options.attack,
                    "Run the escape corpus here instead, and print what became of it");
  command->callback([&] { action = [&](Console& console) { return RunDoctor(program, options, console); }; });
}

CLI::App* AddPolicyAction(CLI::App& policy, const std::string& name, const std::string& summary,
                          Command& action, std::function<ExitCode(Console&)> run) {
  CLI::App* command = policy.add_subcommand(name, summary);
  command->callback([&action, run = std::move(run)] { action = run; });
  return command;
}

void AddTools(CLI::App& command, PolicyOptions& options) {
  command.add_option("--tools,-t", options.tools,
                     "File with the tools that exist: a JSON list of names, or of\n"
                     "{\"name\", \"parameters\"} as the session protocol declares them");
}

void AddPolicyQuestions(CLI::App& policy, const Program& program, PolicyOptions& options, Command& action) {
  CLI::App* check = AddPolicyAction(
      policy, "check", "Find errors, and what is legal and probably not meant, with line and column", action,
      [&](Console& console) { return RunPolicyCheck(program, options, console); });
  check->add_option("file", options.file, "Policy file")->required();
  check->add_flag("--strict", options.strict, "Warnings fail too");
  check->add_flag("--json", options.json, "One JSON object on stdout");
  AddTools(*check, options);

  CLI::App* explain = AddPolicyAction(
      policy, "explain", "Say in words what a policy says, or which rules decide about a piece of code",
      action, [&](Console& console) { return RunPolicyExplain(program, options, console); });
  explain->add_option("file", options.file, "A policy file or a preset's name")->required();
  auto* code_file =
      explain->add_option("code", options.code_file, "File with Python code; - for standard input");
  explain->add_option("-c", options.code, "The code itself, in place of a file")->excludes(code_file);
  explain->add_flag("--json", options.json, "One JSON object on stdout");
  AddTools(*explain, options);

  CLI::App* test =
      AddPolicyAction(policy, "test", "Compare a policy's decisions with those that are expected", action,
                      [&](Console& console) { return RunPolicyTest(program, options, console); });
  test->add_option("file", options.file, "A policy file or a preset's name")->required();
  test->add_option(
          "cases", options.cases,
          "JSON lines: {\"name\", \"code\", \"expect\": \"allow\"|\"deny\"|\"escalate\", \"rule\"?}\n"
          "or {\"name\", \"tool\", \"args\", \"expect\": \"allow\"|\"ask\"|\"deny\"}")
      ->required();
  test->add_flag("--json", options.json, "One JSON object on stdout");
  AddTools(*test, options);
}

void AddPolicy(CLI::App& app, const Program& program, PolicyOptions& options, Command& action) {
  CLI::App* policy = app.add_subcommand("policy", "Check, explain, test, show and import policies");
  policy->require_subcommand(1);
  AddPolicyQuestions(*policy, program, options, action);
  CLI::App* show =
      AddPolicyAction(*policy, "show", "Print a preset, with its comments", action,
                      [&](Console& console) { return RunPolicyShow(program, options, console); });
  show->add_option("preset", options.file, "default, open or sandboxed_python")->required();
  CLI::App* import = AddPolicyAction(
      *policy, "import", "Make a policy of Claude Code's permissions or sandbox-runtime's settings", action,
      [&](Console& console) { return RunPolicyImport(program, options, console); });
  import
      ->add_option("file", options.file,
                   "settings.json; what cannot be taken over as it is\nis told on stderr, line by line")
      ->required();
  import->add_option("--extends", options.extends, "The preset to build on")->capture_default_str();
  import->add_option("--root", options.root, "The project's folder, for patterns such as Read(/src/**)");
  AddPolicyAction(*policy, "schema", "Print the JSON Schema of policy files, for editors", action,
                  [](Console& console) { return RunPolicySchema(console); });
}

void AddAuditCommand(CLI::App& app, const Program& program, AuditOptions& options, Command& action) {
  CLI::App* audit = app.add_subcommand("audit", "Show, verify and sum up audit logs");
  audit->require_subcommand(1);
  using Run = ExitCode (*)(const Program&, const AuditOptions&, Console&);
  const auto add = [&](const char* name, const char* summary, Run run) {
    CLI::App* command = audit->add_subcommand(name, summary);
    command->callback(
        [&, run] { action = [&, run](Console& console) { return run(program, options, console); }; });
    return command;
  };
  CLI::App* show = add("show", "Print the records, a line or a few each", RunAuditShow);
  show->add_option("file", options.file, "Audit log")->required();
  show->add_option("--kind,-k", options.kinds, "Only these kinds: cell,tool_call,refusal ...")
      ->delimiter(',');
  show->add_option("--source", options.sources, "Only records with this source: kernel, interpreter, host")
      ->delimiter(',');
  show->add_option("--session", options.session, "Only this session");
  show->add_option("--cell", options.cell, "Only this cell, by its number");
  show->add_flag("--json", options.json, "The records as they are, a JSON object a line");

  CLI::App* verify = add("verify", "Find what was edited, removed, added or moved, and say how the log ends",
                         RunAuditVerify);
  verify->add_option("file", options.file, "Audit log")->required();
  verify->add_option("--key", options.key, "Public key (PEM): every signature must be this key's");
  verify->add_option("--head", options.head, "Head hash that was kept elsewhere: the log must contain it");
  verify->add_flag("--json", options.json, "One JSON object on stdout");

  CLI::App* summary =
      add("summary", "Say what ran, which files and tools it used, what it tried and took", RunAuditSummary);
  summary->add_option("file", options.file, "Audit log")->required();
  summary->add_flag("--json", options.json, "One JSON object on stdout");

  CLI::App* key = add("key", "Make an Ed25519 key: FILE, and FILE.pub for those who verify", RunAuditKey);
  key->add_option("file", options.file, "New file for the private key")->required();
}

void AddReplay(CLI::App& app, const Program& program, ReplayCommandOptions& options, Command& action) {
  const auto add_common = [&](CLI::App& command) {
    command.add_option("file", options.file, "Audit log")->required();
    command
        .add_option("--against", options.against,
                    "record: tools answer what they answered then; live: the program's own are called,\n"
                    "and those of --builtin and --mcp")
        ->check(CLI::IsMember({"record", "live"}))
        ->capture_default_str();
    AddBuiltin(command, options.builtin);
    AddMcp(command, options.mcp);
    command.add_flag("--json", options.json, "One JSON object on stdout");
  };
  CLI::App* replay = app.add_subcommand(
      "replay", "Run what an audit log recorded once more, and say what came out differently");
  add_common(*replay);
  replay->callback([&] { action = [&](Console& console) { return RunReplay(program, options, console); }; });

  CLI::App* resume =
      app.add_subcommand("resume", "Bring a session back to where an audit log ends, and run a cell in it");
  add_common(*resume);
  resume->add_option("--session", options.session, "Which, where the log leaves several open");
  auto* file = resume->add_option("code", options.code_file, "File with Python code; - for standard input");
  resume->add_option("-c", options.code, "The code itself, in place of a file")->excludes(file);
  resume->callback([&] {
    if (options.code_file.empty() && !options.code)
      throw CLI::RequiredError("resume: a file, or -c with the code itself,");
    action = [&](Console& console) { return RunResume(program, options, console); };
  });
}

void AddRuns(CLI::App& app, const Program& program, RunsOptions& options, Command& action) {
  CLI::App* runs =
      app.add_subcommand("runs", "List, show, compare and export agent runs that `run --save` kept");
  runs->require_subcommand(1);
  using Run = ExitCode (*)(const Program&, const RunsOptions&, Console&);
  const auto add = [&](const char* name, const char* summary, Run run) {
    CLI::App* command = runs->add_subcommand(name, summary);
    command->callback(
        [&, run] { action = [&, run](Console& console) { return run(program, options, console); }; });
    return command;
  };
  const char* run_help = "Its id, the beginning of one, \"last\", or a file";
  CLI::App* list = add("list", "A line for each, the newest first", RunRunsList);
  list->add_option("--most,-n", options.most, "So many at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  list->add_flag("--json", options.json, "The runs whole, a JSON object a line");
  CLI::App* show = add("show", "What the model said, ran and was told, step by step", RunRunsShow);
  show->add_option("run", options.run, run_help)->required();
  show->add_flag("--json", options.json, "The run whole, as JSON");
  CLI::App* diff = add("diff", "What two runs did differently; exit code 1 where they did", RunRunsDiff);
  diff->add_option("run", options.run, run_help)->required();
  diff->add_option("other", options.other, "The other one")->required();
  CLI::App* out = add("export", "A run as JSON, Markdown or a Jupyter notebook", RunRunsExport);
  out->add_option("run", options.run, run_help)->required();
  out->add_option("--format", options.format)
      ->check(CLI::IsMember({"json", "markdown", "notebook"}))
      ->capture_default_str();
}

void AddTrace(CLI::App& app, const Program& program, TraceCommandOptions& options, Command& action) {
  CLI::App* trace = app.add_subcommand("trace", "Make training data of agent runs that were kept");
  trace->require_subcommand(1);
  const auto add_format = [&](CLI::App& command) {
    command.add_option("--format", options.format)
        ->check(CLI::IsMember({"openai-chat", "sharegpt", "codeact"}))
        ->capture_default_str();
  };
  CLI::App* out = trace->add_subcommand("export", "A JSON object a line for each run");
  out->add_option("runs", options.runs, "Ids, \"last\", or files; without any: all that are kept");
  add_format(*out);
  out->add_flag("--only-successes", options.only_successes, "Only runs with an answer that was accepted");
  out->add_flag("--only-validated", options.only_validated,
                "Only those whose answer a schema or an invariant has checked");
  out->add_flag("--drop-failed-steps", options.drop_failed_steps,
                "Leave out steps that failed, of runs that succeeded");
  out->add_flag("--keep-duplicates", options.keep_duplicates,
                "Also runs with the same task and code as an earlier one");
  out->add_option("--redact", options.redact,
                  "NAME=PATTERN (RE2) to take out, besides secrets; may be repeated");
  out->callback(
      [&] { action = [&](Console& console) { return RunTraceExport(program, options, console); }; });
  CLI::App* schema = trace->add_subcommand("schema", "Print the JSON Schema of the lines of a format");
  add_format(*schema);
  schema->callback(
      [&] { action = [&](Console& console) { return RunTraceSchema(program, options, console); }; });
}

void AddChat(CLI::App& app, const Program& program, ChatOptions& options, Command& action) {
  CLI::App* command =
      app.add_subcommand("chat", "Reach goals one after the other in one session and conversation");
  AddAgentFlags(*command, options.agent);
  command->add_option("--resume", options.resume,
                      "A run that was kept, whose conversation goes on in a new session");
  AddWatching(*command, options.agent.audit, options.agent.hook);
  AddBuiltin(*command, options.agent.builtin);
  AddMcp(*command, options.agent.mcp);
  command->callback([&] { action = [&](Console& console) { return RunChat(program, options, console); }; });
}

// Of the command itself: what its options are set to, and what shells and `man` are told of them.
struct TreeOptions {
  bool origin = false;
  std::string shell;
};

void AddTree(CLI::App& app, const Settings& settings, TreeOptions& options, Command& action) {
  CLI::App* config =
      app.add_subcommand("config", "Show the values that options have from files and the environment");
  config->require_subcommand(1);
  CLI::App* list = config->add_subcommand("list", "A line for each option that has one");
  list->add_flag("--origin", options.origin, "Also where it comes from");
  list->callback([&] {
    action = [&](Console& console) {
      console.Data(SettingList(app, settings, options.origin ? Origins::kShow : Origins::kHide));
      return kExitOk;
    };
  });
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script with which a shell completes this command");
  completion->add_option("shell", options.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&] {
    action = [&](Console& console) {
      console.Data(CompletionScript(app, options.shell));
      return kExitOk;
    };
  });
  app.add_subcommand("man", "Print the manual page: man -l <(gloveport man)")->callback([&] {
    action = [&](Console& console) {
      console.Data(ManualPage(app, kVersion));
      return kExitOk;
    };
  });
}

std::string ToolsFooter(const Program& program) {
  std::string text;
  if (program.tools && !program.tools->tools().empty()) {
    text = "Tools of this program:\n";
    for (const auto& tool : program.tools->tools()) text += "  " + tool->spec().Signature() + "\n";
    text += "\n";
  }
  return text;
}

std::optional<std::string> FromProcess(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

int Parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? -1 : kExitUsage;
  }
  return kExitOk;
}

}  // namespace

int RunProgram(const Program& program, int argc, const char* const* argv) {
  ::signal(SIGPIPE, SIG_IGN);
  CLI::App app(program.summary, program.name);
  app.set_version_flag("--version", program.name + " " + std::string(kVersion));
  app.require_subcommand(1);
  app.footer(ToolsFooter(program) + std::string(kExitCodeHelp) + "\n");

  Console console;
  std::error_code nowhere;  // the current folder may be gone
  const auto settings = Settings::Load(std::filesystem::current_path(nowhere), FromProcess);
  if (!settings) {
    console.Failure(program.name, settings.error());
    return kExitUsage;
  }
  Command action;
  RunCommandOptions run;
  ExecOptions exec;
  ToolsCommandOptions tools;
  DoctorOptions doctor;
  PolicyOptions policy;
  SessionCommandOptions session;
  McpServerFlags mcp;
  ServeFlags serve;
  AuditOptions audit;
  ReplayCommandOptions replay;
  RunsOptions runs;
  TraceCommandOptions trace;
  ChatOptions chat;
  TreeOptions tree;
  AddRun(app, program, run, action);
  AddChat(app, program, chat, action);
  AddExec(app, program, exec, action);
  AddSession(app, program, session, action);
  AddMcpServer(app, program, mcp, action);
  AddServe(app, program, serve, action);
  AddToolsCommand(app, program, tools, action);
  AddDoctor(app, program, doctor, action);
  AddPolicy(app, program, policy, action);
  AddAuditCommand(app, program, audit, action);
  AddReplay(app, program, replay, action);
  AddRuns(app, program, runs, action);
  AddTrace(app, program, trace, action);
  AddTree(app, *settings, tree, action);

  for (const std::string& warning : settings->warnings())
    console.Note(Console::Safe(warning), Style::kWarning);
  if (const Status known = settings->CheckNames(app); !known) {
    console.Failure(program.name, known.error());
    return kExitUsage;
  }
  RelaxRequired(app, *settings);
  const int parsed = Parse(app, argc, argv);
  if (parsed != kExitOk) return parsed < 0 ? kExitOk : parsed;
  if (const Status applied = ApplySettings(app, *settings); !applied) {
    console.Failure(program.name, applied.error());
    return kExitUsage;
  }
  return action(console);
}

}  // namespace gloveport
