#include "gloveport/core/host/syscall_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gloveport/core/host/proc_stat.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxRefused = 1000;  // names kept for one process until it is asked for them

}  // namespace

// Receiving blocks where nothing is pending, and another thread may have been quicker.
bool SyscallWitness::IsPending() const {
  pollfd entry{listener_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & POLLIN) != 0;
}

pid_t SyscallWitness::ProcessOf(pid_t thread) const {
  return members_.contains(thread) ? thread : ReadProcessOf(thread);
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
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
  answer.error = -error;
  // The kernel refuses an answer to a caller that has gone meanwhile, so what was read under its number
  // holds.
  const bool answered = ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0;
  if (answered && error == 0 && kind == NotifiedCall::kBranch) permit_->passed = true;
  if (answered && error != 0) NoteRefusal(call, kind, process);
  return {};
}

// A process that is not known is the one that an allowed fork has just made, or none of the host's making.
bool SyscallWitness::Welcome(const seccomp_notif& call, pid_t process) {
  if (!permit_ || !permit_->passed || permit_->born || process <= 0) return false;
  UniqueFd pidfd(static_cast<int>(::syscall(__NR_pidfd_open, process, 0)));
  // The caller is still stopped in this very call, so the number means it and the descriptor holds it.
  if (!pidfd || ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) != 0) return false;
  permit_->newborn = Newborn{process, std::move(pidfd)};
  permit_->born = true;
  members_.insert(process);
  return true;
}

// 0 where the host lets the call go on. That is safe here: the kernel has copied the arguments that decide,
// no memory of the session does.
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

void SyscallWitness::NoteRefusal(const seccomp_notif& call, NotifiedCall kind, pid_t process) {
  std::vector<std::string>& names = refused_[process];
  if (names.size() >= kMaxRefused) return;
  names.push_back(kind == NotifiedCall::kThreadStart ? "thread limit" : SyscallName(call.data.nr));
}

std::vector<std::string> SyscallWitness::TakeRefused(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const auto found = refused_.find(pid);
  if (found == refused_.end()) return {};
  return std::exchange(found->second, {});
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
  refused_.erase(member);
}

}  // namespace gloveport
