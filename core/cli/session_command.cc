#include "gloveport/core/cli/session_command.h"

#include <utility>

#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/question_desk.h"
#include "gloveport/core/serve/session_protocol.h"
#include "gloveport/tools/builtin/ask_user.h"

namespace gloveport {

namespace {

using Tools = std::shared_ptr<const ToolRegistry>;

// What ask_user asks goes to the client of the session whose cell asks.
class ClientPrompt : public UserPrompt {
 public:
  explicit ClientPrompt(std::shared_ptr<QuestionDesk> desk) : desk_(std::move(desk)) {}
  void Ask(const UserQuestion& question, Answer answer) override {
    desk_->Ask({question.id, question.session, question.question, question.choices}, std::move(answer));
  }
  void Withdraw(std::uint64_t id) override { desk_->Withdraw(id); }

 private:
  const std::shared_ptr<QuestionDesk> desk_;
};

Result<Tools> Together(const Tools& first, const Tools& second) {
  auto all = std::make_shared<ToolRegistry>();
  for (const Tools& tools : {first, second}) {
    if (tools) RETURN_IF_ERROR(all->AddAll(*tools));
  }
  return Tools(std::move(all));
}

// Tools of the host exist in every session besides those that its client declares.
Status Serve(const SessionCommandOptions& flags, Runtime& runtime, const Tools& builtin,
             std::shared_ptr<QuestionDesk> questions, Console& console) {
  ASSIGN_OR_RETURN(const auto mcp, OpenMcp(flags.mcp, &runtime, nullptr, console));
  SessionProtocolOptions options;
  options.questions = std::move(questions);
  options.add_tools = [&](const Tools& own) -> Result<Tools> {
    ASSIGN_OR_RETURN(const Tools together, Together(own, builtin));
    return AddMcpTools(mcp, together, console);
  };
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
  // The terminal is the client's: whom ask_user asks is its matter.
  const auto questions = std::make_shared<QuestionDesk>();
  const auto tools =
      WithBuiltinToolsAsking(std::make_shared<ClientPrompt>(questions), nullptr, options.builtin);
  if (!tools) return fail(tools.error()), kExitUsage;
  auto runtime = Runtime::Create({.record = *log, .hook = *hook});
  if (!runtime) return fail(runtime.error()), kExitConfinement;
  const Status served = Serve(options, **runtime, *tools, questions, console);
  runtime->reset();
  const bool recorded = FinishAuditLog(*log, console);
  if (!served) return fail(served.error());
  return recorded ? kExitOk : kExitProgramFailed;
}

}  // namespace gloveport
