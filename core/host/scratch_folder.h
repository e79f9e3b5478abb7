// ScratchFolder: an empty folder of the host, removed with all it holds when this object goes. For the
// degraded mode, where a session has no file system of its own.
//
// A host that is killed leaves its folders behind. Beside each stands a file that its host keeps locked, so
// that the next host can tell what is abandoned, and removes it.
#ifndef GLOVEPORT_CORE_HOST_SCRATCH_FOLDER_H_
#define GLOVEPORT_CORE_HOST_SCRATCH_FOLDER_H_

#include <string>
#include <utility>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class ScratchFolder {
 public:
  // Below $TMPDIR or /tmp, mode 0700. The first call of a process sweeps.
  static Result<ScratchFolder> Make();
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

  // Removes what killed hosts of this user left behind. What cannot be removed stays.
  static void SweepAbandoned();

 private:
  ScratchFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;  // on path_ + ".lock"; the kernel lets go of it when the process ends
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SCRATCH_FOLDER_H_
