#include "gloveport/core/mcp/server_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

constexpr const char* kInherited[] = {"HOME",  "LANG", "LC_ALL", "LOGNAME", "PATH",
                                      "SHELL", "TERM", "TMPDIR", "TZ",      "USER"};

// All that is needed after the fork, made before it: there only async-signal-safe calls are allowed.
struct ExecPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* folder;  // nullptr: stay
  int input;
  int output;
  int errors;
  int failure;  // where errno goes if the program cannot be started
  pid_t parent;
};

// Out of the way of 0, 1 and 2, where pipes lie if the host has closed those: there one would be overwritten
// by another, or stay close-on-exec, as dup2 to itself changes nothing.
int AboveStandard(int fd) { return fd > STDERR_FILENO ? fd : ::fcntl(fd, F_DUPFD_CLOEXEC, 3); }

[[noreturn]] void ExecChild(const ExecPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = AboveStandard(plan.input);
  const int output = AboveStandard(plan.output);
  const int errors = AboveStandard(plan.errors);
  const int failure = AboveStandard(plan.failure);
  // Were the parent gone before the death signal was set, nobody would end us.
  const bool ready = ::getppid() == plan.parent && ::dup2(input, 0) == 0 && ::dup2(output, 1) == 1 &&
                     ::dup2(errors, 2) == 2 && (plan.folder == nullptr || ::chdir(plan.folder) == 0);
  if (ready) {
    ::syscall(SYS_close_range, 3u, ~0u,
              CLOSE_RANGE_CLOEXEC);  // what some library opened without close-on-exec
    ::execve(plan.program, plan.arguments, plan.environment);
  }
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(127);
}

std::string Lookup(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return "";
}

// The file that a name stands for, by the PATH that the server will have.
Result<std::string> FindProgram(const std::string& name, const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  std::string path = Lookup(environment, "PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  std::string_view rest = path;
  while (true) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    const std::string file = std::string(folder.empty() ? "." : folder) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
    if (folder.size() == rest.size()) break;
    rest.remove_prefix(folder.size() + 1);
  }
  return Fail(ErrorCode::kNotFound, fmt::format("there is no program \"{}\" on PATH", name),
              "install it, or give the whole path");
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// All signals are blocked over the fork, so that no handler of ours runs in the child.
pid_t Fork(const ExecPlan& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) ExecChild(plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

Status CheckCommand(const ServerCommand& command) {
  if (command.argv.empty() || command.argv.front().empty())
    return Fail(ErrorCode::kInvalidArgument, "the command of a server is empty");
  for (const std::string& word : command.argv) {
    if (word.find('\0') != std::string::npos)
      return Fail(ErrorCode::kInvalidArgument, "the command of a server holds a NUL character");
  }
  return {};
}

}  // namespace

std::vector<std::string> CleanEnvironment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> environment;
  for (const char* name : kInherited) {
    const char* value = std::getenv(name);
    if (value != nullptr && !added.contains(name)) environment.push_back(fmt::format("{}={}", name, value));
  }
  for (const auto& [name, value] : added) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

Result<ServerProcess> ServerProcess::Start(const ServerCommand& command) {
  RETURN_IF_ERROR(CheckCommand(command));
  std::vector<std::string> environment = CleanEnvironment(command.env);
  std::vector<std::string> arguments = command.argv;
  ASSIGN_OR_RETURN(const std::string program, FindProgram(arguments.front(), environment));
  ASSIGN_OR_RETURN(Pipe input, MakePipe());
  ASSIGN_OR_RETURN(Pipe output, MakePipe());
  ASSIGN_OR_RETURN(Pipe errors, MakePipe());
  ASSIGN_OR_RETURN(Pipe failure, MakePipe());
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const pid_t pid =
      Fork({program.c_str(), argument_pointers.data(), environment_pointers.data(),
            command.folder.empty() ? nullptr : command.folder.c_str(), input.read_end.get(),
            output.write_end.get(), errors.write_end.get(), failure.write_end.get(), ::getpid()});
  if (pid < 0) return FailErrno("cannot fork", errno);
  ::setpgid(pid, pid);  // the child does the same; whoever comes first
  ServerProcess process(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  failure.write_end.reset();
  int error = 0;
  if (ReadFull(failure.read_end.get(), std::as_writable_bytes(std::span(&error, 1)), Deadline::Never()))
    return FailErrno(fmt::format("cannot start {}", program), error);
  if (!process.watch_) return FailErrno("cannot watch the server's process", errno);
  process.input_ = std::move(input.write_end);
  process.output_ = std::move(output.read_end);
  process.errors_ = std::move(errors.read_end);
  for (const UniqueFd* end : {&process.input_, &process.output_, &process.errors_})
    RETURN_IF_ERROR(SetNonBlocking(end->get()));
  return process;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      watch_(std::move(other.watch_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

ServerProcess::~ServerProcess() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  Wait();
}

void ServerProcess::Signal(int signal) {
  if (pid_ > 0) (void)::kill(-pid_, signal);
}

std::string ServerProcess::Wait() {
  if (pid_ <= 0) return "";
  // First of all without reaping it: while it is a zombie its number, and so the group's, is no other's.
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  Signal(SIGKILL);  // whatever it left behind in its group
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFEXITED(status) ? fmt::format("with exit code {}", WEXITSTATUS(status))
                           : fmt::format("by signal {}", WTERMSIG(status));
}

}  // namespace gloveport
