#include "gloveport/policy/root_filesystem.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/environment.h"
#include "gloveport/policy/namespaces.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

// Constants of the new mount interface that Debian 12's headers share with <linux/mount.h>, which cannot be
// included beside <sys/mount.h>.
constexpr unsigned kOpenTreeClone = 1;
constexpr unsigned kMoveMountEmptyPath = 0x4;
constexpr std::uint64_t kAttrReadOnly = 0x1;
constexpr std::uint64_t kAttrNoSuid = 0x2;
constexpr std::uint64_t kAttrNoDev = 0x4;
constexpr std::uint64_t kAttrNoExec = 0x8;
constexpr std::uint64_t kAttrIdMap = 0x100000;

struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t userns_fd = 0;
};

// Where the new root is put together: a folder that always exists and of which nothing is ever bound.
constexpr const char* kNewRoot = "/sys";
// In the new root: where a session's file system is mounted before its parts are bound to their places.
constexpr std::string_view kStaging = "/mnt";

Status SetAttributes(int fd, const char* path, const MountAttributes& attributes) {
  const unsigned flags = AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | (*path ? 0u : unsigned{AT_EMPTY_PATH});
  if (::syscall(__NR_mount_setattr, fd, path, flags, &attributes, sizeof attributes) != 0) {
    return NamespacesUnavailable(
        fmt::format("cannot set the mount flags of {}", *path ? path : "the work folder"), errno);
  }
  return {};
}

Status MakeTarget(const fs::path& target, bool directory) {
  std::error_code error;
  fs::create_directories(directory ? target : target.parent_path(), error);
  if (error) return FailErrno(fmt::format("cannot make {}", target.string()), error.value());
  if (directory) return {};
  UniqueFd file(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0444));
  return file ? Status() : FailErrno(fmt::format("cannot make {}", target.string()), errno);
}

// Binds one host path under the same path of the new root; a symbolic link is made anew. Absent paths are
// passed over.
Status BindReadOnly(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::path(kNewRoot + path);
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status) || fs::exists(fs::symlink_status(target, error))) return {};
  if (fs::is_symlink(status)) {
    RETURN_IF_ERROR(MakeTarget(target.parent_path(), true));
    fs::create_symlink(fs::read_symlink(path, error), target, error);
    return error ? Status(FailErrno(fmt::format("cannot link {}", path), error.value())) : Status();
  }
  RETURN_IF_ERROR(MakeTarget(target, fs::is_directory(status)));
  if (::mount(path.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return NamespacesUnavailable(fmt::format("cannot bind {}", path), errno);
  }
  MountAttributes attributes{kAttrReadOnly | kAttrNoSuid};
  if (!fs::is_character_file(status)) attributes.set |= kAttrNoDev;
  return SetAttributes(AT_FDCWD, target.c_str(), attributes);
}

Status AttachWorkdir(const FilesystemRules& rules, const UniqueFd& workdir_mount) {
  const std::string target = kNewRoot + std::string(kWorkFolder);
  RETURN_IF_ERROR(MakeTarget(target, true));
  if (!rules.workdir) return {};
  if (workdir_mount) {
    if (::syscall(__NR_move_mount, workdir_mount.get(), "", AT_FDCWD, target.c_str(), kMoveMountEmptyPath) !=
        0) {
      return FailErrno(fmt::format("cannot attach the work folder {}", *rules.workdir), errno);
    }
  } else if (::mount(rules.workdir->c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return FailErrno(fmt::format("cannot bind the work folder {}", *rules.workdir), errno);
  }
  return SetAttributes(AT_FDCWD, target.c_str(), {kAttrNoSuid | kAttrNoDev | kAttrNoExec});
}

Status PivotInto(const char* new_root) {
  if (::chdir(new_root) != 0) return FailErrno("chdir to the new root", errno);
  if (::syscall(__NR_pivot_root, ".", ".") != 0)
    return NamespacesUnavailable("cannot pivot into the new root", errno);
  // The old root is now mounted over the new one at "."; detaching it leaves only the new.
  if (::umount2(".", MNT_DETACH) != 0) return NamespacesUnavailable("cannot detach the old root", errno);
  if (::chdir("/") != 0) return FailErrno("chdir to the root", errno);
  return {};
}

// Makes the top of the root read-only; binds below were made so one by one, and the work folder stays
// writable.
Status SealRoot() {
  const MountAttributes attributes{kAttrReadOnly | kAttrNoSuid | kAttrNoDev};
  if (::syscall(__NR_mount_setattr, AT_FDCWD, "/", 0u, &attributes, sizeof attributes) != 0) {
    return NamespacesUnavailable("cannot make the root read-only", errno);
  }
  return {};
}

// A user namespace that maps `owner` to `uid`, held by a child only as long as it takes to open it.
Result<UniqueFd> MakeMappingNamespace(uid_t owner, gid_t owner_group, uid_t uid, gid_t gid) {
  ASSIGN_OR_RETURN(Pipe ready, MakePipe());
  const pid_t child = ::fork();
  if (child < 0) return FailErrno("fork", errno);
  if (child == 0) {
    const char done = ::unshare(CLONE_NEWUSER) == 0 ? '1' : '0';
    (void)!::write(ready.write_end.get(), &done, 1);
    ::pause();
    ::_exit(0);
  }
  char done = '0';
  (void)!::read(ready.read_end.get(), &done, 1);
  UniqueFd space;
  const std::string proc = fmt::format("/proc/{}/", child);
  Status mapped = done == '1'
                      ? WriteFile(proc + "uid_map", fmt::format("{} {} 1\n", owner, uid))
                      : Status(Fail(ErrorCode::kConfinementUnavailable, "cannot make a user namespace"));
  if (mapped) mapped = WriteFile(proc + "gid_map", fmt::format("{} {} 1\n", owner_group, gid));
  if (mapped) space.reset(::open((proc + "ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  RETURN_IF_ERROR(std::move(mapped));
  if (!space) return FailErrno("cannot open a user namespace", errno);
  return space;
}

}  // namespace

std::string StandardLibraryPath() { return fmt::format("/usr/lib/python{}", GLOVEPORT_PYTHON_VERSION); }

// The kernel's own file systems lead to every process and device, and the root to everything.
Status CheckReadablePaths(const std::vector<std::string>& paths) {
  for (const std::string& path : WithLinkTargets(paths)) {
    const std::string place = fs::path(path).lexically_normal().string();
    for (const std::string_view closed : {"/proc", "/sys", "/dev"}) {
      if (place != closed && !place.starts_with(fmt::format("{}/", closed))) continue;
      return Fail(ErrorCode::kInvalidArgument, fmt::format("the policy cannot give {} to a session", path),
                  "name folders with data only, none of /proc, /sys and /dev");
    }
    if (place == "/" || !place.starts_with('/')) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the policy cannot give \"{}\" to a session", path),
                  "name a folder below the root by its absolute path");
    }
  }
  return {};
}

