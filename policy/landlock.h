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
  std::vector<std::string> read_only;  // folders or files; those that do not exist are passed over
  std::vector<std::string> read_write;
};

// Denies every right that the running ABI knows, files, network, device ioctl and scopes, but for `rules`.
// Needs no_new_privs. Irreversible.
[[nodiscard]] Status ApplyLandlock(const LandlockRules& rules);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_LANDLOCK_H_
