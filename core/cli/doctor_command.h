// `gloveport doctor`: what is installed here, which layers of confinement hold and how that was tried, and
// what to do about the rest.
#ifndef GLOVEPORT_CORE_CLI_DOCTOR_COMMAND_H_
#define GLOVEPORT_CORE_CLI_DOCTOR_COMMAND_H_

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct DoctorOptions {
  bool json = false;
  bool attack = false;  // run the escape corpus instead; see attack_command.h
};

// kExitConfinement when the preset "default" could not run here.
ExitCode RunDoctor(const Program& program, const DoctorOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_DOCTOR_COMMAND_H_
