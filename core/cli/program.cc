#include "gloveport/core/cli/program.h"

#include <signal.h>

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/doctor_command.h"
#include "gloveport/core/cli/exec_command.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/run_command.h"
#include "gloveport/core/cli/session_command.h"
#include "gloveport/core/cli/version.h"

namespace gloveport {
namespace {

using Action = std::function<ExitCode(Console&)>;

// Each Add... declares a subcommand; `action` becomes what it does when it is the one that was called.

void AddRun(CLI::App& app, const Program& program, RunCommandOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Let a model reach a goal by writing Python");
  command->add_option("goal", options.goal, "What is to be found out or done, in words")->required();
  command
      ->add_option("--model", options.model,
                   "openai:NAME (OPENAI_API_KEY, OPENAI_BASE_URL), anthropic:NAME\n"
                   "(ANTHROPIC_API_KEY), or scripted:FILE: a transcript in place of a model")
      ->required();
  command->add_option("--file,-f", options.files, "Copied into the session's work folder; may be repeated");
  command->add_option("--tools,-t", options.tools, "Tools to grant, by name: a,b")->delimiter(',');
  command->add_option("--schema,-s", options.schema, "JSON Schema that the answer must fit");
  command->add_option("--policy,-p", options.policy, "A preset's name or a policy file")
      ->capture_default_str();
  command->add_option("--max-steps", options.max_steps, "Answers that the model may give")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", options.json, "One JSON object on stdout: answer, steps, evidence");
  command->callback([&] { action = [&](Console& console) { return RunGoal(program, options, console); }; });
}

void AddExec(CLI::App& app, const Program& program, ExecOptions& options, Action& action) {
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
  command->callback([&] {
    if (options.file.empty() && !options.code) {
      throw CLI::RequiredError("exec: a file, or -c with the code itself,");
    }
    action = [&](Console& console) { return RunExec(program, options, console); };
  });
}

void AddSession(CLI::App& app, const Program& program, Action& action) {
  CLI::App* command =
      app.add_subcommand("session", "Serve sessions to a program: JSON lines on stdin and stdout");
  command->callback([&] { action = [&](Console& console) { return RunSession(program, console); }; });
}

void AddDoctor(CLI::App& app, const Program& program, DoctorOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Say what is installed, which layers of confinement hold here, and what to do");
  command->add_flag("--json", options.json, "One JSON object on stdout");
  command->add_flag("--attack", options.attack,
                    "Run the escape corpus here instead, and print what became of it");
  command->callback([&] { action = [&](Console& console) { return RunDoctor(program, options, console); }; });
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

  Action action;
  RunCommandOptions run;
  ExecOptions exec;
  DoctorOptions doctor;
  AddRun(app, program, run, action);
  AddExec(app, program, exec, action);
  AddSession(app, program, action);
  AddDoctor(app, program, doctor, action);

  const int parsed = Parse(app, argc, argv);
  if (parsed != kExitOk) return parsed < 0 ? kExitOk : parsed;
  Console console;
  return action(console);
}

}  // namespace gloveport
