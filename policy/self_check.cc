#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <system_error>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/confine.h"

namespace gloveport {
namespace {

// One act by its system call, and the error that must come of it; 0 stands for success.
struct Probe {
  const char* layer;
  const char* act;
  std::vector<int> expected;
  std::function<long()> attempt;
};

std::string NameOf(int error_number) {
  return error_number == 0 ? "success" : std::generic_category().message(error_number);
}

Status Try(const Probe& probe) {
  errno = 0;
  const long result = probe.attempt();
  const int seen = result < 0 ? errno : 0;
  for (const int expected : probe.expected) {
    if (seen == expected) return {};
  }
  return Fail(ErrorCode::kConfinementUnavailable,
              fmt::format("self-check of {}: {} gave \"{}\" where \"{}\" must come", probe.layer, probe.act,
                          NameOf(seen), NameOf(probe.expected.front())));
}

long OpenAndClose(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd;
}

long MapAnonymous(int protection) {
  void* memory = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return -1;
  ::munmap(memory, 4096);
  return 0;
}

// Written memory that is then to be executed: the filter and PR_SET_MDWE are both asked.
long TurnExecutable() {
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  const int result = ::mprotect(memory, 4096, PROT_READ | PROT_EXEC);
  const int error = errno;
  ::munmap(memory, 4096);
  errno = error;
  return result;
}

long RaiseLimit() {
  const rlimit more{1u << 30, 1u << 30};
  return ::prlimit(0, RLIMIT_NOFILE, &more, nullptr);
}

std::vector<Probe> WorkFolderProbes(const SelfCheckPlan& plan) {
  const std::string file = plan.work_folder + "/.gloveport-self-check";
  return {
      {"work folder",
       "making a file there",
       {0},
       [=] { return OpenAndClose(file, O_CREAT | O_WRONLY | O_EXCL); }},
      {"seccomp",
       "making it set-uid",
       {EPERM},
       [=] { return ::syscall(__NR_fchmodat, AT_FDCWD, file.c_str(), 04700); }},
      {"work folder", "removing it", {0}, [=] { return long{::unlink(file.c_str())}; }},
      {"runtime",
       "reading it",
       {0},
       [=] { return OpenAndClose(plan.runtime_folder, O_RDONLY | O_DIRECTORY); }},
      {"runtime",
       "writing to it",
       {EROFS, EACCES, EPERM},
       [=] { return OpenAndClose(plan.runtime_folder + "/x", O_CREAT | O_WRONLY); }},
  };
}

std::vector<Probe> ViewProbes(const SelfCheckPlan& plan) {
  std::vector<Probe> probes;
  if (plan.own_root) {
    for (const char* path : {"/proc/self/status", "/etc/passwd", "/sys/kernel"})
      probes.push_back({"own root", path, {ENOENT}, [=] { return long{::access(path, F_OK)}; }});
    probes.push_back({"own root", "making a file in the root", {EROFS, EACCES}, [] {
                        return OpenAndClose("/gloveport-self-check", O_CREAT | O_WRONLY);
                      }});
  } else {
    probes.push_back({"landlock", "opening /proc/self/status", {EACCES}, [] {
                        return OpenAndClose("/proc/self/status", O_RDONLY);
                      }});
  }
  if (plan.landlock) {
    probes.push_back(
        {"landlock", "listing the root", {EACCES}, [] { return OpenAndClose("/", O_RDONLY | O_DIRECTORY); }});
  }
  return probes;
}

std::vector<Probe> KernelProbes() {
  return {
      {"seccomp", "making a socket", {EPERM}, [] { return long{::socket(AF_INET, SOCK_STREAM, 0)}; }},
      {"seccomp",
       "starting a program",
       {EPERM},
       [] { return ::syscall(__NR_execve, "/bin/true", nullptr, nullptr); }},
      {"seccomp", "a call of newer kernels", {ENOSYS}, [] { return ::syscall(__NR_clone3, nullptr, 0); }},
      {"seccomp", "signalling the first process", {EPERM}, [] { return long{::kill(1, 0)}; }},
      {"seccomp",
       "prctl to gain dumpable",
       {EPERM},
       [] { return long{::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)}; }},
      {"seccomp", "asking for the own number", {0}, [] { return ::syscall(__NR_getpid) > 0 ? 0L : -1L; }},
      {"rlimits", "raising a limit", {EPERM}, RaiseLimit},
      {"W^X",
       "writable and executable memory",
       {EPERM, EACCES},
       [] { return MapAnonymous(PROT_READ | PROT_WRITE | PROT_EXEC); }},
      {"W^X", "making written memory executable", {EPERM, EACCES}, TurnExecutable},
      {"W^X", "writable memory", {0}, [] { return MapAnonymous(PROT_READ | PROT_WRITE); }},
      {"identity", "being root", {0}, [] { return ::getuid() == 0 || ::geteuid() == 0 ? -1L : 0L; }},
  };
}

// ---- acts that end the process ----

struct Ending {
  const char* act;
  void (*attempt)();
};

#if defined(__x86_64__)
constexpr long kForeignAbi = 0x40000000;  // x32: another set of numbers in the same architecture
#endif

constexpr Ending kEndings[] = {
    {"seccomp", [] { ::syscall(__NR_seccomp, 0, 0, 0); }},
#if defined(__x86_64__)
    {"a call of the x32 interface", [] { ::syscall(kForeignAbi | __NR_getpid); }},
#endif
};

// Held for the host: nothing may come of them where it does not answer.
struct HeldCall {
  const char* act;
  long number;
};

constexpr HeldCall kHeldCalls[] = {
    {"ptrace", __NR_ptrace}, {"unshare", __NR_unshare}, {"mount", __NR_mount},
    {"bpf", __NR_bpf},       {"execve", __NR_execve},   {"socket", __NR_socket},
};

// Empty where all came to nothing. A filter around the host's program, as containers have one, comes first:
// what it refuses does not reach ours, and is refused all the same.
std::string HeldCallThatPassed() {
  for (const HeldCall& call : kHeldCalls) {
    if (::syscall(call.number, 0, 0, 0, 0, 0) == -1 && (errno == ENOSYS || errno == EPERM)) continue;
    return fmt::format("{} was not held for the host", call.act);
  }
  return "";
}

[[noreturn]] void ConfineAndAttempt(const ConfinePlan& plan, const Ending& ending, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ConfinePlan own = plan;
  own.keep_fds.push_back(report);
  const Status confined = Confine(own, [](UniqueFd) { return Status(); });  // nobody listens
  const std::string reason = confined ? HeldCallThatPassed() : confined.error().message;
  if (reason.empty()) {
    ending.attempt();
  } else {
    (void)!::write(report, reason.data(), reason.size());
  }
  ::_exit(0);
}

// Nothing where the process was ended by the act; else what became of it.
Result<std::string> SurvivalOf(const ConfinePlan& plan, const Ending& ending) {
  ASSIGN_OR_RETURN(Pipe report, MakePipe());
  const pid_t child = ::fork();
  if (child < 0) return FailErrno("cannot fork", errno);
  if (child == 0) ConfineAndAttempt(plan, ending, report.write_end.get());
  report.write_end.reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) return std::string();
  std::string reason;
  (void)ReadAvailable(report.read_end.get(), 4096, reason);
  return reason.empty() ? fmt::format("{} did not end its process", ending.act)
                        : fmt::format("in a trial process: {}", reason);
}

}  // namespace

Status SelfCheck(const SelfCheckPlan& plan) {
  for (const auto& probes : {WorkFolderProbes(plan), ViewProbes(plan), KernelProbes()}) {
    for (const Probe& probe : probes) RETURN_IF_ERROR(Try(probe));
  }
  return {};
}

Status CheckEndings(const ConfinePlan& plan) {
  for (const Ending& ending : kEndings) {
    ASSIGN_OR_RETURN(const std::string survival, SurvivalOf(plan, ending));
    if (!survival.empty())
      return Fail(ErrorCode::kConfinementUnavailable, fmt::format("self-check of seccomp: {}", survival));
  }
  return {};
}

}  // namespace gloveport
