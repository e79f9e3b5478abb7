// What is measured by starting programs: the command, cold, and plain Python inside of a session.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/bench/figures.h"

extern char** environ;

namespace gloveport::bench {
namespace {

// Runs a program to its end and returns what it wrote to standard output.
Result<std::string> OutputOf(const std::vector<std::string>& command) {
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return FailErrno("cannot start " + command[0], failed);
  out.write_end.reset();
  std::string text;
  while (ReadAvailable(out.read_end.get(), 1u << 16, text).value_or(false)) {
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0)
    return Fail(ErrorCode::kInternal, fmt::format("{} ended with status {}", command[0], status));
  return text;
}

Result<double> MillisecondsOf(const std::vector<std::string>& command) {
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const std::string out, OutputOf(command));
  if (out != "1\n") return Fail(ErrorCode::kInternal, command[0] + " printed something else");
  return watch.Microseconds() / 1000;
}

Result<Measurement> ColdExec(Mode mode) {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(mode));
  Samples ours;
  Samples plain;
  for (int i = -2; i < 20; ++i) {
    ASSIGN_OR_RETURN(const double one, MillisecondsOf({GLOVEPORT_BENCH_COMMAND, "exec", "-c", "print(1)"}));
    ASSIGN_OR_RETURN(const double other,
                     MillisecondsOf({GLOVEPORT_BENCH_PYTHON, "-I", "-S", "-c", "print(1)"}));
    if (i < 0) continue;  // the first ones read from disk
    ours.Add(one);
    plain.Add(other);
  }
  auto one = Measurement::Of("exec_cold", mode, "ms", ours, "python3 -I -S -c 'print(1)'", plain);
  return one.Aim("<= 1.5 x python3 -I -S", *one.ratio <= 1.5);
}

}  // namespace

Result<Measurements> MeasureColdExec() {
  ASSIGN_OR_RETURN(Measurement unpinned, ColdExec(Mode::kUnpinned));
  ASSIGN_OR_RETURN(Measurement pinned, ColdExec(Mode::kPinned1));
  return Measurements{unpinned, pinned};
}

Result<Measurements> MeasurePurePython() {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kPinned1));
  ASSIGN_OR_RETURN(const std::string text,
                   OutputOf({GLOVEPORT_BENCH_PYTHON, GLOVEPORT_BENCH_SOURCE "/pure_python/run.py",
                             "--gloveport", GLOVEPORT_BENCH_COMMAND, "--rounds", "8"}));
  const auto report = nlohmann::json::parse(text, nullptr, false);
  const auto ratio = report.value("/ratio/executable/wall"_json_pointer, 0.0);
  if (ratio <= 0) return Fail(ErrorCode::kInternal, "pure_python/run.py gave no ratio");
  auto one = Measurement::Of("pure_python", Mode::kPinned1, "x", Samples({ratio}), "/usr/bin/python3",
                             Samples({1.0}));
  return Measurements{
      one.Aim(">= 0.97 x python3", ratio >= 0.97).Note("geometric mean of ten workloads, by the wall clock")};
}

}  // namespace gloveport::bench
