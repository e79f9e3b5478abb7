// `gloveport policy ...`: checks, explains, tests, shows and imports policies.
#ifndef GLOVEPORT_CORE_CLI_POLICY_COMMAND_H_
#define GLOVEPORT_CORE_CLI_POLICY_COMMAND_H_

#include <optional>
#include <string>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct PolicyOptions {
  std::string file;                 // check, explain, test: a policy file or a preset; show: a preset; import
  std::string code_file;            // explain
  std::optional<std::string> code;  // explain: the code itself, in place of a file
  std::string cases;                // test
  std::string tools;                // a file that lists tools; empty: the program's own
  std::string extends = "default";  // import
  std::string root;                 // import: the project's folder
  bool strict = false;              // check: warnings are errors
  bool json = false;
};

// kExitUsage where the policy has an error, or with `strict` a warning.
ExitCode RunPolicyCheck(const Program& program, const PolicyOptions& options, Console& console);
// Without code kExitOk for a policy that can be read; with code kExitDenied where the policy denies it.
ExitCode RunPolicyExplain(const Program& program, const PolicyOptions& options, Console& console);
// kExitProgramFailed where a case fails, kExitUsage where the cases cannot be read.
ExitCode RunPolicyTest(const Program& program, const PolicyOptions& options, Console& console);
ExitCode RunPolicyShow(const Program& program, const PolicyOptions& options, Console& console);
ExitCode RunPolicyImport(const Program& program, const PolicyOptions& options, Console& console);
ExitCode RunPolicySchema(Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_POLICY_COMMAND_H_
