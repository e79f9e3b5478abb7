// `gloveport replay` and `gloveport resume`: run what an audit log recorded once more, or go on from its end.
#ifndef GLOVEPORT_CORE_CLI_REPLAY_COMMAND_H_
#define GLOVEPORT_CORE_CLI_REPLAY_COMMAND_H_

#include <optional>
#include <string>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct ReplayCommandOptions {
  std::string file;  // audit log
  // "record": tools answer as they did; "live": the program's own and those below are called.
  std::string against = "record";
  std::string builtin;  // as WithBuiltinTools reads it
  McpFlags mcp;
  std::string session;              // resume: which; empty: the only one
  std::string code_file;            // resume: what runs then
  std::optional<std::string> code;  // or the code itself
  bool json = false;
};

// kExitOk where everything came out as recorded, kExitProgramFailed where something did not.
ExitCode RunReplay(const Program& program, const ReplayCommandOptions& options, Console& console);
// Runs a cell in the session as the log left it; how that ended is the exit code.
ExitCode RunResume(const Program& program, const ReplayCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_REPLAY_COMMAND_H_
