// ScratchFolder: an empty folder of the host, removed with all it holds when this object goes. For the
// degraded mode, where a session has no file system of its own.
#ifndef GLOVEPORT_CORE_HOST_SCRATCH_FOLDER_H_
#define GLOVEPORT_CORE_HOST_SCRATCH_FOLDER_H_

#include <string>
#include <utility>

#include "gloveport/core/base/result.h"

namespace gloveport {

class ScratchFolder {
 public:
  static Result<ScratchFolder> Make();  // below $TMPDIR or /tmp, mode 0700
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SCRATCH_FOLDER_H_
