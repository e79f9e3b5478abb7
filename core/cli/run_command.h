// `gloveport run`: a model reaches a goal by writing Python, narrated on stderr; the answer goes to stdout.
#ifndef GLOVEPORT_CORE_CLI_RUN_COMMAND_H_
#define GLOVEPORT_CORE_CLI_RUN_COMMAND_H_

#include <string>

#include "gloveport/core/cli/agent_flags.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct RunCommandOptions {
  std::string goal;
  bool json = false;
  bool jsonl = false;
  AgentFlags agent;
};

ExitCode RunGoal(const Program& program, const RunCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_RUN_COMMAND_H_
