// Landlock: the file rules that hold even where a path is visible. Called in the session, after its mounts
// stand.
#ifndef GLOVEPORT_POLICY_LANDLOCK_H_
#define GLOVEPORT_POLICY_LANDLOCK_H_

#include <string>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

// The ABI version of the running kernel; 0 where there is no Landlock.
int LandlockAbi();

struct LandlockRules {
  std::vector<std::string> read_only;  // folders or files; links and those that do not exist are passed over
  std::vector<std::string> read_write;
};

// Denies every right that the running ABI knows, files, network, device ioctl and scopes, but for `rules`.
// No file can be executed. Needs no_new_privs. Irreversible. `newest_abi` limits what is used to what an
// older kernel has: for tests.
inline constexpr int kEveryLandlockAbi = 1 << 20;
[[nodiscard]] Status ApplyLandlock(const LandlockRules& rules, int newest_abi = kEveryLandlockAbi);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_LANDLOCK_H_
