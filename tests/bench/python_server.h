// PythonServer: a process with Python in it, without confinement, that measures on command: a yardstick's
// other end.
#ifndef GLOVEPORT_TESTS_BENCH_PYTHON_SERVER_H_
#define GLOVEPORT_TESTS_BENCH_PYTHON_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/policy/policy.h"
#include "gloveport/tests/bench/placement.h"
#include "gloveport/tests/bench/samples.h"

namespace gloveport::bench {

class PythonServer {
 public:
  // /usr/bin/python3 with plain_server.py, on the sessions' CPU.
  static Result<std::unique_ptr<PythonServer>> Plain(const Placement& placement);
  // The image of a template of this policy: image/image_main.cc has the commands.
  static Result<std::unique_ptr<PythonServer>> Image(const Placement& placement, const Policy& policy);
  ~PythonServer();
  PythonServer(const PythonServer&) = delete;
  PythonServer& operator=(const PythonServer&) = delete;

  // The numbers that it answers. `text` is the rest of the command, and may have several lines.
  Result<Samples> Ask(std::string_view command, std::string_view text = "");

 private:
  PythonServer() = default;
  static Result<std::unique_ptr<PythonServer>> Start(const Placement& placement,
                                                     const std::vector<std::string>& command,
                                                     const std::vector<std::string>& environment);

  pid_t pid_ = -1;
  UniqueFd to_;
  UniqueFd from_;
};

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_PYTHON_SERVER_H_
