#include "gloveport/tests/attacks/confined_act.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/confine.h"
#include "gloveport/policy/namespaces.h"

namespace gloveport {
namespace {

constexpr uid_t kNobody = 65534;
constexpr suseconds_t kPatienceUs = 60'000;  // of an act that waits for something: it has reached the kernel

// What the process says of itself, in memory that it shares with the caller.
struct Report {
  enum Step { kStarting, kConfined, kAnswered } step;
  long result;
  int error;
  char message[256];
};

class SharedReport {
 public:
  SharedReport()
      : report_(static_cast<Report*>(
            ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedReport() { ::munmap(report_, sizeof(Report)); }
  SharedReport(const SharedReport&) = delete;
  SharedReport& operator=(const SharedReport&) = delete;
  Report& operator*() const { return *report_; }
  Report* operator->() const { return report_; }

 private:
  Report* report_;
};

ConfinePlan PlanWith(const SyscallFilter& filter, int channel) {
  constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  ConfinePlan plan;
  plan.limits = {kUnlimited, kUnlimited, kUnlimited, kUnlimited, 64};
  plan.landlock = LandlockAbi() > 0;
  plan.landlock_rules.read_only = {"/usr"};
  plan.keep_fds = {0, 1, 2, channel};
  plan.filter = filter;
  return plan;
}

Status ConfineSelf(const SyscallFilter& filter, int channel) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (::dup2(null.get(), STDIN_FILENO) < 0) return FailErrno("cannot replace the standard input", errno);
  if (::geteuid() == 0) RETURN_IF_ERROR(BecomeUser(kNobody, kNobody));
  return Confine(PlanWith(filter, channel), [&](UniqueFd listener) {
    const int fd = listener.get();
    return SendWithFds(channel, AsBytes("L"), std::span(&fd, 1));
  });
}

[[noreturn]] void Perform(const SyscallFilter& filter, const Act& act, int channel, Report& report) {
  if (const Status confined = ConfineSelf(filter, channel); !confined) {
    std::strncpy(report.message, confined.error().message.c_str(), sizeof report.message - 1);
    ::_exit(1);
  }
  // An act that waits for something is ended by the alarm.
  const itimerval patience{{0, 0}, {0, kPatienceUs}};
  ::setitimer(ITIMER_REAL, &patience, nullptr);
  report.step = Report::kConfined;
  errno = 0;
  report.result = act();
  report.error = errno;
  report.step = Report::kAnswered;
  ::_exit(0);
}

std::string NameOf(NotifiedCall call) {
  switch (call) {
    case NotifiedCall::kThreadStart:
      return "host: thread";
    case NotifiedCall::kSignal:
      return "host: signal";
    case NotifiedCall::kBranch:
      return "host: branch";
    case NotifiedCall::kViolation:
      return "host ends it";
    case NotifiedCall::kOpen:
      return "host: open";
    case NotifiedCall::kOpenat2:
    case NotifiedCall::kClone3:
      return "host: unsupported";
    case NotifiedCall::kRefuse:
      break;
  }
  return "host refuses";
}

// Refuses every call that is put to the host, until the process has gone; the name of the last one.
std::optional<std::string> PlayHost(int listener, const UniqueFd& gone) {
  std::optional<std::string> asked;
  while (true) {
    std::array<pollfd, 2> entries = {pollfd{listener, POLLIN, 0}, pollfd{gone.get(), POLLIN, 0}};
    ::poll(entries.data(), entries.size(), -1);
    if (entries[1].revents != 0) return asked;
    seccomp_notif call{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
    asked = NameOf(ClassifyNotified(call.data.nr, call.data.args[0]));
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.error = -EPERM;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

Result<std::string> Judge(const Report& report, int status, const std::optional<std::string>& asked) {
  if (report.step == Report::kStarting)
    return Fail(ErrorCode::kConfinementUnavailable,
                std::string("the process could not confine itself: ") + report.message);
  if (asked) return *asked;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) return "killed";
  if (report.step != Report::kAnswered || report.result >= 0) return "passed";
  if (report.error == EPERM) return "EPERM";
  if (report.error == ENOSYS) return "ENOSYS";
  if (report.error == ENOTSUP) return "ENOTSUP";
  return "passed";
}

}  // namespace

Result<std::string> AnswerTo(const SyscallFilter& filter, const Act& act) {
  const SharedReport report;
  ASSIGN_OR_RETURN(auto channel, MakeSocketPair());
  const pid_t child = ::fork();
  if (child < 0) return FailErrno("fork", errno);
  if (child == 0) Perform(filter, act, channel.second.get(), *report);
  channel.second.reset();
  auto handed = ReceiveWithFds(channel.first.get(), 1, 1, Deadline::After(std::chrono::seconds(10)));
  std::optional<std::string> asked;
  if (handed && handed->fds.size() == 1) {
    const UniqueFd pidfd(static_cast<int>(::syscall(__NR_pidfd_open, child, 0)));
    asked = PlayHost(handed->fds[0].get(), pidfd);
  }
  int status = 0;
  if (!handed) ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return Judge(*report, status, asked);
}

}  // namespace gloveport
