// SyscallWitness: the host's end of a session's seccomp notification. The kernel stops each call of interest
// until the host answers; a cell cannot hide that it tried.
#ifndef GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_
#define GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class SyscallWitness {
 public:
  SyscallWitness() = default;
  SyscallWitness(UniqueFd listener, pid_t pid, std::uint64_t max_threads)
      : listener_(std::move(listener)), pid_(pid), max_threads_(max_threads) {}

  int fd() const { return listener_.get(); }

  // Call when fd() is readable: answers one stopped call. Returns the name of a call that was refused;
  // nothing for one that was let through (the start of a thread within the limit, a signal to the caller's
  // own process) or whose caller has gone. kProtocol where fd() is no notification listener at all.
  Result<std::optional<std::string>> AnswerOne();

 private:
  UniqueFd listener_;
  pid_t pid_ = -1;
  std::uint64_t max_threads_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_
