// SyscallWitness: the host's end of seccomp notification. The kernel stops each call of interest until the
// host answers; a cell cannot hide that it tried. A session and its branches share one, for a fork inherits
// the filter: whoever waits for one of them answers for all.
//
// Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_
#define GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

// A process that forked off a session, seen by the kernel's word alone.
struct Newborn {
  pid_t pid = 0;
  UniqueFd pidfd;
};

class SyscallWitness {
 public:
  SyscallWitness(UniqueFd listener, pid_t session, std::uint64_t max_threads)
      : listener_(std::move(listener)), max_threads_(max_threads), members_{session} {}

  int fd() const { return listener_.get(); }

  // Call when fd() is readable: answers one stopped call, if another thread was not quicker. Never blocks.
  // Calls that are let through: the start of a thread within the limit, a signal to the caller's own process,
  // a fork that AllowBranch awaits. kProtocol where fd() is no notification listener at all.
  Status AnswerOne();

  // What `pid` was refused since it was last asked: names of calls.
  std::vector<std::string> TakeRefused(pid_t pid);

  // From now on one fork of `parent` passes; `fds` are put under the numbers from `first` on before it does.
  // They are borrowed until EndBranch.
  void AllowBranch(pid_t parent, std::vector<int> fds, int first);
  // The process that came of it, once it has made its first call: a member from then on.
  std::optional<Newborn> TakeNewborn();
  void EndBranch();

  void Remove(pid_t member);

 private:
  struct BranchPermit {
    pid_t parent = 0;
    std::vector<int> fds;
    int first = 0;
    bool passed = false;
    bool born = false;
    std::optional<Newborn> newborn;
  };

  // All of these with mutex_ held.
  bool IsPending() const;
  pid_t ProcessOf(pid_t thread) const;
  bool Welcome(const seccomp_notif& call, pid_t process);
  int ErrorOf(const seccomp_notif& call, NotifiedCall kind, pid_t process);
  int LetBranch(const seccomp_notif& call, pid_t process);
  void NoteRefusal(const seccomp_notif& call, NotifiedCall kind, pid_t process);

  std::mutex mutex_;
  UniqueFd listener_;
  std::uint64_t max_threads_ = 0;
  std::set<pid_t> members_;
  std::map<pid_t, std::vector<std::string>> refused_;
  std::optional<BranchPermit> permit_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_
