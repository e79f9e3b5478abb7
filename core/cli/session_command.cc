#include "gloveport/core/cli/session_command.h"

#include <utility>

#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/session_protocol.h"

namespace gloveport {

namespace {

// The tools of MCP servers exist in every session besides those that its client declares.
Status Serve(const McpFlags& flags, Runtime& runtime, Console& console) {
  ASSIGN_OR_RETURN(const auto client, OpenMcp(flags, &runtime, nullptr, console));
  SessionProtocolOptions options;
  if (client) {
    options.add_tools = [&](std::shared_ptr<const ToolRegistry> own) {
      return AddMcpTools(client, std::move(own), console);
    };
  }
  return ServeSessionProtocol(runtime, options);
}

}  // namespace

ExitCode RunSession(const Program& program, const SessionCommandOptions& options, Console& console) {
  const auto fail = [&](const Error& error) {
    return ReportFailure(program, "session", error, FailureForm::kText, console);
  };
  const auto log = OpenAuditLog(options.audit);
  if (!log) return fail(log.error()), kExitUsage;
  const auto hook = MakeHook(options.hook);
  if (!hook) return fail(hook.error()), kExitUsage;
  auto runtime = Runtime::Create({.record = *log, .hook = *hook});
  if (!runtime) return fail(runtime.error()), kExitConfinement;
  const Status served = Serve(options.mcp, **runtime, console);
  runtime->reset();
  const bool recorded = FinishAuditLog(*log, console);
  if (!served) return fail(served.error());
  return recorded ? kExitOk : kExitProgramFailed;
}

}  // namespace gloveport
