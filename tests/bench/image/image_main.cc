// The image of a template without confinement: the same Python, with the same modules, that a template has.
// One command a line on standard input, one line of numbers (microseconds, if nothing else is said) on
// standard output:
//
//   cell BATCHES BATCH TEXT   a cell as a session runs it, inside of the child; one number for each batch
//   fork TIMES                fork, exit, wait
//   value TIMES TEXT          fork, and the cell has run in the child
//   run TEXT                  a cell, for what it leaves behind
//   idle TEXT                 the pid of a fork that has run the cell and waits
//   end                       ends the last of those
//
// Line breaks of the text come as the character 0x1f. GLOVEPORT_BENCH_MODULES has the modules to preload:
// a,b.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gloveport/core/wire/messages.h"
#include "gloveport/interp/child/cell_runner.h"
#include "gloveport/interp/child/heap_holes.h"
#include "gloveport/interp/child/interp_main.h"
#include "gloveport/interp/child/interpreter.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/session_loop.h"

namespace gloveport::child {
namespace {

using Numbers = std::vector<double>;

double MicrosecondsOf(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

[[noreturn]] void Fatal(const std::string& message) {
  std::fprintf(stderr, "bench image: %s\n", message.c_str());
  ::_exit(1);
}

void Run(const std::string& text) {
  static std::uint32_t number = 10;
  const wire::CellDone done = RunCell({number++, text});
  if (done.status != "ok") Fatal("a cell ended with " + done.status);
}

Numbers MeasureCells(int batches, int batch, const std::string& text) {
  Numbers numbers;
  for (int i = 0; i < batches; ++i) {
    numbers.push_back(MicrosecondsOf([&] {
                        for (int k = 0; k < batch; ++k) Run(text);
                      }) /
                      batch);
  }
  return numbers;
}

// The child runs `body` and is given no time to end in order.
template <typename Body>
pid_t Fork(Body body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  body();
  ::_exit(0);
}

Numbers MeasureForks(int times) {
  Numbers numbers;
  for (int i = 0; i < times; ++i) {
    numbers.push_back(MicrosecondsOf([] {
      const pid_t pid = Fork([] {});
      ::waitpid(pid, nullptr, 0);
    }));
  }
  return numbers;
}

Numbers MeasureForkToValue(int times, const std::string& text) {
  Numbers numbers;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) Fatal("no pipe");
  for (int i = 0; i < times; ++i) {
    pid_t pid = 0;
    numbers.push_back(MicrosecondsOf([&] {
      pid = Fork([&] {
        if (!Interpreter::AfterFork(std::nullopt)) Fatal("cannot go on after a fork");
        Run(text);
        (void)!::write(ends[1], "x", 1);
      });
      char byte = 0;
      (void)!::read(ends[0], &byte, 1);
    }));
    ::waitpid(pid, nullptr, 0);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  return numbers;
}

pid_t StartIdle(const std::string& text) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) Fatal("no pipe");
  const pid_t pid = Fork([&] {
    if (!Interpreter::AfterFork(std::nullopt)) Fatal("cannot go on after a fork");
    Run(text);
    (void)!::write(ends[1], "x", 1);
    ::pause();
  });
  char byte = 0;
  (void)!::read(ends[0], &byte, 1);
  ::close(ends[0]);
  ::close(ends[1]);
  return pid;
}

Numbers Obey(const std::string& line) {
  static pid_t idle = -1;
  std::istringstream words(line);
  std::string command;
  int first = 0;
  int second = 0;
  words >> command;
  if (command == "cell") words >> first >> second;
  if (command == "fork" || command == "value") words >> first;
  words.get();
  std::string text{std::istreambuf_iterator<char>(words), {}};
  std::ranges::replace(text, '\x1f', '\n');
  if (command == "cell") return MeasureCells(first, second, text);
  if (command == "fork") return MeasureForks(first);
  if (command == "value") return MeasureForkToValue(first, text);
  if (command == "run") return {MicrosecondsOf([&] { Run(text); })};
  if (command == "idle") return {static_cast<double>(idle = StartIdle(text))};
  if (command != "end" || idle <= 0) Fatal("no such command: " + line);
  ::kill(idle, SIGKILL);
  ::waitpid(idle, nullptr, 0);
  return {0};
}

// What the template does, and what a session does before its first cell.
Status Prepare(const std::vector<std::string>& modules) {
  RETURN_IF_ERROR(Interpreter::Start({}));
  RETURN_IF_ERROR(Interpreter::Preload(modules));
  SessionConfig config;
  config.policy.imports.allow = {"*"};
  RETURN_IF_ERROR(PrepareSessions(config));
  Interpreter::Freeze();
  FillHeapHoles();
  return CallPart("streams", "keep_descriptors");
}

// Not arguments: the process may be Python's program, whose command line says something else.
std::vector<std::string> ModulesFromEnvironment() {
  const char* names = ::getenv("GLOVEPORT_BENCH_MODULES");
  std::istringstream list(names ? names : "");
  std::vector<std::string> modules;
  for (std::string name; std::getline(list, name, ',');) modules.push_back(name);
  return modules;
}

}  // namespace

// In the place of the one that makes a template.
void InterpMain() {
  // Standard output belongs to the cells: what they print must not come between the numbers.
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (answers < 0 || ::dup2(null, STDOUT_FILENO) < 0) Fatal("no descriptors");
  if (const Status ready = Prepare(ModulesFromEnvironment()); !ready) Fatal(ready.error().message);
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    for (const double number : Obey(line)) answer += std::to_string(number) + " ";
    answer += '\n';
    if (::write(answers, answer.data(), answer.size()) < 0) break;
  }
  ::_exit(0);
}

}  // namespace gloveport::child
