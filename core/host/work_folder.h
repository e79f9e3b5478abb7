// WorkFolder: files of a session's work folder, reached from the host by a directory descriptor. What is in
// there was made by model code: paths are resolved beneath it without links, and only regular files are
// opened.
#ifndef GLOVEPORT_CORE_HOST_WORK_FOLDER_H_
#define GLOVEPORT_CORE_HOST_WORK_FOLDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/session.h"

namespace gloveport {

// A view on a directory descriptor that the caller keeps open. kInvalidArgument for an absolute path, "..",
// an empty path or a link on the way; kNotFound for what is not there.
class WorkFolder {
 public:
  explicit WorkFolder(int directory) : directory_(directory) {}

  Status Put(std::string_view path, std::span<const std::byte> data) const;  // makes folders on the way
  Result<std::vector<std::byte>> Get(std::string_view path, std::size_t max_bytes) const;
  Result<std::vector<FileInfo>> List() const;  // regular files, sorted by path; at most kMaxListedFiles
  Status Remove(std::string_view path) const;
  std::uint64_t UsedBytes() const;  // on disk, of all that is in there, links not followed

  static constexpr std::size_t kMaxListedFiles = 10'000;

 private:
  int directory_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_WORK_FOLDER_H_
