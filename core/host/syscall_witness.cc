#include "gloveport/core/host/syscall_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/call_detail.h"
#include "gloveport/core/host/open_attempt.h"
#include "gloveport/core/host/proc_stat.h"
#include "gloveport/core/host/session_memory.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxKept = 1000;  // of each kind, for one process, until it is asked for them

}  // namespace

// Receiving blocks where nothing is pending, and another thread may have been quicker.
bool SyscallWitness::IsPending() const {
  pollfd entry{listener_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & POLLIN) != 0;
}

pid_t SyscallWitness::ProcessOf(pid_t thread) const {
  return members_.contains(thread) ? thread : ReadProcessOf(thread);
}

// Whether the caller is still stopped in this very call: then its number means it, and nobody else.
bool SyscallWitness::IsHeld(const seccomp_notif& call) const {
  return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

Status SyscallWitness::AnswerOne() {
  const std::lock_guard lock(mutex_);
  if (!IsPending()) return {};
  seccomp_notif call{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
    if (errno == ENOENT || errno == EINTR) return {};  // the caller has gone
    return Fail(ErrorCode::kProtocol, "what was handed over as a notification listener is none");
  }
  const NotifiedCall kind = ClassifyNotified(call.data.nr, call.data.args[0]);
  const pid_t process = ProcessOf(static_cast<pid_t>(call.pid));
  const bool known = members_.contains(process) || Welcome(call, process);
  const int error = known ? ErrorOf(call, kind, process) : EPERM;
  std::optional<WitnessedCall> refused;
  std::optional<WitnessedOpen> opened;
  if (known) {
    opened = Opened(call, kind, process);
    if (error != 0) refused = Refused(call, kind, process);
    // What was read under the caller's number counts only if it was the caller's.
    if ((opened || refused) && !IsHeld(call)) return {};
  }
  if (known && kind == NotifiedCall::kViolation) {
    End(call, process);
  } else {
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    answer.error = -error;
    const bool answered = ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0;
    if (answered && error == 0 && kind == NotifiedCall::kBranch) permit_->passed = true;
    if (!answered) return {};  // it has gone meanwhile
  }
  if (!known) return {};
  Member& member = members_[process];
  if (refused && member.refused.size() < kMaxKept) member.refused.push_back(std::move(*refused));
  if (opened && member.opens.size() < kMaxKept) member.opens.insert(std::move(*opened));
  return {};
}

// The call is never answered: no instruction of the process runs after it.
void SyscallWitness::End(const seccomp_notif& call, pid_t process) {
  const UniqueFd pidfd(static_cast<int>(::syscall(__NR_pidfd_open, process, 0)));
  if (pidfd && IsHeld(call) && ::syscall(__NR_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) == 0)
    return;
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.error = -EPERM;
  ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

// A process that is not known is the one that an allowed fork has just made, or none of the host's making.
bool SyscallWitness::Welcome(const seccomp_notif& call, pid_t process) {
  if (!permit_ || !permit_->passed || permit_->born || process <= 0) return false;
  UniqueFd pidfd(static_cast<int>(::syscall(__NR_pidfd_open, process, 0)));
  if (!pidfd || !IsHeld(call)) return false;
  permit_->newborn = Newborn{process, std::move(pidfd)};
  permit_->born = true;
  members_.try_emplace(process);
  return true;
}

// 0 where the host lets the call go on. That is safe here: the kernel has copied the arguments that decide,
// or, for a file, decides by itself; nothing that the host read in the session's memory does.
int SyscallWitness::ErrorOf(const seccomp_notif& call, NotifiedCall kind, pid_t process) {
  switch (kind) {
    case NotifiedCall::kThreadStart:
      return ReadThreadCount(process) < max_threads_ ? 0 : EAGAIN;
    case NotifiedCall::kSignal: {
      const auto target = static_cast<pid_t>(static_cast<std::int32_t>(call.data.args[0]));
      return target > 0 && target == ReadInnerProcessNumber(static_cast<pid_t>(call.pid)) ? 0 : EPERM;
    }
    case NotifiedCall::kBranch:
      return LetBranch(call, process);
    case NotifiedCall::kOpen:
      return 0;
    case NotifiedCall::kOpenat2:
    case NotifiedCall::kClone3:
      return ENOSYS;
    case NotifiedCall::kViolation:
    case NotifiedCall::kRefuse:
      break;
  }
  return EPERM;
}

int SyscallWitness::LetBranch(const seccomp_notif& call, pid_t process) {
  if (!permit_ || permit_->passed || permit_->parent != process) return EPERM;
  for (std::size_t i = 0; i < permit_->fds.size(); ++i) {
    seccomp_notif_addfd add{};
    add.id = call.id;
    add.flags = SECCOMP_ADDFD_FLAG_SETFD;
    add.srcfd = static_cast<std::uint32_t>(permit_->fds[i]);
    add.newfd = static_cast<std::uint32_t>(permit_->first) + static_cast<std::uint32_t>(i);
    add.newfd_flags = O_CLOEXEC;
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0) return EPERM;
  }
  return 0;
}

std::optional<WitnessedCall> SyscallWitness::Refused(const seccomp_notif& call, NotifiedCall kind,
                                                     pid_t process) const {
  if (kind == NotifiedCall::kOpenat2) return std::nullopt;  // it is among the opens
  if (kind == NotifiedCall::kThreadStart) return WitnessedCall{"thread limit", "", false};
  const SessionMemory memory(process);
  if (kind == NotifiedCall::kClone3) {
    // glibc tries it for each thread. Where its memory cannot be read, a process cannot be told from that.
    const auto flags = Clone3Flags(call.data, memory);
    if (!flags || (*flags & CLONE_THREAD) != 0) return std::nullopt;
  }
  return WitnessedCall{SyscallName(call.data.nr), DescribeArguments(call.data, memory),
                       kind == NotifiedCall::kViolation};
}

std::optional<WitnessedOpen> SyscallWitness::Opened(const seccomp_notif& call, NotifiedCall kind,
                                                    pid_t process) {
  if (!judge_ || (kind != NotifiedCall::kOpen && kind != NotifiedCall::kOpenat2)) return std::nullopt;
  const auto attempt = ReadOpen(call, SessionMemory(process));
  WitnessedOpen open;
  open.write = (attempt.flags & O_ACCMODE) != O_RDONLY || (attempt.flags & O_TRUNC) != 0;
  open.create = (attempt.flags & O_CREAT) != 0 || (attempt.flags & O_TMPFILE) == O_TMPFILE;
  open.path = ToValidUtf8(attempt.path);
  if (attempt.path.empty()) return open;
  Member& member = members_[process];
  if (!member.view) member.view = SessionView::Of(process);
  const OpenExpectation expected = judge_->Expect(*member.view, attempt.path, attempt.flags);
  if (expected != OpenExpectation::kRefused && judge_->IsRuntime(attempt.path)) return std::nullopt;
  open.expected_allowed = expected == OpenExpectation::kAllowed && kind == NotifiedCall::kOpen;
  return open;
}

std::vector<WitnessedCall> SyscallWitness::TakeRefused(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(pid);
  if (found == members_.end()) return {};
  return std::exchange(found->second.refused, {});
}

std::vector<WitnessedOpen> SyscallWitness::TakeOpens(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(pid);
  if (found == members_.end()) return {};
  const std::set<WitnessedOpen> opens = std::exchange(found->second.opens, {});
  return {opens.begin(), opens.end()};
}

void SyscallWitness::AllowBranch(pid_t parent, std::vector<int> fds, int first) {
  const std::lock_guard lock(mutex_);
  permit_ = BranchPermit{parent, std::move(fds), first, false, false, std::nullopt};
}

std::optional<Newborn> SyscallWitness::TakeNewborn() {
  const std::lock_guard lock(mutex_);
  if (!permit_ || !permit_->newborn) return std::nullopt;
  return std::exchange(permit_->newborn, std::nullopt);
}

void SyscallWitness::EndBranch() {
  const std::lock_guard lock(mutex_);
  permit_.reset();
}

void SyscallWitness::Remove(pid_t member) {
  const std::lock_guard lock(mutex_);
  members_.erase(member);
}

}  // namespace gloveport
