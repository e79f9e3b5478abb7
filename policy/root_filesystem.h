// The root that a template and its sessions see: a small tmpfs with read-only binds of the Python runtime,
// and nothing else of the host. Every function acts on the calling process's mount namespace.
#ifndef GLOVEPORT_POLICY_ROOT_FILESYSTEM_H_
#define GLOVEPORT_POLICY_ROOT_FILESYSTEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

struct FilesystemRules {
  std::vector<std::string>
      read_only;  // host folders and files, bound under the same path where they exist; a
                  // symbolic link is made anew, and what it names needs an entry of its own
  std::optional<std::string> workdir;  // host folder bound at /workdir; otherwise each session gets a tmpfs
};

// The runtime's own folders: interpreter, libraries, and the data that libraries read (fonts, time zones
// ...).
std::vector<std::string> RuntimePaths();

// `paths`, and behind them what those that are symbolic links name.
std::vector<std::string> WithLinkTargets(const std::vector<std::string>& paths);

// Whether a policy may show these host paths to a session: kInvalidArgument for the root and the kernel's own
// file systems.
Status CheckReadablePaths(const std::vector<std::string>& paths);

// The embedded Python's standard library: always there, never writable.
std::string StandardLibraryPath();

// A bind of `folder` on which files of its owner appear as files of `uid`, detached. Needs root.
Result<UniqueFd> MakeIdMappedBind(const std::string& folder, uid_t uid, gid_t gid);

// Builds the root and pivots into it; afterwards the host's paths do not exist. `workdir_mount` is what
// MakeIdMappedBind gave, or empty: then the folder is bound as it is. kNotFound for a workdir that is not
// there.
[[nodiscard]] Status EnterOwnRoot(const FilesystemRules& rules, const UniqueFd& workdir_mount);

// Per session, in a mount namespace of its own: a tmpfs of `disk_bytes` for the work folder (unless a host
// folder is bound there) and the folder for temporary files together: nosuid, nodev, noexec. Leaves the
// process in the work folder.
[[nodiscard]] Status MountSessionFolders(std::uint64_t disk_bytes, bool own_workdir);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_ROOT_FILESYSTEM_H_
