// Running a program and taking what it writes, with limits on time and size. Thread-safe.
#ifndef GLOVEPORT_CORE_BASE_SUBPROCESS_H_
#define GLOVEPORT_CORE_BASE_SUBPROCESS_H_

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"

namespace gloveport {

struct SubprocessOptions {
  std::vector<std::string> argv;  // the program, looked up on PATH, and its arguments; at least one
  std::string input;              // its standard input: a file of its own, so nobody waits for it to be read
  std::filesystem::path folder;   // that it starts in; empty: this process's
  std::size_t max_output_bytes = 1u << 20;
  Deadline deadline = Deadline::Never();
  std::stop_token stop;  // when it is requested, the program is killed
  enum class Errors { kInherit, kWithOutput } errors = Errors::kInherit;  // where its standard error goes
};

struct SubprocessResult {
  std::string output;
  int exit_code = 0;  // -1 where a signal ended it
  int signal = 0;
};

// Returns when the program has ended and its output is read. It runs in a process group of its own, which is
// killed when this returns: what it left behind goes with it. kIo, kNotFound where it cannot be started,
// kDeadlineExceeded, kClosed where it was stopped, kResourceExhausted where it writes too much.
Result<SubprocessResult> RunSubprocess(const SubprocessOptions& options);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_BASE_SUBPROCESS_H_
