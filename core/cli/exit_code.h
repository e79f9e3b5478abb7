// The exit codes of the command; `gloveport --help` and README.md list them. Pure functions.
#ifndef GLOVEPORT_CORE_CLI_EXIT_CODE_H_
#define GLOVEPORT_CORE_CLI_EXIT_CODE_H_

#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"

namespace gloveport {

enum ExitCode : int {
  kExitOk = 0,
  kExitProgramFailed = 1,  // the code raised, or the process running it ended; also every failure not listed
  kExitUsage = 2,          // arguments, a policy or an input file
  kExitDenied = 3,         // the policy refused
  kExitLimit = 4,          // time, memory, output, steps ...
  kExitConfinement = 5,    // a required layer of confinement is not to be had: nothing was run
  kExitModel = 6,          // the model's endpoint or transcript
};

inline constexpr std::string_view kExitCodeHelp =
    "Exit codes: 0 ok, 1 the program failed, 2 usage, 3 denied by the policy, 4 a limit was reached,\n"
    "5 confinement unavailable (nothing was run), 6 model error";

ExitCode ExitCodeOf(Outcome outcome);
ExitCode ExitCodeOf(const Error& error);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_EXIT_CODE_H_
