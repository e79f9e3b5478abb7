#include "gloveport/core/cli/failure.h"

#include <fmt/core.h>

#include "gloveport/core/host/result_json.h"

namespace gloveport {

ExitCode ReportFailure(const Program& program, std::string_view command, const Error& error, FailureForm form,
                       Console& console) {
  if (form == FailureForm::kJson) console.Data(DumpJson(Json{{"error", ToJson(error)}}) + "\n");
  console.Failure(fmt::format("{} {}", program.name, command), error);
  return ExitCodeOf(error);
}

ExitCode ReportInputFailure(const Program& program, std::string_view command, const Error& error,
                            FailureForm form, Console& console) {
  const ExitCode code = ReportFailure(program, command, error, form, console);
  return error.code == ErrorCode::kIo ? kExitUsage : code;
}

}  // namespace gloveport
