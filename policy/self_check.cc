#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <system_error>
#include <vector>

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

std::vector<Probe> FileProbes(const SelfCheckPlan& plan) {
  const std::string work = plan.work_folder + "/.gloveport-self-check";
  std::vector<Probe> probes = {
      {"work folder",
       "making a file there",
       {0},
       [=] { return OpenAndClose(work, O_CREAT | O_WRONLY | O_EXCL); }},
      {"work folder", "removing it", {0}, [=] { return long{::unlink(work.c_str())}; }},
      {"runtime",
       "reading it",
       {0},
       [=] { return OpenAndClose(plan.runtime_folder, O_RDONLY | O_DIRECTORY); }},
      {"runtime",
       "writing to it",
       {EROFS, EACCES, EPERM},
       [=] { return OpenAndClose(plan.runtime_folder + "/x", O_CREAT | O_WRONLY); }},
  };
  if (plan.own_root) {
    probes.push_back({"own root", "opening /proc/self/status", {ENOENT}, [] {
                        return OpenAndClose("/proc/self/status", O_RDONLY);
                      }});
    probes.push_back(
        {"own root", "opening /etc/shadow", {ENOENT}, [] { return OpenAndClose("/etc/shadow", O_RDONLY); }});
  } else {
    probes.push_back(
        {"landlock", "listing /", {EACCES}, [] { return OpenAndClose("/", O_RDONLY | O_DIRECTORY); }});
    probes.push_back({"landlock", "opening /proc/self/status", {EACCES}, [] {
                        return OpenAndClose("/proc/self/status", O_RDONLY);
                      }});
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
      {"W^X",
       "writable and executable memory",
       {EPERM, EACCES},
       [] { return MapAnonymous(PROT_READ | PROT_WRITE | PROT_EXEC); }},
      {"W^X", "writable memory", {0}, [] { return MapAnonymous(PROT_READ | PROT_WRITE); }},
      {"identity", "being root", {0}, [] { return ::getuid() == 0 || ::geteuid() == 0 ? -1L : 0L; }},
  };
}

}  // namespace

Status SelfCheck(const SelfCheckPlan& plan) {
  for (const auto& probes : {FileProbes(plan), KernelProbes()}) {
    for (const Probe& probe : probes) RETURN_IF_ERROR(Try(probe));
  }
  return {};
}

}  // namespace gloveport
