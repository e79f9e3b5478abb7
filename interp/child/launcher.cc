#include "gloveport/interp/child/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/namespaces.h"
#include "gloveport/policy/root_filesystem.h"

namespace gloveport::child {
namespace {

FilesystemRules RulesOf(const wire::TemplateStart& start, const Policy& policy) {
  FilesystemRules rules;
  rules.read_only = RuntimePaths();
  for (const auto& paths : {policy.packages, policy.files.read}) {
    const std::vector<std::string> all = WithLinkTargets(paths);
    rules.read_only.insert(rules.read_only.end(), all.begin(), all.end());
  }
  if (!start.workdir.empty()) rules.workdir = start.workdir;
  return rules;
}

[[noreturn]] void WaitAndExit(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

// Descriptors 0 and 1 came from the host's root; from now on they are of the own one.
Status ReopenStandardStreams() {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return FailErrno("cannot open /dev/null", errno);
  if (::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(null.get(), STDOUT_FILENO) < 0)
    return FailErrno("cannot replace the standard streams", errno);
  return {};
}

// The new pid namespace begins with the next child: fork it, and stay behind only to wait.
Status ForkFirstProcess(UniqueFd& control) {
  RETURN_IF_ERROR(DieWithParent());
  const pid_t child = ::fork();
  if (child < 0) return FailErrno("cannot fork the template", errno);
  if (child > 0) {
    control.reset();
    WaitAndExit(child);
  }
  return DieWithParent();
}

}  // namespace

Status DieWithParent() {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return FailErrno("prctl(PR_SET_PDEATHSIG)", errno);
  return {};
}

Status BecomeTemplate(const wire::TemplateStart& start, const Policy& policy, UniqueFd& control) {
  for (const auto& paths : {policy.packages, policy.files.read}) RETURN_IF_ERROR(CheckReadablePaths(paths));
  UniqueFd workdir_mount;
  const uid_t spare = start.spare_uid;
  if (::geteuid() == 0) {
    if (start.own_root && !start.workdir.empty()) {
      ASSIGN_OR_RETURN(workdir_mount, MakeIdMappedBind(start.workdir, spare, spare));
    }
    RETURN_IF_ERROR(BecomeUser(spare, spare));
  }
  if (!start.own_root)
    return DieWithParent();  // any change of user clears the signal, so it comes after them
  UniqueFd proc_self(::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!proc_self) return FailErrno("cannot open /proc/self", errno);
  RETURN_IF_ERROR(EnterUserAndMountNamespace(proc_self.get()));
  RETURN_IF_ERROR(EnterOwnRoot(RulesOf(start, policy), workdir_mount));
  RETURN_IF_ERROR(ReopenStandardStreams());
  RETURN_IF_ERROR(EnterOtherNamespaces());
  return ForkFirstProcess(control);
}

}  // namespace gloveport::child
