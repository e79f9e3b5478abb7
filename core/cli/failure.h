// How a command ends that could not do its work.
#ifndef GLOVEPORT_CORE_CLI_FAILURE_H_
#define GLOVEPORT_CORE_CLI_FAILURE_H_

#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

enum class FailureForm {
  kText,  // for people, on stderr
  kJson,  // that, and {"error": ...} on stdout
};

// Says why `command` ("run", "audit show") failed, and gives the exit code for it.
ExitCode ReportFailure(const Program& program, std::string_view command, const Error& error, FailureForm form,
                       Console& console);

// The same for a command that works on the files that it was given: that one cannot be read is a matter of
// usage.
ExitCode ReportInputFailure(const Program& program, std::string_view command, const Error& error,
                            FailureForm form, Console& console);

inline FailureForm FailureFormOf(bool json) { return json ? FailureForm::kJson : FailureForm::kText; }

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_FAILURE_H_
