#include "gloveport/core/host/open_judge.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "gloveport/core/host/proc_stat.h"
#include "gloveport/policy/lexical_path.h"
#include "gloveport/policy/root_filesystem.h"
#include "gloveport/policy/session_rules.h"

namespace gloveport {
namespace {

bool Writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0; }
bool Reads(int flags) { return (flags & O_ACCMODE) != O_WRONLY; }

UniqueFd Find(const SessionView& view, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(O_PATH | O_CLOEXEC | flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(__NR_openat2, view.root.get(), path.c_str(), &how, sizeof how)));
}

// The path in the session's root, links followed.
std::string RealPath(int fd) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

// A session has no capabilities: the bits of its class decide.
bool ModeAllows(const struct stat& info, const SessionView& view, bool read, bool write) {
  const unsigned shift = info.st_uid == view.uid ? 6 : info.st_gid == view.gid ? 3 : 0;
  const unsigned bits = (info.st_mode >> shift) & 7u;
  return (!read || (bits & 4u) != 0) && (!write || (bits & 2u) != 0);
}

bool IsReadOnlyMount(int fd) {
  struct statvfs info {};
  return ::fstatvfs(fd, &info) == 0 && (info.f_flag & ST_RDONLY) != 0;
}

}  // namespace

SessionView SessionView::Of(pid_t process) {
  SessionView view;
  view.root.reset(::open(fmt::format("/proc/{}/root", process).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const ProcessOwner owner = ReadProcessOwner(process);
  view.uid = owner.uid;
  view.gid = owner.gid;
  return view;
}

OpenJudge::OpenJudge(const Policy& policy, std::string_view work_folder, bool own_root, bool landlock)
    : rules_(SessionRules(policy, work_folder, own_root)),
      landlock_(landlock),
      runtime_(WithLinkTargets(RuntimePaths())) {
  const std::vector<std::string> packages = WithLinkTargets(policy.packages);
  runtime_.insert(runtime_.end(), packages.begin(), packages.end());
}

bool OpenJudge::IsRuntime(std::string_view path) const {
  const auto normal = NormalPath(path);
  return normal && std::ranges::any_of(
                       runtime_, [&](const std::string& folder) { return IsAtOrBelow(*normal, folder); });
}

bool OpenJudge::RulesAllow(const std::string& path, bool write) const {
  if (!landlock_) return true;
  const auto covers = [&](const std::string& folder) { return IsAtOrBelow(path, folder); };
  return std::ranges::any_of(rules_.read_write, covers) ||
         (!write && std::ranges::any_of(rules_.read_only, covers));
}

OpenExpectation OpenJudge::Expect(const SessionView& view, const std::string& path, int flags) const {
  if (!view.root) return OpenExpectation::kRefused;
  if ((flags & O_TMPFILE) == O_TMPFILE) return ExpectOfNew(view, path + "/unnamed");
  const UniqueFd found = Find(view, path, flags & (O_NOFOLLOW | O_DIRECTORY));
  if (!found && errno == ENOENT && (flags & O_CREAT) != 0) return ExpectOfNew(view, path);
  if (!found) return errno == ENOENT ? OpenExpectation::kAbsent : OpenExpectation::kRefused;
  if ((flags & O_PATH) != 0) return OpenExpectation::kAllowed;  // gives nothing but the name
  struct stat info {};
  if (::fstat(found.get(), &info) != 0) return OpenExpectation::kRefused;
  const bool write = Writes(flags);
  const bool wrong_kind = S_ISLNK(info.st_mode) || (S_ISDIR(info.st_mode) && (write || (flags & O_CREAT)));
  if (wrong_kind || ((flags & O_CREAT) && (flags & O_EXCL))) return OpenExpectation::kRefused;
  const bool device = S_ISCHR(info.st_mode);  // which a read-only mount does not keep from being written to
  const bool fits = ModeAllows(info, view, Reads(flags), write) && RulesAllow(RealPath(found.get()), write) &&
                    (!write || device || !IsReadOnlyMount(found.get()));
  return fits ? OpenExpectation::kAllowed : OpenExpectation::kRefused;
}

OpenExpectation OpenJudge::ExpectOfNew(const SessionView& view, const std::string& path) const {
  const auto slash = path.find_last_of('/');
  const std::string folder = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  const UniqueFd parent = Find(view, folder, O_DIRECTORY);
  struct stat info {};
  if (!parent || ::fstat(parent.get(), &info) != 0) return OpenExpectation::kRefused;
  const bool fits = ModeAllows(info, view, false, true) && !IsReadOnlyMount(parent.get()) &&
                    RulesAllow(RealPath(parent.get()), true);
  return fits ? OpenExpectation::kAllowed : OpenExpectation::kRefused;
}

}  // namespace gloveport
