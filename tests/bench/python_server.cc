#include "gloveport/tests/bench/python_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/environment.h"

namespace gloveport::bench {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<std::unique_ptr<PythonServer>> PythonServer::Start(const Placement& placement,
                                                          const std::vector<std::string>& command,
                                                          const std::vector<std::string>& environment) {
  std::unique_ptr<PythonServer> server(new PythonServer);
  ASSIGN_OR_RETURN(Pipe in, MakePipe());
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read_end.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  int failed = 0;
  {
    const OnSessionCpu there(placement);
    failed = ::posix_spawn(&server->pid_, command[0].c_str(), &actions, nullptr, Pointers(command).data(),
                           Pointers(environment).data());
  }
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    server->pid_ = -1;
    return FailErrno(fmt::format("cannot start {}", command[0]), failed);
  }
  server->to_ = std::move(in.write_end);
  server->from_ = std::move(out.read_end);
  return server;
}

Result<std::unique_ptr<PythonServer>> PythonServer::Plain(const Placement& placement) {
  return Start(placement, {GLOVEPORT_BENCH_PYTHON, "-I", "-S", GLOVEPORT_BENCH_SOURCE "/plain_server.py"},
               {"LANG=C.UTF-8"});
}

Result<std::unique_ptr<PythonServer>> PythonServer::Image(const Placement& placement, const Policy& policy) {
  std::vector<std::string> environment = ConstantEnvironment();
  environment.push_back(fmt::format("GLOVEPORT_BENCH_MODULES={}", fmt::join(policy.preload, ",")));
  return Start(placement, {GLOVEPORT_BENCH_IMAGE}, environment);
}

PythonServer::~PythonServer() {
  to_.reset();  // it ends by itself
  if (pid_ <= 0) return;
  if (!WaitFor(from_.get(), POLLIN, Deadline::After(kPatience))) ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<Samples> PythonServer::Ask(std::string_view command, std::string_view text) {
  std::string line(command);
  if (!text.empty()) line.append(" ").append(text);
  std::ranges::replace(line, '\n', '\x1f');
  line += '\n';
  RETURN_IF_ERROR(WriteFull(to_.get(), AsBytes(line), Deadline::After(kPatience)));
  std::string answer;
  while (!answer.ends_with('\n')) {
    std::byte one;
    RETURN_IF_ERROR(ReadFull(from_.get(), std::span(&one, 1), Deadline::After(kPatience)));
    answer += static_cast<char>(one);
  }
  Samples samples;
  std::istringstream numbers(answer);
  for (double number = 0; numbers >> number;) samples.Add(number);
  if (samples.empty())
    return Fail(ErrorCode::kProtocol, fmt::format("no numbers in answer to '{}'", command));
  return samples;
}

}  // namespace gloveport::bench
