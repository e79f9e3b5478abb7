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
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/open_judge.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

// A call that was refused, or for which the process was ended.
struct WitnessedCall {
  std::string call;    // its name: "connect"
  std::string detail;  // "127.0.0.1:80": valid UTF-8; empty where the call has none or it cannot be read
  bool violation = false;
};

// A file that was to be opened, as the call named it while it was stopped: another thread may have changed
// the name between this look and the kernel's own. The kernel decided; what is expected of it was looked up
// in the session's own root.
struct WitnessedOpen {
  std::string path;  // absolute, links not followed; valid UTF-8, empty where it cannot be read
  bool write = false;
  bool create = false;
  bool expected_allowed = false;
  friend auto operator<=>(const WitnessedOpen&, const WitnessedOpen&) = default;
};

// A process that forked off a session, seen by the kernel's word alone.
struct Newborn {
  pid_t pid = 0;
  UniqueFd pidfd;
};

class SyscallWitness {
 public:
  // `judge` is there where the filter holds files being opened.
  SyscallWitness(UniqueFd listener, pid_t session, std::uint64_t max_threads,
                 std::shared_ptr<const OpenJudge> judge = nullptr)
      : listener_(std::move(listener)), max_threads_(max_threads), judge_(std::move(judge)) {
    members_.try_emplace(session);
  }

  int fd() const { return listener_.get(); }

  // Call when fd() is readable: answers one stopped call, if another thread was not quicker. Never blocks.
  // Calls that are let through: the start of a thread within the limit, a signal to the caller's own process,
  // a fork that AllowBranch awaits, the opening of a file. A call that only an attack makes ends its process.
  // kProtocol where fd() is no notification listener at all.
  Status AnswerOne();

  // What `pid` was refused, and what it opened, since it was last asked: at most 1000 of each, and an open
  // that is like another only once. Of the read-only runtime only what is expected to be refused.
  std::vector<WitnessedCall> TakeRefused(pid_t pid);
  std::vector<WitnessedOpen> TakeOpens(pid_t pid);

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

  // A process that this answers for.
  struct Member {
    std::vector<WitnessedCall> refused;
    std::set<WitnessedOpen> opens;
    std::optional<SessionView> view;  // once it is needed
  };

  // All of these with mutex_ held.
  bool IsPending() const;
  bool IsHeld(const seccomp_notif& call) const;
  pid_t ProcessOf(pid_t thread) const;
  bool Welcome(const seccomp_notif& call, pid_t process);
  int ErrorOf(const seccomp_notif& call, NotifiedCall kind, pid_t process);
  int LetBranch(const seccomp_notif& call, pid_t process);
  std::optional<WitnessedCall> Refused(const seccomp_notif& call, NotifiedCall kind, pid_t process) const;
  std::optional<WitnessedOpen> Opened(const seccomp_notif& call, NotifiedCall kind, pid_t process);
  void End(const seccomp_notif& call, pid_t process);

  std::mutex mutex_;
  UniqueFd listener_;
  std::uint64_t max_threads_ = 0;
  std::shared_ptr<const OpenJudge> judge_;
  std::map<pid_t, Member> members_;
  std::optional<BranchPermit> permit_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SYSCALL_WITNESS_H_
