// `gloveport session`: the session protocol on stdin and stdout.
#ifndef GLOVEPORT_CORE_CLI_SESSION_COMMAND_H_
#define GLOVEPORT_CORE_CLI_SESSION_COMMAND_H_

#include "gloveport/core/cli/audit_option.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct SessionCommandOptions {
  AuditFile audit;
  std::string hook;     // as MakeHook reads it
  std::string builtin;  // as WithBuiltinTools reads it
  McpFlags mcp;
};

ExitCode RunSession(const Program& program, const SessionCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_SESSION_COMMAND_H_
