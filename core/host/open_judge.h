// OpenJudge: whether a file that a session is about to open is one that it may have. The kernel decides, and
// the host never says yes or no in its place: this only tells a record what to expect, from a look at the
// same path in the session's own root. Another thread of the session may change a path after the look.
//
// Immutable, so thread-safe; made once per template.
#ifndef GLOVEPORT_CORE_HOST_OPEN_JUDGE_H_
#define GLOVEPORT_CORE_HOST_OPEN_JUDGE_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/policy/landlock.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// The session's root, and as whom the kernel knows it.
struct SessionView {
  UniqueFd root;
  uid_t uid = 0;
  gid_t gid = 0;

  // Without a root where the kernel does not let the host look.
  static SessionView Of(pid_t process);
};

enum class OpenExpectation { kAllowed, kAbsent, kRefused };

class OpenJudge {
 public:
  // `work_folder` as the session sees it.
  OpenJudge(const Policy& policy, std::string_view work_folder, bool own_root, bool landlock);

  // Files of the read-only runtime: the interpreter's, its packages' and the system libraries'. `path` is
  // absolute.
  bool IsRuntime(std::string_view path) const;

  // `flags` as of open(2).
  OpenExpectation Expect(const SessionView& view, const std::string& path, int flags) const;

 private:
  bool RulesAllow(const std::string& path, bool write) const;
  OpenExpectation ExpectOfNew(const SessionView& view, const std::string& path) const;

  LandlockRules rules_;
  bool landlock_;
  std::vector<std::string> runtime_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_OPEN_JUDGE_H_
