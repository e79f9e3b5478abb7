// A session in a forked process, unconfined, with this process in the host's place: what the tests of the
// child drive. Interpreter::Start and Preload are called once in the test's process; every session is a fork
// of it.
#ifndef GLOVEPORT_TESTS_INTERP_CHILD_SESSION_PROCESS_H_
#define GLOVEPORT_TESTS_INTERP_CHILD_SESSION_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/channel.h"
#include "gloveport/core/wire/messages.h"
#include "gloveport/interp/child/session_loop.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport::testing {

struct CellRun {
  std::string out;
  std::string err;
  std::optional<wire::CellDone> done;  // absent: the session died or was killed
  std::optional<wire::FinalAnswer> final_answer;
  std::vector<wire::Display> displays;
  std::vector<wire::Event> events;
  std::vector<wire::ToolCall> tool_calls;
  bool timed_out = false;  // the time limit was reached
  bool killed = false;     // and the signal was not enough
};

class SessionProcess {
 public:
  using ToolHandler = std::function<wire::ToolReply(const wire::ToolCall&)>;

  // Starts the interpreter of this process with numpy, pandas and matplotlib if need be.
  static void WarmUp();
  static bool Has(const std::string& module);  // after WarmUp

  SessionProcess(const SessionConfig& config, const std::filesystem::path& folder,
                 std::optional<std::uint64_t> seed = std::nullopt);
  ~SessionProcess();

  // Runs a cell, answering tool calls by `tools`. Past `timeout` the time-out signal is sent, again and
  // again, then the process is killed.
  CellRun Run(const std::string& code, std::chrono::milliseconds timeout = std::chrono::seconds(60),
              const ToolHandler& tools = nullptr);

  // Called with every piece of output and every message while a cell runs.
  void set_watch(std::function<void(const CellRun&)> watch) { watch_ = std::move(watch); }

  wire::Reply Ask(const std::string& op, const Value& args);
  void Signal(int signal, int value) const;
  std::uint32_t next_cell() const { return next_cell_; }
  // Closes the channel and waits for the process to end.
  void Close();
  bool alive() const { return pid_ > 0; }

 private:
  void PumpOnce(CellRun& run, int timeout_ms, const ToolHandler& tools);
  void Take(CellRun& run, const std::string& payload, const ToolHandler& tools);
  void Kill();

  pid_t pid_ = -1;
  Channel channel_;
  UniqueFd out_;
  UniqueFd err_;
  std::uint32_t next_cell_ = 0;
  std::uint64_t next_request_ = 1;
  std::optional<wire::Reply> reply_;
  std::function<void(const CellRun&)> watch_;
};

}  // namespace gloveport::testing

#endif  // GLOVEPORT_TESTS_INTERP_CHILD_SESSION_PROCESS_H_
