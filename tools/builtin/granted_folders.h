// GrantedFolders: folders of the host that tools may read, each under a name: "reports/2024/may.csv" is the
// file 2024/may.csv of the folder that was granted as "reports".
//
// Paths are opened by the kernel below the folder (openat2 with RESOLVE_BENEATH): neither "..", nor an
// absolute path, nor a symbolic link leads out of it. Regular files only.
#ifndef GLOVEPORT_TOOLS_BUILTIN_GRANTED_FOLDERS_H_
#define GLOVEPORT_TOOLS_BUILTIN_GRANTED_FOLDERS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

// A file that is open for reading.
struct GrantedFile {
  UniqueFd fd;
  std::uint64_t size_bytes = 0;
};

// Thread-safe.
class GrantedFolders {
 public:
  // The folders are opened now and stay the same, whatever becomes of their paths. kInvalidArgument for a
  // name that is empty or has a slash; the error of the system for a folder that cannot be opened.
  static Result<GrantedFolders> Open(const std::map<std::string, std::filesystem::path>& folders);

  std::string Names() const;  // "reports, logs"

  // kNotFound for what is not there, kDenied for what leads out of the folder or is no regular file.
  Result<GrantedFile> OpenFile(std::string_view path) const;

  // Calls `visit` with the path of each regular file at or below `path`, in alphabetical order, symbolic
  // links left out, until it returns false. "" is all folders. `path` may be a file.
  // `enter` is asked before each folder is read, and ends the walk likewise: folders may be many and hold no
  // file.
  using Visit = std::function<bool(const std::string& path, std::uint64_t size_bytes)>;
  using Enter = std::function<bool()>;
  Status Walk(std::string_view path, const Visit& visit, const Enter& enter) const;

 private:
  struct Place {
    const UniqueFd* folder;
    std::string inner;  // "." for the folder itself
  };
  Result<Place> Find(std::string_view path) const;

  std::map<std::string, std::shared_ptr<UniqueFd>> folders_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_GRANTED_FOLDERS_H_
