#include "gloveport/core/host/syscall_witness.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "gloveport/core/host/proc_stat.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

namespace {

// 0 where the host lets the call go on. That is safe here: the kernel has copied the arguments that decide,
// no memory of the session does.
int ErrorOf(const seccomp_notif& call, NotifiedCall kind, bool may_start_thread) {
  switch (kind) {
    case NotifiedCall::kThreadStart:
      return may_start_thread ? 0 : EAGAIN;
    case NotifiedCall::kSignal: {
      const auto target = static_cast<pid_t>(static_cast<std::int32_t>(call.data.args[0]));
      return target > 0 && target == ReadInnerProcessNumber(static_cast<pid_t>(call.pid)) ? 0 : EPERM;
    }
    case NotifiedCall::kRefuse:
      break;
  }
  return EPERM;
}

}  // namespace

Result<std::optional<std::string>> SyscallWitness::AnswerOne() {
  seccomp_notif call{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
    if (errno == ENOENT || errno == EINTR) return std::nullopt;  // the caller has gone
    return Fail(ErrorCode::kProtocol, "what was handed over as a notification listener is none");
  }
  const NotifiedCall kind = ClassifyNotified(call.data.nr, call.data.args[0]);
  const bool may_start_thread = kind == NotifiedCall::kThreadStart && ReadThreadCount(pid_) < max_threads_;
  const int error = ErrorOf(call, kind, may_start_thread);
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
  answer.error = -error;
  // The kernel refuses an answer to a caller that has gone meanwhile, so what was read under its number
  // holds.
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 || error == 0) return std::nullopt;
  return std::optional(kind == NotifiedCall::kThreadStart ? std::string("thread limit")
                                                          : SyscallName(call.data.nr));
}

}  // namespace gloveport
