#include "gloveport/core/host/spawner.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <future>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/template_messages.h"

namespace gloveport {
namespace {

struct ExecPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int null;
  int control;
  int diagnostics;
  int failure;  // write end of a close-on-exec pipe
};

// Between fork and exec: async-signal-safe calls only. Sources are moved above the targets first, so that
// none is overwritten before it is used.
[[noreturn]] void ExecChild(const ExecPlan& plan) {
  constexpr int kAbove = 16;
  const int null = ::fcntl(plan.null, F_DUPFD, kAbove);
  const int control = ::fcntl(plan.control, F_DUPFD, kAbove);
  const int diagnostics = ::fcntl(plan.diagnostics, F_DUPFD, kAbove);
  const int failure = ::fcntl(plan.failure, F_DUPFD_CLOEXEC, kAbove);
  const bool placed = ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && ::dup2(null, 0) == 0 &&
                      ::dup2(null, 1) == 1 && ::dup2(diagnostics, 2) == 2 &&
                      ::dup2(control, wire::kControlFd) == wire::kControlFd;
  if (placed) {
    // Everything else is closed by exec; the failure pipe too, which is how the parent learns of success.
    constexpr unsigned kCloseOnExec = 1u << 2;  // CLOSE_RANGE_CLOEXEC
    ::syscall(__NR_close_range, wire::kControlFd + 1, ~0u, kCloseOnExec);
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(plan.program, plan.arguments, plan.environment);
  }
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(127);
}

Result<pid_t> ForkAndExec(const SpawnRequest& request) {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return FailErrno("cannot open /dev/null", errno);
  ASSIGN_OR_RETURN(Pipe failure, MakePipe());
  std::string name = request.program.filename();
  char* arguments[] = {name.data(), nullptr};
  std::vector<std::string> entries = request.environment;
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  const ExecPlan plan{request.program.c_str(), arguments,           environment.data(),     null.get(),
                      request.control,         request.diagnostics, failure.write_end.get()};
  // All signals are blocked over the fork, so that no handler of the host runs in the child.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) ExecChild(plan);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return FailErrno("cannot fork", fork_error);
  failure.write_end.reset();
  int error = 0;
  if (ReadFull(failure.read_end.get(), std::as_writable_bytes(std::span(&error, 1)), Deadline::Never())) {
    return FailErrno(fmt::format("cannot start {}", request.program.string()), error);
  }
  return child;
}

}  // namespace

Spawner::Spawner() : thread_([this] { Loop(); }) {}

Spawner::~Spawner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Spawner::Loop() {
  ::pthread_setname_np(::pthread_self(), "glove-spawner");
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop();
    lock.unlock();
    job();
    lock.lock();
  }
}

Result<pid_t> Spawner::Spawn(const SpawnRequest& request) {
  std::promise<Result<pid_t>> promise;
  auto answer = promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    jobs_.emplace([&] { promise.set_value(ForkAndExec(request)); });
  }
  wake_.notify_one();
  return answer.get();
}

}  // namespace gloveport
