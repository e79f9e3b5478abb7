// Connection: one client of the session protocol: its sessions, its operations. Handle, CloseInput and
// WaitUntilIdle are called from one thread, the reader's; it blocks in none of the operations.
#ifndef GLOVEPORT_CORE_SERVE_CONNECTION_H_
#define GLOVEPORT_CORE_SERVE_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/activity.h"
#include "gloveport/core/serve/outbox.h"
#include "gloveport/core/serve/pending_approvals.h"
#include "gloveport/core/serve/pending_calls.h"
#include "gloveport/core/serve/question_desk.h"
#include "gloveport/core/serve/request.h"
#include "gloveport/core/serve/served_session.h"
#include "gloveport/core/serve/task_queue.h"

namespace gloveport {

class Connection {
 public:
  Connection(Runtime& runtime, Outbox& outbox, std::size_t max_sessions, AddTools add_tools = {},
             std::shared_ptr<QuestionDesk> questions = nullptr);
  ~Connection();  // ends every session; what still runs is answered with how it ended

  // One line of input. Every line that is not blank is answered, now or when its operation is done.
  void Handle(std::string_view line);

  // No further line comes: tool calls that wait for the client fail, and what it would approve is denied.
  void CloseInput() {
    calls_.Close();
    approvals_.Close();
    desk_->Close();
  }

  // Returns when no request is waiting or running, when the deadline has passed, or when `stop_fd` is
  // readable.
  void WaitUntilIdle(Deadline deadline, int stop_fd) const { activity_.WaitUntilNone(deadline, stop_fd); }

 private:
  struct Operation;
  static const Operation* FindOperation(std::string_view name);

  // Handlers that run on the reader's thread; each answers for itself.
  void Open(Request request);
  void Close(Request request);
  void Interrupt(Request request);
  void ToolReply(Request request);
  void Approve(Request request);
  void AnswerQuestion(Request request);
  void Branch(Request request);
  void Unsupported(Request request);
  void PostToSession(Request request, ServedSession::Handler handler);
  void PostTo(ServedSession& session, Request request, ServedSession::Handler handler);

  // Handlers for questions about code and values, which need no session.
  using Question = Result<Json> (Connection::*)(const Request&);
  void Ask(Request request, Question question);
  Result<Json> Check(const Request& request);
  Result<Json> Parse(const Request& request);
  Result<Json> Validate(const Request& request);

  Status CheckRoomFor(std::size_t count);
  std::shared_ptr<ServedSession> NewSession();
  void FailForWaiting(const Json& id, const ServedSession& session);
  std::shared_ptr<ServedSession> FindSession(
      const Request& request);  // answers with an error where there is none

  Runtime& runtime_;
  Outbox& outbox_;
  const std::size_t max_sessions_;
  const AddTools add_tools_;
  const std::shared_ptr<QuestionDesk> desk_;
  Activity activity_;
  PendingCalls calls_;
  PendingApprovals approvals_;
  std::map<std::string, std::shared_ptr<ServedSession>> sessions_;
  std::uint64_t opened_ = 0;
  TaskQueue questions_;
  TaskQueue closing_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_CONNECTION_H_
