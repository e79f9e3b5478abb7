#include "gloveport/policy/namespaces.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/policy/environment.h"

namespace gloveport {
namespace {

constexpr std::string_view kRemedy =
    "allow unprivileged user namespaces (sysctl user.max_user_namespaces, "
    "kernel.apparmor_restrict_unprivileged_userns; in a "
    "container: --security-opt seccomp=unconfined or a profile that allows clone and mount), or name "
    "\"landlock\" instead of "
    "\"own_root\" in the policy's layers.require for the degraded mode";

Status WriteProcFile(int proc_self, const char* name, std::string_view text) {
  UniqueFd fd(::openat(proc_self, name, O_WRONLY | O_CLOEXEC));
  if (!fd) return NamespacesUnavailable(fmt::format("cannot open /proc/self/{}", name), errno);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return NamespacesUnavailable(fmt::format("cannot write /proc/self/{}", name), errno);
  }
  return {};
}

constexpr std::string_view kUserRemedy =
    "a session never runs as root: start the host as an ordinary user, or give its container a range of user "
    "ids";

tl::unexpected<Error> WithHint(std::string_view what, int error_number, std::string_view hint) {
  Error error = FailErrno(what, error_number).value();
  return Fail(ErrorCode::kConfinementUnavailable, std::move(error.message), std::string(hint));
}

}  // namespace

tl::unexpected<Error> NamespacesUnavailable(std::string_view what, int error_number) {
  return WithHint(what, error_number, kRemedy);
}

Status BecomeUser(uid_t uid, gid_t gid) {
  if (uid == 0 || gid == 0) return Fail(ErrorCode::kInternal, "a session must not run as uid 0");
  if (::setgroups(0, nullptr) != 0)
    return WithHint("cannot drop the supplementary groups", errno, kUserRemedy);
  if (::setresgid(gid, gid, gid) != 0)
    return WithHint(fmt::format("cannot change the group to {}", gid), errno, kUserRemedy);
  if (::setresuid(uid, uid, uid) != 0)
    return WithHint(fmt::format("cannot change the user to {}", uid), errno, kUserRemedy);
  // The change made /proc/self root's; without this the process could not write its own uid map.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return FailErrno("prctl(PR_SET_DUMPABLE)", errno);
  return {};
}

Status EnterUserAndMountNamespace(int proc_self) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return NamespacesUnavailable("cannot make a user namespace", errno);
  RETURN_IF_ERROR(WriteProcFile(proc_self, "setgroups", "deny"));
  RETURN_IF_ERROR(WriteProcFile(proc_self, "gid_map", fmt::format("{} {} 1\n", kSandboxUid, gid)));
  RETURN_IF_ERROR(WriteProcFile(proc_self, "uid_map", fmt::format("{} {} 1\n", kSandboxUid, uid)));
  return {};
}

Status EnterOtherNamespaces() {
  if (::unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET) != 0) {
    return NamespacesUnavailable("cannot make pid, ipc, uts and net namespaces", errno);
  }
  if (::sethostname(kHostName.data(), kHostName.size()) != 0)
    return NamespacesUnavailable("cannot set the host name", errno);
  return {};
}

}  // namespace gloveport
