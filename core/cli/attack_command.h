// `gloveport doctor --attack`: the escape corpus on the user's own machine.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_COMMAND_H_
#define GLOVEPORT_CORE_CLI_ATTACK_COMMAND_H_

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct AttackCommandOptions {
  bool json = false;
};

// Call it in a process with one thread. kExitOk when everything was contained, kExitProgramFailed when
// something escaped or nothing could be proven, kExitConfinement where no session runs here.
ExitCode RunAttackCommand(const Program& program, const AttackCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_COMMAND_H_
