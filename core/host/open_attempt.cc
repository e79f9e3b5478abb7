#include "gloveport/core/host/open_attempt.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <span>

namespace gloveport {
namespace {

// The four calls by where they have their arguments.
struct RawOpen {
  int folder = AT_FDCWD;
  std::uint64_t path = 0;
  int flags = 0;
};

RawOpen ArgumentsOf(const seccomp_data& call, const SessionMemory& memory) {
#ifdef __NR_open
  if (call.nr == __NR_open) return {AT_FDCWD, call.args[0], static_cast<int>(call.args[1])};
  if (call.nr == __NR_creat) return {AT_FDCWD, call.args[0], O_CREAT | O_WRONLY | O_TRUNC};
#endif
  RawOpen open{static_cast<int>(call.args[0]), call.args[1], static_cast<int>(call.args[2])};
  if (call.nr == __NR_openat2) {
    std::uint64_t flags = 0;  // the first member of struct open_how
    memory.Read(call.args[2], std::as_writable_bytes(std::span(&flags, 1)));
    open.flags = static_cast<int>(flags);
  }
  return open;
}

// Where a relative path begins, as the session sees it; empty where it cannot be read.
std::string FolderOf(pid_t thread, int folder) {
  const std::string link = folder == AT_FDCWD ? fmt::format("/proc/{}/cwd", thread)
                                              : fmt::format("/proc/{}/fd/{}", thread, folder);
  char path[PATH_MAX];
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

OpenAttempt ReadOpen(const seccomp_notif& call, const SessionMemory& memory) {
  const RawOpen raw = ArgumentsOf(call.data, memory);
  OpenAttempt attempt{memory.ReadText(raw.path).value_or(""), raw.flags};
  if (attempt.path.empty() || attempt.path.front() == '/') return attempt;
  const std::string folder = FolderOf(static_cast<pid_t>(call.pid), raw.folder);
  attempt.path = folder.empty() ? "" : folder + (folder == "/" ? "" : "/") + attempt.path;
  return attempt;
}

}  // namespace gloveport
