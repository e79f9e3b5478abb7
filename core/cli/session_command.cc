#include "gloveport/core/cli/session_command.h"

#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/session_protocol.h"

namespace gloveport {

ExitCode RunSession(const Program& program, const SessionCommandOptions& options, Console& console) {
  const auto log = OpenAuditLog(options.audit);
  if (!log) {
    console.Failure(program.name + " session", log.error());
    return kExitUsage;
  }
  const auto hook = MakeHook(options.hook);
  if (!hook) {
    console.Failure(program.name + " session", hook.error());
    return kExitUsage;
  }
  auto runtime = Runtime::Create({.record = *log, .hook = *hook});
  if (!runtime) {
    console.Failure(program.name + " session", runtime.error());
    return kExitConfinement;
  }
  const Status served = ServeSessionProtocol(**runtime);
  runtime->reset();
  const bool recorded = FinishAuditLog(*log, console);
  if (!served) console.Failure(program.name + " session", served.error());
  if (!served) return ExitCodeOf(served.error());
  return recorded ? kExitOk : kExitProgramFailed;
}

}  // namespace gloveport
