// `gloveport run`: a model reaches a goal by writing Python, narrated on stderr; the answer goes to stdout.
#ifndef GLOVEPORT_CORE_CLI_RUN_COMMAND_H_
#define GLOVEPORT_CORE_CLI_RUN_COMMAND_H_

#include <string>
#include <vector>

#include "gloveport/core/cli/audit_option.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct RunCommandOptions {
  std::string goal;
  std::string model;               // "openai:NAME", "anthropic:NAME", "scripted:FILE"
  std::vector<std::string> files;  // copied into the work folder under their base names
  std::vector<std::string> tools;  // names out of the program's registry
  std::string schema;              // path; empty: any answer
  std::string policy = "default";
  int max_steps = 10;
  bool json = false;
  AuditFile audit;
  std::string hook;  // as MakeHook reads it
};

ExitCode RunGoal(const Program& program, const RunCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_RUN_COMMAND_H_
