// TemporaryFolder: an empty folder of a test's own that goes with it. Works without GoogleTest too.
#ifndef GLOVEPORT_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
#define GLOVEPORT_TESTS_SUPPORT_TEMPORARY_FOLDER_H_

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace gloveport {

class TemporaryFolder {
 public:
  // For its owner alone, unless other users, as a root host's sessions are, must reach what is below it.
  explicit TemporaryFolder(std::filesystem::perms mode = std::filesystem::perms::owner_all) {
    std::string name = (std::filesystem::temp_directory_path() / "gloveport-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      std::perror("cannot make a temporary folder");
      std::abort();
    }
    path_ = name;
    std::filesystem::permissions(path_, mode);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Others may look and enter, as in /tmp.
inline constexpr std::filesystem::perms kOpenToAll{0755};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
