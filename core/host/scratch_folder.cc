#include "gloveport/core/host/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace gloveport {

Result<ScratchFolder> ScratchFolder::Make() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::filesystem::path("/tmp") : base) / "gloveport-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return FailErrno("cannot make a work folder " + path, errno);
  return ScratchFolder(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // removes links, never what they point to
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace gloveport
