#include "gloveport/tests/core/agent/syntax_server.h"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kPatience{20};

}  // namespace

SyntaxServer::SyntaxServer() {
  auto in = MakePipe();
  auto out = MakePipe();
  const std::string script = std::string(GLOVEPORT_SOURCE_DIR) + "/tests/core/agent/syntax_server.py";
  std::string python = GLOVEPORT_TEST_PYTHON;
  std::string isolated = "-I";
  std::string path = script;
  char* argv[] = {python.data(), isolated.data(), path.data(), nullptr};
  char* environment[] = {nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in->read_end.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out->write_end.get(), 1);
  const int failed = posix_spawn(&pid_, python.c_str(), &actions, nullptr, argv, environment);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    std::cerr << "cannot start " << python << "\n";
    std::abort();
  }
  to_ = std::move(in->write_end);
  from_ = std::move(out->read_end);
}

SyntaxServer::~SyntaxServer() {
  to_.reset();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

Result<SyntaxInfo> SyntaxServer::Check(std::string_view code) {
  ++questions_;
  const std::string question = DumpJson(Json(std::string(code))) + "\n";
  RETURN_IF_ERROR(WriteFull(to_.get(), AsBytes(question), Deadline::After(kPatience)));
  ASSIGN_OR_RETURN(const std::string line, ReadLine());
  ASSIGN_OR_RETURN(const Json answer, ParseJson(line));
  return SyntaxInfo{.complete = answer["complete"].get<bool>(),
                    .incomplete = answer["incomplete"].get<bool>(),
                    .has_action = answer["has_action"].get<bool>(),
                    .message = answer["message"].get<std::string>(),
                    .line = answer["line"].get<int>()};
}

Result<std::string> SyntaxServer::ReadLine() {
  const Deadline deadline = Deadline::After(kPatience);
  while (pending_.find('\n') == std::string::npos) {
    RETURN_IF_ERROR(WaitFor(from_.get(), POLLIN, deadline));
    char buffer[4096];
    const ssize_t got = ::read(from_.get(), buffer, sizeof(buffer));
    if (got <= 0) return Fail(ErrorCode::kClosed, "the syntax server has gone");
    pending_.append(buffer, static_cast<std::size_t>(got));
  }
  const auto end = pending_.find('\n');
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

}  // namespace gloveport
