// ServerProcess: an MCP server as a child process in a process group of its own, with pipes to its standard
// streams and an environment that holds nothing of ours but what is named. One thread starts, uses and ends
// it: the process is killed when that thread ends, so that it never outlives us.
#ifndef GLOVEPORT_CORE_MCP_SERVER_PROCESS_H_
#define GLOVEPORT_CORE_MCP_SERVER_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

struct ServerCommand {
  std::vector<std::string> argv;  // a path, or a name that is looked up on PATH; no shell is involved
  std::map<std::string, std::string> env;  // besides the few of CleanEnvironment, or in their place
  std::string folder;                      // to start in; empty: ours
};

// HOME, LANG, LC_ALL, LOGNAME, PATH, SHELL, TERM, TMPDIR, TZ and USER as they are here, and `added`:
// "NAME=value" each.
std::vector<std::string> CleanEnvironment(const std::map<std::string, std::string>& added);

class ServerProcess {
 public:
  // kInvalidArgument, kNotFound (no such program), kIo.
  static Result<ServerProcess> Start(const ServerCommand& command);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();  // kills what is left of the group

  const UniqueFd& output() const { return output_; }  // its standard output and error, not blocking
  const UniqueFd& errors() const { return errors_; }
  const UniqueFd& watch() const { return watch_; }    // a pidfd: readable when it has ended
  UniqueFd TakeInput() { return std::move(input_); }  // its standard input, not blocking

  void Signal(int signal);  // to the whole group; nothing once it has been waited for
  // How it ended: "with exit code 1", "by signal 9". Waits; to be called when it has ended or was killed.
  std::string Wait();

 private:
  ServerProcess(pid_t pid, UniqueFd watch) : pid_(pid), watch_(std::move(watch)) {}

  pid_t pid_;
  UniqueFd watch_;
  UniqueFd input_;
  UniqueFd output_;
  UniqueFd errors_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_SERVER_PROCESS_H_
