// `gloveport tools`: the program's tools, the built-in ones and those of MCP servers, as the Python functions
// that they are in sessions.
#ifndef GLOVEPORT_CORE_CLI_TOOLS_COMMAND_H_
#define GLOVEPORT_CORE_CLI_TOOLS_COMMAND_H_

#include <string>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct ToolsCommandOptions {
  McpFlags mcp;
  std::string builtin;  // as WithBuiltinTools reads it
  bool brief = false;   // one line each
  bool json = false;
};

ExitCode RunTools(const Program& program, const ToolsCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TOOLS_COMMAND_H_
