// SessionProcess: one confined process: its channel, output pipes, pidfd, notification listener and work
// folder. It is driven by one thread at a time; Kill may come from any thread.
#ifndef GLOVEPORT_CORE_HOST_SESSION_PROCESS_H_
#define GLOVEPORT_CORE_HOST_SESSION_PROCESS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/session_ends.h"
#include "gloveport/core/host/syscall_witness.h"
#include "gloveport/core/host/template_process.h"
#include "gloveport/core/wire/channel.h"
#include "gloveport/core/wire/messages.h"

namespace gloveport {

class SessionProcess {
 public:
  // Forks from the template and waits until the session has confined and checked itself. An error leaves no
  // process.
  static Result<std::unique_ptr<SessionProcess>> Start(std::shared_ptr<TemplateProcess> parent,
                                                       std::optional<std::uint64_t> seed, Deadline deadline);
  ~SessionProcess();  // kills and reaps
  SessionProcess(const SessionProcess&) = delete;
  SessionProcess& operator=(const SessionProcess&) = delete;

  Channel& channel() { return channel_; }
  SyscallWitness& witness() { return *witness_; }
  int out() const { return forked_.out.get(); }
  int err() const { return forked_.err.get(); }
  int pidfd() const { return forked_.pidfd.get(); }
  int work_folder() const { return work_folder_.get(); }
  pid_t pid() const { return forked_.pid; }
  const Value& report() const { return report_; }  // what the session said of its layers
  TemplateProcess& parent() { return *parent_; }

  // Queues a signal that carries the number of a cell.
  void Signal(int signal, std::uint32_t cell);
  bool HasEnded() const;
  void Kill();

  // One question and its answer, outside cells; answers notifications meanwhile. kProtocol or kClosed mean
  // that the process is of no more use, and so does kDeadlineExceeded.
  Result<wire::Reply> Ask(const std::string& op, const Value& args, Deadline deadline);
  // The same for a question that may run code of cells: at the deadline the session is told to stop it, and
  // then answers, within `grace`, with an error of the type TimeoutError.
  Result<wire::Reply> AskStoppable(const std::string& op, const Value& args, Deadline deadline,
                                   std::chrono::milliseconds grace);

  // A copy of this process as it is now, between cells: a child of the template like this one, which outlives
  // it. kDenied, with the reason, where it cannot be copied; nothing has changed then. Any other error means
  // that this process is of no more use either.
  Result<std::unique_ptr<SessionProcess>> Branch(Deadline deadline);

  // Runs a throw-away cell, so that the pages that a first cell writes to have been copied before it comes.
  // Before any cell; it takes the number of the first, which takes its place.
  Status WarmUp(Deadline deadline);

  // Waits for the end (kill first, or it may take long) and returns the wait status.
  int WaitForExit();

 private:
  SessionProcess() = default;
  Status AwaitHandOver(Deadline deadline);
  Result<wire::SessionMessage> NextMessage(Deadline deadline);
  Result<wire::Request> SendRequest(const std::string& op, const Value& args, Deadline deadline);
  Result<wire::Reply> AwaitReply(const wire::Request& request, Deadline deadline);
  Result<std::unique_ptr<SessionProcess>> ForkOnce(SessionEnds ends, Deadline deadline);
  Result<Newborn> AwaitNewborn(Deadline deadline);

  std::shared_ptr<TemplateProcess> parent_;
  ForkedSession forked_;
  Channel channel_;
  std::shared_ptr<SyscallWitness> witness_;  // a session's and its branches'
  UniqueFd work_folder_;
  Value report_;
  std::optional<int> exit_status_;
  std::uint64_t last_request_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_PROCESS_H_