std::vector<std::string> WithLinkTargets(const std::vector<std::string>& paths) {
  std::vector<std::string> all = paths;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::string real = fs::canonical(path, error).string();
    if (!error && real != path) all.push_back(real);
  }
  return all;
}

std::vector<std::string> RuntimePaths() {
  return {
      // merged /usr: links are made anew, real folders are bound
      "/lib",
      "/lib64",
      "/usr/lib64",
      // interpreter, standard library, distribution packages, shared libraries
      "/usr/lib/python3",
      StandardLibraryPath(),
      fmt::format("/usr/lib/{}", GLOVEPORT_MULTIARCH),
      "/etc/alternatives",
      "/etc/ld.so.cache",
      // data that libraries read
      "/usr/share/zoneinfo",
      "/usr/share/fonts",
      "/usr/local/share/fonts",
      "/etc/fonts",
      "/usr/share/fontconfig",
      "/usr/share/matplotlib",
      "/etc/matplotlibrc",
      "/usr/share/python-matplotlib",
      // devices without state
      "/dev/null",
      "/dev/zero",
      "/dev/urandom",
  };
}

Result<UniqueFd> MakeIdMappedBind(const std::string& folder, uid_t uid, gid_t gid) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    return FailErrno(fmt::format("cannot use the work folder {}", folder), errno);
  UniqueFd tree(
      static_cast<int>(::syscall(__NR_open_tree, AT_FDCWD, folder.c_str(), kOpenTreeClone | O_CLOEXEC)));
  if (!tree) return FailErrno(fmt::format("cannot open the work folder {}", folder), errno);
  ASSIGN_OR_RETURN(UniqueFd mapping, MakeMappingNamespace(info.st_uid, info.st_gid, uid, gid));
  RETURN_IF_ERROR(
      SetAttributes(tree.get(), "", {kAttrIdMap, 0, 0, static_cast<std::uint64_t>(mapping.get())}));
  return tree;
}

Status EnterOwnRoot(const FilesystemRules& rules, const UniqueFd& workdir_mount) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return NamespacesUnavailable("cannot make mounts private", errno);
  if (rules.workdir && !workdir_mount) {
    struct stat info {};
    if (::stat(rules.workdir->c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
      return Fail(ErrorCode::kNotFound, fmt::format("the work folder {} is no folder", *rules.workdir));
    }
  }
  if (::mount("gloveport-root", kNewRoot, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=1k,mode=0755") !=
      0) {
    return NamespacesUnavailable("cannot mount the new root", errno);
  }
  std::vector<std::string> paths = rules.read_only;
  std::ranges::sort(paths);  // a folder before what lies in it, which is then there already
  for (const auto& path : paths) RETURN_IF_ERROR(BindReadOnly(path));
  RETURN_IF_ERROR(AttachWorkdir(rules, workdir_mount));
  for (const std::string_view folder : {kTempFolder, kStaging})
    RETURN_IF_ERROR(MakeTarget(kNewRoot + std::string(folder), true));
  RETURN_IF_ERROR(PivotInto(kNewRoot));
  return SealRoot();
}

Status MountSessionFolders(std::uint64_t disk_bytes, bool own_workdir) {
  if (::unshare(CLONE_NEWNS) != 0) return FailErrno("cannot make a mount namespace", errno);
  const std::uint64_t inodes = std::clamp<std::uint64_t>(disk_bytes / 16384, 1024, 1'000'000);
  const std::string options = fmt::format("size={},nr_inodes={},mode=0700", disk_bytes, inodes);
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  // One tmpfs below two binds, so that one size limits both folders.
  if (::mount("work", kStaging.data(), "tmpfs", kFlags, options.c_str()) != 0)
    return FailErrno("cannot mount the work folder", errno);
  for (const std::string_view folder : {kWorkFolder, kTempFolder}) {
    if (!own_workdir && folder == kWorkFolder) continue;
    const std::string source = std::string(kStaging) + std::string(folder);
    if (::mkdir(source.c_str(), 0700) != 0 ||
        ::mount(source.c_str(), folder.data(), nullptr, MS_BIND, nullptr) != 0) {
      return FailErrno(fmt::format("cannot mount {}", folder), errno);
    }
  }
  if (::umount2(kStaging.data(), MNT_DETACH) != 0)
    return FailErrno("cannot hide the work file system", errno);
  if (::chdir(kWorkFolder.data()) != 0) return FailErrno("cannot enter the work folder", errno);
  return {};
}

}  // namespace gloveport
