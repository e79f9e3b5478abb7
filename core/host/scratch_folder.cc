#include "gloveport/core/host/scratch_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>

namespace gloveport {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "gloveport-";
constexpr std::string_view kLockEnding = ".lock";
constexpr std::size_t kRandomCharacters = 6;
constexpr int kAttempts = 100;

fs::path Base() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : base;
}

bool IsLockName(std::string_view name) {
  return name.size() == kPrefix.size() + kRandomCharacters + kLockEnding.size() &&
         name.starts_with(kPrefix) && name.ends_with(kLockEnding);
}

// True where this process now holds the lock of a file that still has its name: whoever sweeps holds the lock
// while the name goes.
bool Lock(int fd) {
  struct stat info {};
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &info) == 0 && info.st_nlink == 1 &&
         info.st_uid == ::geteuid();
}

// Model code may have taken its own rights to a folder away, which would keep it from being removed.
void GrantAccess(const fs::path& folder) {
  std::error_code error;
  fs::permissions(folder, fs::perms::owner_all, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->symlink_status(error).type() == fs::file_type::directory) GrantAccess(entry->path());
  }
}

// Removes links, never what they point to. True where nothing is left.
bool RemoveTree(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return true;
  if (fs::symlink_status(folder, error).type() == fs::file_type::directory) GrantAccess(folder);
  fs::remove_all(folder, error);
  return !error;
}

// The lock's file comes first: a folder without one would never be swept.
std::optional<UniqueFd> MakeLocked(std::string& path) {
  std::string lock_path = (Base() / kPrefix).string() + std::string(kRandomCharacters, 'X');
  lock_path += kLockEnding;
  UniqueFd lock(::mkostemps(lock_path.data(), static_cast<int>(kLockEnding.size()), O_CLOEXEC));
  path = lock_path.substr(0, lock_path.size() - kLockEnding.size());
  if (!lock) return std::nullopt;
  if (Lock(lock.get()) && ::mkdir(path.c_str(), 0700) == 0) return lock;
  ::unlink(lock_path.c_str());
  return UniqueFd();
}

void SweepOne(const fs::path& lock_path) {
  const UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!lock || !Lock(lock.get())) return;
  if (RemoveTree(fs::path(lock_path).replace_extension())) ::unlink(lock_path.c_str());
}

}  // namespace

Result<ScratchFolder> ScratchFolder::Make() {
  static std::once_flag swept;
  std::call_once(swept, SweepAbandoned);
  std::string path;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto lock = MakeLocked(path);
    if (!lock) break;
    if (*lock) return ScratchFolder(std::move(path), std::move(*lock));
  }
  return FailErrno("cannot make a work folder " + path, errno);
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty() || !RemoveTree(path_)) return;
  ::unlink((path_ + std::string(kLockEnding)).c_str());
}

void ScratchFolder::SweepAbandoned() {
  std::error_code error;
  for (fs::directory_iterator entry(Base(), error), end; !error && entry != end; entry.increment(error)) {
    if (IsLockName(entry->path().filename().string())) SweepOne(entry->path());
  }
}

}  // namespace gloveport
