#include "gloveport/core/host/syscall_witness.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "gloveport/core/host/proc_stat.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

std::optional<std::string> SyscallWitness::AnswerOne() {
  seccomp_notif call{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return std::nullopt;
  const bool thread = ClassifyNotified(call.data.nr, call.data.args[0]) == NotifiedCall::kThreadStart;
  // Letting a call go on is safe here: the kernel has copied clone's flags, no memory of the session decides.
  const bool let_through = thread && ReadThreadCount(pid_) < max_threads_;
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.flags = let_through ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
  answer.error = let_through ? 0 : thread ? -EAGAIN : -EPERM;
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 || let_through) return std::nullopt;
  return thread ? std::string("thread limit") : SyscallName(call.data.nr);
}

}  // namespace gloveport
