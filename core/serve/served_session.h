// ServedSession: one session of the protocol. Its requests run in order on a thread of its own; Interrupt and
// End may come at any time from any other. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_SERVED_SESSION_H_
#define GLOVEPORT_CORE_SERVE_SERVED_SESSION_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/outbox.h"
#include "gloveport/core/serve/output_budget.h"
#include "gloveport/core/serve/pending_approvals.h"
#include "gloveport/core/serve/pending_calls.h"
#include "gloveport/core/serve/question_desk.h"
#include "gloveport/core/serve/request.h"
#include "gloveport/core/serve/task_queue.h"
#include "gloveport/core/serve/utf8_joiner.h"

namespace gloveport {

// `own`, whose tools are a client's, and after them tools of the host.
using AddTools =
    std::function<Result<std::shared_ptr<const ToolRegistry>>(std::shared_ptr<const ToolRegistry> own)>;

class ServedSession {
 public:
  // All of them must outlive the session. `add_tools` may be empty.
  ServedSession(std::string name, Runtime& runtime, Outbox& outbox, PendingCalls& calls,
                PendingApprovals& approvals, QuestionDesk& desk, Activity& activity, AddTools add_tools = {});
  ~ServedSession();  // ends it, answers what still waits with errors

  const std::string& name() const { return name_; }

  using Handler = Result<Json> (ServedSession::*)(const Request&);
  // Handles the request on the session's thread and answers it. False where too many are waiting.
  [[nodiscard]] bool Post(Request request, Handler handler);

  bool failed() const;  // it could not be opened

  // Each returns the members of the reply. Open must be the first.
  Result<Json> Open(const Request& request);
  Result<Json> Run(const Request& request);
  Result<Json> PutFile(const Request& request);
  Result<Json> GetFile(const Request& request);
  Result<Json> ListFiles(const Request& request);
  Result<Json> RemoveFile(const Request& request);
  Result<Json> SetVariable(const Request& request);
  Result<Json> GetVariable(const Request& request);
  Result<Json> Complete(const Request& request);
  Result<Json> Inspect(const Request& request);
  Result<Json> IsComplete(const Request& request);
  Result<Json> Checkpoint(const Request& request);
  Result<Json> Rollback(const Request& request);
  Result<Json> Forget(const Request& request);
  Result<Json> RevokeGrant(const Request& request);
  Result<Json> Grants(const Request& request);

  // Copies this session into `branches`, which are new and empty, on this session's thread, and answers. What
  // is posted to them meanwhile waits.
  [[nodiscard]] bool PostBranch(const Request& request, std::vector<std::shared_ptr<ServedSession>> branches);

  Status Interrupt();
  void End();  // at once: a running cell is ended, what waits gets errors

 private:
  class Sink;
  class Asker;

  Result<std::shared_ptr<Session>> Use() const;
  Result<std::unique_ptr<Session>> Start(const Request& request);
  Result<Value> ForwardCall(const ToolSpec& tool, const Arguments& arguments, CallContext& context);
  Result<std::shared_ptr<const ToolRegistry>> DeclareTools(const Request& request);
  void ForwardOutput(Stream stream, std::string_view text);
  void FlushOutput();
  Json running() const;
  Result<Json> BranchInto(const std::vector<std::shared_ptr<ServedSession>>& branches);
  BranchOptions OptionsAsBranchOf(const ServedSession& original);
  Result<std::shared_ptr<ToolRegistry>> MakeTools(const std::vector<ToolSpec>& specs);
  void BecomeBranch(Result<std::unique_ptr<Session>> session);
  void AwaitBirth();
  void TakeQuestions();  // of the session that has just begun

  const std::string name_;
  Runtime& runtime_;
  Outbox& outbox_;
  PendingCalls& calls_;
  PendingApprovals& approvals_;
  QuestionDesk& desk_;
  const AddTools add_tools_;

  mutable std::mutex mutex_;
  std::condition_variable born_;
  bool awaits_birth_ = false;                      // a branch whose copy is still being made
  std::vector<ToolSpec> tools_;                    // the client's
  std::vector<std::shared_ptr<Tool>> host_tools_;  // that add_tools_ gave besides
  std::shared_ptr<Session> session_;
  bool ended_ = false;
  bool failed_ = false;
  Json running_;  // id of the run that is going on; null between runs
  Utf8Joiner output_[2];
  OutputBudget budget_;

  std::shared_ptr<void> attached_;  // to the desk, as long as this lives

  TaskQueue queue_;  // last: its thread uses all of the above
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_SERVED_SESSION_H_
