#include "gloveport/core/host/work_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {
namespace {

constexpr int kMaxDepth = 32;

tl::unexpected<Error> Refuse(std::string_view path, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("the path \"{}\" {}", EscapeForTerminal(path), why),
              "give a path relative to the work folder, for example data/table.csv");
}

tl::unexpected<Error> FailAt(std::string_view what, std::string_view path, int error_number) {
  if (error_number == EXDEV || error_number == ELOOP)
    return Refuse(path, "leads through a link or out of the work folder");
  return FailErrno(fmt::format("cannot {} {}", what, EscapeForTerminal(path)), error_number);
}

Result<UniqueFd> OpenBeneath(int directory, const std::string& path, int flags) {
  open_how how{};
  // openat2 refuses flags that mean nothing beside O_PATH.
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK));
  how.mode = flags & O_CREAT ? 0600 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd;
  do {
    fd = ::syscall(__NR_openat2, directory, path.c_str(), &how, sizeof how);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return FailAt(flags & O_CREAT ? "create" : "open", path, errno);
  return UniqueFd(static_cast<int>(fd));
}

Status CheckPath(std::string_view path) {
  if (path.empty()) return Refuse(path, "is empty");
  if (path.front() == '/') return Refuse(path, "is absolute");
  if (path.find('\0') != std::string_view::npos) return Refuse(path, "holds a NUL character");
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto end = rest.find('/');
    if (rest.substr(0, end) == "..") return Refuse(path, "holds \"..\"");
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return {};
}

// A root host writes as the folder's owner: the file system of a session knows no other user. Per thread.
class AsOwner {
 public:
  explicit AsOwner(int directory) {
    struct stat info {};
    if (::geteuid() != 0 || ::fstat(directory, &info) != 0 || info.st_uid == 0) return;
    active_ = true;
    ::setfsgid(info.st_gid);
    ::setfsuid(info.st_uid);
  }
  ~AsOwner() {
    if (!active_) return;
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
  }
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;

 private:
  bool active_ = false;
};

Status MakeFolders(int directory, const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (folder.empty()) continue;
    const auto parent_end = folder.rfind('/');
    UniqueFd parent;
    int parent_fd = directory;
    if (parent_end != std::string::npos) {
      ASSIGN_OR_RETURN(parent, OpenBeneath(directory, folder.substr(0, parent_end), O_PATH | O_DIRECTORY));
      parent_fd = parent.get();
    }
    const std::string name = parent_end == std::string::npos ? folder : folder.substr(parent_end + 1);
    if (name != "." && ::mkdirat(parent_fd, name.c_str(), 0700) != 0 && errno != EEXIST)
      return FailAt("make the folder", folder, errno);
  }
  return {};
}

// Only regular files: a FIFO would block, a device would do who knows what.
Status CheckRegular(int fd, std::string_view path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FailAt("look at", path, errno);
  if (!S_ISREG(info.st_mode)) return Refuse(path, "is no regular file");
  return {};
}

Status ListInto(int directory, const std::string& prefix, int depth, std::vector<FileInfo>& files) {
  if (depth > kMaxDepth) return {};
  ASSIGN_OR_RETURN(UniqueFd fd,
                   OpenBeneath(directory, prefix.empty() ? "." : prefix, O_RDONLY | O_DIRECTORY));
  const auto close = [](DIR* directory_stream) { ::closedir(directory_stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::fdopendir(fd.release()), close);
  if (!stream) return FailAt("list", prefix, errno);
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info {};
    if (::fstatat(::dirfd(stream.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const std::string path = prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
    if (S_ISDIR(info.st_mode)) {
      (void)ListInto(directory, path, depth + 1, files);
    } else if (S_ISREG(info.st_mode)) {
      files.push_back({ToValidUtf8(path), static_cast<std::uint64_t>(info.st_size)});
    }
    if (files.size() >= WorkFolder::kMaxListedFiles) return {};
  }
  return {};
}

// A folder may hold any number of names, and the walk must end.
constexpr std::size_t kMaxWalked = 200'000;

std::uint64_t UsedBelow(int directory, const std::string& path, int depth, std::size_t& walked) {
  if (depth > kMaxDepth || walked >= kMaxWalked) return 0;
  auto fd = OpenBeneath(directory, path, O_RDONLY | O_DIRECTORY);
  if (!fd) return 0;
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::fdopendir(fd->release()), close);
  std::uint64_t used = 0;
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    struct stat info {};
    if (name == "." || name == ".." || ++walked > kMaxWalked) continue;
    if (::fstatat(::dirfd(stream.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const auto names = S_ISDIR(info.st_mode) ? 1 : std::max<std::uint64_t>(info.st_nlink, 1);
    used += static_cast<std::uint64_t>(info.st_blocks) * 512 / names;
    if (S_ISDIR(info.st_mode))
      used += UsedBelow(directory, fmt::format("{}/{}", path, name), depth + 1, walked);
  }
  return used;
}

}  // namespace

Status WorkFolder::Put(std::string_view path, std::span<const std::byte> data) const {
  RETURN_IF_ERROR(CheckPath(path));
  const AsOwner owner(directory_);
  const std::string name(path);
  RETURN_IF_ERROR(MakeFolders(directory_, name));
  ASSIGN_OR_RETURN(UniqueFd fd, OpenBeneath(directory_, name, O_WRONLY | O_CREAT));
  RETURN_IF_ERROR(CheckRegular(fd.get(), path));
  if (::ftruncate(fd.get(), 0) != 0) return FailAt("empty", path, errno);
  if (auto written = WriteFull(fd.get(), data, Deadline::Never()); !written) {
    return Fail(written.error().code,
                fmt::format("cannot write {}: {}", EscapeForTerminal(path), written.error().message),
                "the work folder's size is the policy's limit disk_mib");
  }
  return {};
}

Result<std::vector<std::byte>> WorkFolder::Get(std::string_view path, std::size_t max_bytes) const {
  RETURN_IF_ERROR(CheckPath(path));
  ASSIGN_OR_RETURN(UniqueFd fd, OpenBeneath(directory_, std::string(path), O_RDONLY));
  RETURN_IF_ERROR(CheckRegular(fd.get(), path));
  std::string
      data;  // by what is read, never by the size that the file claims: it may be sparse, or grow meanwhile
  ASSIGN_OR_RETURN(const bool more, ReadAvailable(fd.get(), max_bytes + 1, data));
  if (more && data.size() > max_bytes) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("the file {} is larger than {} bytes", EscapeForTerminal(path), max_bytes));
  }
  const auto bytes = AsBytes(data);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<std::vector<FileInfo>> WorkFolder::List() const {
  std::vector<FileInfo> files;
  RETURN_IF_ERROR(ListInto(directory_, "", 0, files));
  std::ranges::sort(files, {}, &FileInfo::path);
  return files;
}

std::uint64_t WorkFolder::UsedBytes() const {
  std::size_t walked = 0;
  return UsedBelow(directory_, ".", 0, walked);
}

Status WorkFolder::Remove(std::string_view path) const {
  RETURN_IF_ERROR(CheckPath(path));
  const AsOwner owner(directory_);
  const std::string name(path);
  const auto slash = name.rfind('/');
  UniqueFd parent;
  int parent_fd = directory_;
  if (slash != std::string::npos) {
    ASSIGN_OR_RETURN(parent, OpenBeneath(directory_, name.substr(0, slash), O_PATH | O_DIRECTORY));
    parent_fd = parent.get();
  }
  if (::unlinkat(parent_fd, name.substr(slash + 1).c_str(), 0) != 0) return FailAt("remove", path, errno);
  return {};
}

}  // namespace gloveport
