#include "gloveport/core/cli/session_command.h"

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/session_protocol.h"

namespace gloveport {

ExitCode RunSession(const Program& program, Console& console) {
  const auto runtime = Runtime::Create();
  if (!runtime) {
    console.Failure(program.name + " session", runtime.error());
    return kExitConfinement;
  }
  const Status served = ServeSessionProtocol(**runtime);
  if (served) return kExitOk;
  console.Failure(program.name + " session", served.error());
  return ExitCodeOf(served.error());
}

}  // namespace gloveport
