// Confine: the ordered, irreversible steps by which a session gives up what it must not have. Runs in the
// session, single-threaded, before any model code. Each step fails closed: an error means that the process
// must end.
#ifndef GLOVEPORT_POLICY_CONFINE_H_
#define GLOVEPORT_POLICY_CONFINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/policy/landlock.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

struct ResourceLimits {
  std::uint64_t data_bytes = 0;           // RLIMIT_DATA: private writable memory, the limit on memory
  std::uint64_t address_space_bytes = 0;  // RLIMIT_AS: a backstop that leaves room for thread arenas
  std::uint64_t cpu_seconds = 0;          // RLIMIT_CPU: a backstop behind the host's own watch
  std::uint64_t file_bytes = 0;
  std::uint64_t open_files = 0;
};

struct ConfinePlan {
  ResourceLimits limits;
  bool landlock = true;  // false only where the kernel has none and an own root stands
  LandlockRules landlock_rules;
  std::vector<int> keep_fds;  // everything else is closed
  // Lets the host, where it is an ordinary user, read the memory and the paths of this process; its equals
  // are kept from that by the filter.
  bool dumpable = false;
  SyscallFilter filter;
};

// rlimits → capabilities → dumpable or not → no_new_privs → Landlock → MDWE → descriptors → notify filter →
// `send_listener` (the last moment at which a descriptor can be sent) → main filter. An error names its step.
[[nodiscard]] Status Confine(const ConfinePlan& plan,
                             const std::function<Status(UniqueFd listener)>& send_listener);

// In the confined process: tries forbidden acts of each layer and allowed twins; any surprise is an error.
// The host must be answering the listener.
struct SelfCheckPlan {
  bool own_root = true;
  bool landlock = true;
  std::string work_folder;
  std::string runtime_folder;  // readable, not writable
};
[[nodiscard]] Status SelfCheck(const SelfCheckPlan& plan);

// The acts that the kernel answers by ending the process, each tried in a throw-away fork of the caller,
// which must be single-threaded, under `plan`; and that calls which the host would have to answer come to
// nothing where no host listens. Once per template is enough: its sessions have the same filter.
[[nodiscard]] Status CheckEndings(const ConfinePlan& plan);

// Whether the kernel took PR_SET_MDWE (6.3 and later).
bool HasMemoryDenyWriteExecute();

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_CONFINE_H_
