#include "gloveport/core/host/session_process.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "gloveport/core/base/fd_io.h"
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
  if (!ready) return Fail(ErrorCode::kProtocol, "the session did not report that it is ready");
  ASSIGN_OR_RETURN(process->report_, DecodeValue(ready->report));
  return process;
}

SessionProcess::~SessionProcess() {
  if (!forked_.pidfd) return;
  Kill();
  WaitForExit();
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
      SyscallWitness(std::move(received->fds[0]), forked_.pid, parent_->options().policy.limits.threads + 1);
  work_folder_ = std::move(received->fds[1]);
  return {};
}

Result<wire::SessionMessage> SessionProcess::NextMessage(Deadline deadline) {
  while (true) {
    if (deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "the session did not answer in time");
    ASSIGN_OR_RETURN(auto frame, channel_.TryReceive());
    if (frame) return wire::DecodeSessionMessage(*frame);
    pollfd witness{witness_.fd(), POLLIN, 0};
    channel_.Wait(std::span(&witness, 1), deadline);
    if (witness.revents & POLLIN) RETURN_IF_ERROR(witness_.AnswerOne());
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

void SessionProcess::Kill() { ::syscall(__NR_pidfd_send_signal, forked_.pidfd.get(), SIGKILL, nullptr, 0); }

Result<wire::Reply> SessionProcess::Ask(const std::string& op, const Value& args, Deadline deadline) {
  const wire::Request request{++last_request_, op, EncodeValue(args)};
  RETURN_IF_ERROR(channel_.Send(wire::Encode(wire::HostMessage(request)), deadline));
  while (true) {
    ASSIGN_OR_RETURN(wire::SessionMessage message, NextMessage(deadline));
    if (auto* reply = std::get_if<wire::Reply>(&message); reply && reply->id == request.id)
      return std::move(*reply);
    // Threads of an earlier cell may still send events and displays; nothing of them counts now.
    if (!std::holds_alternative<wire::Event>(message) && !std::holds_alternative<wire::Display>(message)) {
      return Fail(ErrorCode::kProtocol, fmt::format("the session answered \"{}\" with something else", op));
    }
  }
}

int SessionProcess::WaitForExit() {
  if (exit_status_) return *exit_status_;
  (void)WaitFor(forked_.pidfd.get(), POLLIN, Deadline::Never());
  // Where the template has died its whole pid namespace was killed with it, and there is nothing left to
  // reap.
  exit_status_ = parent_->Reap(forked_.pid_inside).value_or(SIGKILL);
  return *exit_status_;
}

}  // namespace gloveport
