#include "gloveport/core/host/session_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/host/proc_stat.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

constexpr std::size_t kHandOverDescriptors = 2;  // notification listener, work folder

}  // namespace

Result<std::unique_ptr<SessionProcess>> SessionProcess::Start(std::shared_ptr<TemplateProcess> parent,
                                                              std::optional<std::uint64_t> seed,
                                                              Deadline deadline) {
  std::unique_ptr<SessionProcess> process(new SessionProcess);
  process->parent_ = std::move(parent);
  ASSIGN_OR_RETURN(process->forked_, process->parent_->Fork(seed));
  process->channel_ = std::move(process->forked_.channel);
  RETURN_IF_ERROR(process->AwaitHandOver(deadline));
  ASSIGN_OR_RETURN(const wire::SessionMessage first, process->NextMessage(deadline));
  if (const auto* failed = std::get_if<wire::SetupFailed>(&first)) {
    return Fail(ErrorCode::kConfinementUnavailable,
                fmt::format("the session could not be confined: {}", failed->message),
                "run `gloveport doctor` to see which layers hold on this machine");
  }
  const auto* ready = std::get_if<wire::Ready>(&first);
  if (!ready || !process->witness_)
    return Fail(ErrorCode::kProtocol, "the session did not report that it is ready");
  ASSIGN_OR_RETURN(process->report_, DecodeValue(ready->report));
  // What the self-check tried is no evidence of what a cell does.
  process->witness_->TakeRefused(process->pid());
  process->witness_->TakeOpens(process->pid());
  return process;
}

SessionProcess::~SessionProcess() {
  if (!forked_.pidfd) return;
  Kill();
  WaitForExit();
  if (witness_) witness_->Remove(forked_.pid);
}

Status SessionProcess::AwaitHandOver(Deadline deadline) {
  auto received = ReceiveWithFds(channel_.fd(), 1, kHandOverDescriptors, deadline);
  if (!received) {
    return Fail(received.error().code,
                fmt::format("the session did not confine itself: {}", received.error().message));
  }
  if (received->bytes[0] == wire::kNoHandOver && received->fds.empty()) return {};  // SetupFailed follows
  if (received->bytes[0] != wire::kHandOver || received->fds.size() != kHandOverDescriptors) {
    return Fail(ErrorCode::kProtocol, "the session handed over something else than was agreed");
  }
  witness_ =
      std::make_shared<SyscallWitness>(std::move(received->fds[0]), forked_.pid,
                                       parent_->options().policy.limits.threads + 1, parent_->open_judge());
  work_folder_ = std::move(received->fds[1]);
  return {};
}

Result<wire::SessionMessage> SessionProcess::NextMessage(Deadline deadline) {
  while (true) {
    if (deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "the session did not answer in time");
    ASSIGN_OR_RETURN(auto frame, channel_.TryReceive());
    if (frame) return wire::DecodeSessionMessage(*frame);
    pollfd witness{witness_ ? witness_->fd() : -1, POLLIN, 0};
    channel_.Wait(std::span(&witness, 1), deadline);
    if (witness.revents & POLLIN) RETURN_IF_ERROR(witness_->AnswerOne());
  }
}

void SessionProcess::Signal(int signal, std::uint32_t cell) {
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = static_cast<int>(cell);
  ::syscall(__NR_pidfd_send_signal, forked_.pidfd.get(), signal, &info, 0);
}

