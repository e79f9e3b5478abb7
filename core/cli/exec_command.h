// `gloveport exec`: one cell in a fresh session.
#ifndef GLOVEPORT_CORE_CLI_EXEC_COMMAND_H_
#define GLOVEPORT_CORE_CLI_EXEC_COMMAND_H_

#include <optional>
#include <string>

#include "gloveport/core/cli/audit_option.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct ExecOptions {
  std::string file;                 // "-": stdin
  std::optional<std::string> code;  // instead of a file
  std::string policy = "default";   // a preset's name or a path
  std::optional<double> timeout_s;
  std::string workdir;  // empty: a fresh one
  std::string figures;  // folder for images; empty: the current one, and none with `json`
  bool json = false;
  AuditFile audit;
  std::string hook;     // as MakeHook reads it
  std::string builtin;  // as WithBuiltinTools reads it
  McpFlags mcp;
  bool check = false;      // types, by an installed checker, before anything runs
  bool tools_pyi = false;  // prints the stub of the tools instead of running anything
};

ExitCode RunExec(const Program& program, const ExecOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_EXEC_COMMAND_H_
