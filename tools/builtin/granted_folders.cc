#include "gloveport/tools/builtin/granted_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kRead = O_RDONLY | O_NOCTTY | O_NONBLOCK;  // no waiting for a writer where it is a pipe

UniqueFd OpenBeneath(int folder, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {  // EAGAIN: something was renamed meanwhile, and the kernel cannot tell that ".." stayed inside
    fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return UniqueFd(static_cast<int>(fd));
}

tl::unexpected<Error> CannotOpen(std::string_view path, int error_number) {
  const std::string shown = EscapeForTerminal(path);
  if (error_number == ENOENT || error_number == ENOTDIR)
    return Fail(ErrorCode::kNotFound, fmt::format("there is no file {}", shown));
  if (error_number == EXDEV || error_number == ELOOP)
    return Fail(ErrorCode::kDenied, fmt::format("{} leads out of the folder that may be read", shown));
  return Fail(ErrorCode::kIo,
              fmt::format("cannot open {}: {}", shown, std::generic_category().message(error_number)));
}

struct Entry {
  std::string name;
  bool is_folder = false;
};

// What a folder holds, sorted; symbolic links and special files left out.
Result<std::vector<Entry>> EntriesOf(UniqueFd folder, const std::string& path) {
  DIR* stream = ::fdopendir(folder.get());
  if (stream == nullptr) return CannotOpen(path, errno);
  (void)folder.release();
  std::vector<Entry> entries;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (name == "." || name == ".." ||
        ::fstatat(::dirfd(stream), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) entries.push_back({name, S_ISDIR(info.st_mode)});
  }
  ::closedir(stream);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

// False where the visitor has seen enough. What cannot be read, or has gone meanwhile, is passed over.
bool WalkBelow(int root, const std::string& inner, const std::string& shown, int depth,
               const GrantedFolders::Visit& visit, const GrantedFolders::Enter& enter) {
  UniqueFd opened = OpenBeneath(root, inner, kRead | O_NOFOLLOW);
  struct stat info {};
  if (!opened || ::fstat(opened.get(), &info) != 0) return true;
  if (S_ISREG(info.st_mode)) return visit(shown, static_cast<std::uint64_t>(info.st_size));
  if (!S_ISDIR(info.st_mode) || depth == kMaxDepth) return true;
  if (!enter()) return false;
  const auto entries = EntriesOf(std::move(opened), shown);
  if (!entries) return true;
  return std::all_of(entries->begin(), entries->end(), [&](const Entry& entry) {
    return WalkBelow(root, inner + "/" + entry.name, shown + "/" + entry.name, depth + 1, visit, enter);
  });
}

}  // namespace

Result<GrantedFolders> GrantedFolders::Open(const std::map<std::string, std::filesystem::path>& folders) {
  if (folders.empty())
    return Fail(ErrorCode::kInvalidArgument, "no folder is granted",
                "name at least one: {\"reports\": \"/data/reports\"}");
  GrantedFolders granted;
  for (const auto& [name, path] : folders) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("\"{}\" cannot be the name of a granted folder", EscapeForTerminal(name)),
                  "choose a word, without a slash");
    const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return FailErrno(fmt::format("cannot open the folder {}", path.string()), errno);
    granted.folders_[name] = std::make_shared<UniqueFd>(fd);
  }
  return granted;
}

std::string GrantedFolders::Names() const {
  std::string out;
  for (const auto& [name, folder] : folders_) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<GrantedFolders::Place> GrantedFolders::Find(std::string_view path) const {
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.find('/');
  const auto folder = folders_.find(std::string(path.substr(0, slash)));
  if (folder == folders_.end() || path.find('\0') != std::string_view::npos)
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("{} is in no folder that may be read: paths begin with one of {}",
                    EscapeForTerminal(path.empty() ? "an empty path" : path.substr(0, 200)), Names()));
  const std::string inner(slash == std::string_view::npos ? "." : path.substr(slash + 1));
  return Place{folder->second.get(), inner};
}

Result<GrantedFile> GrantedFolders::OpenFile(std::string_view path) const {
  ASSIGN_OR_RETURN(const Place place, Find(path));
  GrantedFile file{OpenBeneath(place.folder->get(), place.inner, kRead), 0};
  if (!file.fd) return CannotOpen(path, errno);
  struct stat info {};
  if (::fstat(file.fd.get(), &info) != 0) return CannotOpen(path, errno);
  if (!S_ISREG(info.st_mode))
    return Fail(ErrorCode::kDenied,
                fmt::format("{} is {}", EscapeForTerminal(path),
                            S_ISDIR(info.st_mode) ? "a folder, not a file" : "no regular file"));
  file.size_bytes = static_cast<std::uint64_t>(info.st_size);
  return file;
}

Status GrantedFolders::Walk(std::string_view path, const Visit& visit, const Enter& enter) const {
  if (path.empty() || path == "." || path == "/") {
    for (const auto& [name, folder] : folders_) {
      if (!WalkBelow(folder->get(), ".", name, 0, visit, enter)) break;
    }
    return {};
  }
  ASSIGN_OR_RETURN(const Place place, Find(path));
  const UniqueFd there = OpenBeneath(place.folder->get(), place.inner, O_PATH);
  if (!there) return CannotOpen(path, errno);
  std::string_view shown = path;
  while (shown.ends_with('/')) shown.remove_suffix(1);
  WalkBelow(place.folder->get(), place.inner, std::string(shown), 0, visit, enter);
  return {};
}

}  // namespace gloveport
