#include "gloveport/core/base/subprocess.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "gloveport/core/base/fd_io.h"

extern char** environ;

namespace gloveport {
namespace {

// A file of its own: whoever reads it slowly, or not at all, keeps nobody waiting, and no SIGPIPE can come of
// it.
Result<UniqueFd> InputFile(std::string_view text) {
  UniqueFd file(::memfd_create("gloveport-input", MFD_CLOEXEC));
  if (!file) return FailErrno("cannot make a file for the input", errno);
  while (!text.empty()) {
    const ssize_t wrote = ::write(file.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return FailErrno("cannot write the input", errno);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return FailErrno("cannot rewind the input", errno);
  return file;
}

// A child in a process group of its own. It is waited for, and ended with its group, at the latest when this
// object goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    (void)::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  // Until it has ended and is a zombie.
  Status Await(Deadline deadline) {
    const UniqueFd watch(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!watch) return FailErrno("cannot watch the program", errno);
    if (const Status ended = WaitFor(watch.get(), POLLIN, deadline); !ended) {
      return Fail(ended.error().code, "it did not end in time");
    }
    return {};
  }

  // After Await.
  Status Reap(SubprocessResult& result) {
    // Whatever it left behind in its group; while it is a zombie the group's number is no other's.
    (void)::kill(-pid_, SIGKILL);
    int status = 0;
    pid_t waited;
    do {
      waited = ::waitpid(pid_, &status, 0);
    } while (waited < 0 && errno == EINTR);
    pid_ = 0;
    if (waited < 0) return FailErrno("how the program ended is not known", errno);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return {};
  }

 private:
  pid_t pid_;
};

class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);  // which hosts like to ignore
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

Result<pid_t> Start(const SubprocessOptions& options, int input, int output) {
  SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, output, STDOUT_FILENO);
  if (options.errors == SubprocessOptions::Errors::kWithOutput)
    ::posix_spawn_file_actions_adddup2(&settings.actions, output, STDERR_FILENO);
  if (!options.folder.empty())
    ::posix_spawn_file_actions_addchdir_np(&settings.actions, options.folder.c_str());
  std::vector<char*> arguments;
  for (const std::string& argument : options.argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, options.argv.front().c_str(), &settings.actions,
                                    &settings.attributes, arguments.data(), environ);
  if (failed != 0) return FailErrno("cannot start it", failed);
  return pid;
}

// All that is written until the end of file.
Result<std::string> ReadOutput(int fd, std::size_t max_bytes, Deadline deadline) {
  std::string text;
  while (true) {
    if (const Status ready = WaitFor(fd, POLLIN, deadline); !ready) {
      return Fail(ready.error().code, "it gave no answer in time");
    }
    ASSIGN_OR_RETURN(const bool more, ReadAvailable(fd, max_bytes + 1 - text.size(), text));
    if (!more) return text;
    if (text.size() > max_bytes) {
      return Fail(ErrorCode::kResourceExhausted, fmt::format("it wrote more than {} bytes", max_bytes));
    }
  }
}

}  // namespace

Result<SubprocessResult> RunSubprocess(const SubprocessOptions& options) {
  ASSIGN_OR_RETURN(const UniqueFd input, InputFile(options.input));
  ASSIGN_OR_RETURN(Pipe output, MakePipe());
  RETURN_IF_ERROR(SetNonBlocking(output.read_end.get()));
  ASSIGN_OR_RETURN(const pid_t pid, Start(options, input.get(), output.write_end.get()));
  Child child(pid);
  output.write_end.reset();
  SubprocessResult result;
  {
    // Gone before the process is reaped: until then its number is no other's.
    const std::stop_callback killer(options.stop, [pid] { (void)::kill(-pid, SIGKILL); });
    ASSIGN_OR_RETURN(result.output,
                     ReadOutput(output.read_end.get(), options.max_output_bytes, options.deadline));
    RETURN_IF_ERROR(child.Await(options.deadline));
  }
  RETURN_IF_ERROR(child.Reap(result));
  if (options.stop.stop_requested() && result.signal == SIGKILL)
    return Fail(ErrorCode::kClosed, "it was stopped");
  return result;
}

}  // namespace gloveport