bool SessionProcess::HasEnded() const {
  pollfd entry{forked_.pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

void SessionProcess::Kill() { ::syscall(__NR_pidfd_send_signal, forked_.pidfd.get(), SIGKILL, nullptr, 0); }

Result<wire::Request> SessionProcess::SendRequest(const std::string& op, const Value& args,
                                                  Deadline deadline) {
  wire::Request request{++last_request_, op, EncodeValue(args)};
  RETURN_IF_ERROR(channel_.Send(wire::Encode(wire::HostMessage(request)), deadline));
  return request;
}

Result<wire::Reply> SessionProcess::AwaitReply(const wire::Request& request, Deadline deadline) {
  while (true) {
    ASSIGN_OR_RETURN(wire::SessionMessage message, NextMessage(deadline));
    if (auto* reply = std::get_if<wire::Reply>(&message); reply && reply->id == request.id)
      return std::move(*reply);
    // Threads of an earlier cell may still send events and displays; nothing of them counts now.
    if (!std::holds_alternative<wire::Event>(message) && !std::holds_alternative<wire::Display>(message)) {
      return Fail(ErrorCode::kProtocol,
                  fmt::format("the session answered \"{}\" with something else", request.op));
    }
  }
}

Result<wire::Reply> SessionProcess::Ask(const std::string& op, const Value& args, Deadline deadline) {
  ASSIGN_OR_RETURN(const wire::Request request, SendRequest(op, args, deadline));
  return AwaitReply(request, deadline);
}

Result<wire::Reply> SessionProcess::AskStoppable(const std::string& op, const Value& args, Deadline deadline,
                                                 std::chrono::milliseconds grace) {
  ASSIGN_OR_RETURN(const wire::Request request, SendRequest(op, args, deadline));
  auto reply = AwaitReply(request, deadline);
  if (reply || reply.error().code != ErrorCode::kDeadlineExceeded) return reply;
  Signal(SIGUSR1, wire::StopNumber(request));
  return AwaitReply(request, Deadline::After(grace));
}

Result<std::unique_ptr<SessionProcess>> SessionProcess::Branch(Deadline deadline) {
  const std::uint64_t threads = ReadThreadCount(forked_.pid);
  if (threads != 1) {
    return Fail(
        ErrorCode::kDenied,
        fmt::format("the session cannot be copied: {} threads are alive, and a copy has only one", threads),
        "end or join the threads that cells have started");
  }
  ASSIGN_OR_RETURN(SessionEnds ends, SessionEnds::Make());
  const auto held = parent_->HoldBranching();
  const auto first = static_cast<int>(parent_->options().policy.limits.open_files) + wire::kOwnDescriptors;
  witness_->AllowBranch(forked_.pid, ends.ForSession(), first);
  auto branch = ForkOnce(std::move(ends), deadline);
  witness_->EndBranch();
  if (!branch) parent_->KillStrays();
  return branch;
}

Result<std::unique_ptr<SessionProcess>> SessionProcess::ForkOnce(SessionEnds ends, Deadline deadline) {
  ASSIGN_OR_RETURN(const wire::Reply reply, Ask("branch", Value::Object({}), deadline));
  if (!reply.ok)
    return Fail(ErrorCode::kDenied, fmt::format("the session cannot be copied: {}", reply.error_message));
  ASSIGN_OR_RETURN(Newborn newborn, AwaitNewborn(deadline));
  if (!parent_->IsChild(newborn.pid))
    return Fail(ErrorCode::kProtocol, "what forked off the session is no child of its template");
  std::unique_ptr<SessionProcess> branch(new SessionProcess);
  branch->parent_ = parent_;
  branch->witness_ = witness_;
  branch->report_ = report_;
  branch->forked_.pid = newborn.pid;
  branch->forked_.pid_inside = ReadInnerProcessNumber(newborn.pid);
  branch->forked_.pidfd = std::move(newborn.pidfd);
  branch->forked_.out = std::move(ends.out);
  branch->forked_.err = std::move(ends.err);
  branch->channel_ = std::move(ends.channel);
  branch->work_folder_.reset(::fcntl(work_folder_.get(), F_DUPFD_CLOEXEC, 0));
  branch->last_request_ = last_request_;
  parent_->Adopt(newborn.pid);
  if (!branch->work_folder_) return FailErrno("fcntl(F_DUPFD_CLOEXEC)", errno);
  ASSIGN_OR_RETURN(const wire::SessionMessage first, branch->NextMessage(deadline));
  const auto* ready = std::get_if<wire::Reply>(&first);
  if (!ready || !ready->ok || ready->id != reply.id)
    return Fail(ErrorCode::kProtocol, "the branch did not report that it is ready");
  return branch;
}

Result<Newborn> SessionProcess::AwaitNewborn(Deadline deadline) {
  while (true) {
    if (auto newborn = witness_->TakeNewborn()) return std::move(*newborn);
    pollfd entry{witness_->fd(), POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.poll_timeout_ms());
    if (ready == 0 || deadline.passed())
      return Fail(ErrorCode::kDeadlineExceeded, "no copy of the session came to be in time");
    if (ready > 0 && !(entry.revents & POLLIN))  // nobody is left who could make a call
      return Fail(ErrorCode::kClosed, "the session ended while it was copied");
    RETURN_IF_ERROR(witness_->AnswerOne());
  }
}

Status SessionProcess::WarmUp(Deadline deadline) {
  const wire::RunCell cell{0, "x = (1, 'x')\ndel x\n0.5"};
  RETURN_IF_ERROR(channel_.Send(wire::Encode(wire::HostMessage(cell)), deadline));
  while (true) {
    ASSIGN_OR_RETURN(const wire::SessionMessage message, NextMessage(deadline));
    const auto* done = std::get_if<wire::CellDone>(&message);
    if (done && done->status != "ok") return Fail(ErrorCode::kInternal, "a first cell does not run");
    if (done) return {};
  }
}

int SessionProcess::WaitForExit() {
  if (exit_status_) return *exit_status_;
  (void)WaitFor(forked_.pidfd.get(), POLLIN, Deadline::Never());
  // Where the template has died its whole pid namespace was killed with it, and there is nothing left to
  // reap.
  exit_status_ = parent_->Reap(forked_).value_or(SIGKILL);
  return *exit_status_;
}

}  // namespace gloveport
