// How a cell ended: values, never failed calls. Every field that a child reported is named in the comment
// "(interpreter)"; the rest was seen or measured by the host.
#ifndef GLOVEPORT_CORE_HOST_OUTCOME_H_
#define GLOVEPORT_CORE_HOST_OUTCOME_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/wire/value.h"

namespace gloveport {

enum class Outcome {
  kOk,
  kError,
  kDenied,
  kTimeout,
  kMemory,
  kOutputLimit,
  kViolation,
  kCrashed,
  kKilled,
  kProtocolError,
};
std::string_view OutcomeName(Outcome outcome);  // "ok", "error", "denied", "timeout", ...

// What became of the session's variables.
enum class SessionState { kKept, kRestored, kLost };
std::string_view SessionStateName(SessionState state);  // "kept", "restored", "lost"

enum class Decision { kAllow, kDeny, kEscalate };
std::string_view DecisionName(Decision decision);  // "allow", "deny", "escalate"

struct Finding {
  // import, builtin, dunder, attribute, path, network, pickle, dynamic-code, cost, hook, syntax
  std::string rule;
  int line = 0;    // 1-based
  int column = 0;  // 1-based, in characters
  std::string message;
  std::string hint;
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct Verdict {
  Decision decision = Decision::kAllow;
  std::vector<Finding> findings;
};

struct PythonError {      // (interpreter)
  std::string type;       // class name
  std::string message;    // str(exception)
  int line = 0;           // 1-based in the source of `cell`; 0 where none is known
  int cell = 0;           // 0-based, counted over the session
  std::string traceback;  // text for people and models: user frames only
};

struct FinalAnswerValue {
  Value value;
  std::string repr;
  std::string explanation;
};

struct ToolCallRecord {
  std::uint64_t call = 0;  // tells the calls of a cell apart
  std::string name;
  Value args;  // Map of all bound parameters
  bool ok = false;
  Value result;       // if ok
  std::string error;  // else
  std::chrono::nanoseconds duration{0};
  std::vector<Value>
      displays;            // that the tool itself showed, in the form of CellResult's, which has them too
  std::string error_type;  // of the exception that the cell got: "ToolError", "TypeError", "ToolTimeoutError"
};

struct Refusal {
  std::string source;  // "interpreter", "kernel", "host"
  std::string rule;    // import, path, tool, syscall, ...
  std::string what;    // name of the module, path, tool or call
  std::string message;
};

// A file that a cell opened, or tried to. The interpreter reports each before it is opened and says whether
// it seems to be there and open to it; the kernel's source is the call itself, stopped before it is decided.
struct FileOpen {
  std::string source;  // "interpreter", "kernel"
  std::string path;    // as opened (interpreter); absolute, or empty where it could not be read (kernel)
  std::string mode;    // "read", "write", "create"
  bool allowed = true;
};

struct Usage {
  std::chrono::nanoseconds wall{0};
  std::chrono::nanoseconds cpu_user{0};
  std::chrono::nanoseconds cpu_system{0};
  std::uint64_t max_rss_bytes = 0;
  std::uint64_t output_bytes = 0;          // written by the cell, kept or not
  std::vector<std::string> files_read;     // (interpreter), paths as opened; the runtime's own are left out
  std::vector<std::string> files_written;  // (interpreter)
  std::uint64_t opens_not_listed = 0;      // told to no sink, for there were too many
  std::uint64_t tool_calls = 0;
  // Where they were asked for (EventSink::wants_counters) and the process lived to be asked.
  std::optional<std::uint64_t> minor_faults;
  std::optional<std::uint64_t> major_faults;
  std::optional<std::uint64_t> voluntary_switches;  // of threads that are alive at the end
  std::optional<std::uint64_t> involuntary_switches;
  // By read and write calls of any kind, the session's own for the host among them. Absent where the kernel
  // does not let the host look: for an ordinary user's host, unless evidence.opens is "kernel".
  std::optional<std::uint64_t> bytes_read;
  std::optional<std::uint64_t> bytes_written;
  std::vector<Refusal> denied;
};

// Which limit ended or cut the cell.
struct LimitHit {
  // "wall", "cpu", "memory", "disk", "output", "result", "tool_calls", "tool_calls_per_s", "tool_call_kib",
  // and over the session "total_cpu", "total_output", "total_tool_calls".
  std::string limit;
  std::string message;  // "wall time: 5 s limit reached"
  double value = 0;     // of the limit, in `unit`
  double used = 0;      // when it was reached
  std::string unit;     // "s", "MiB", "KiB", "calls"
};

struct CellResult {
  std::uint32_t cell = 0;
  Outcome outcome = Outcome::kOk;
  SessionState state = SessionState::kKept;
  Value value;       // (interpreter) of the trailing expression; None without one
  std::string repr;  // (interpreter) empty without a value
  std::string type;  // (interpreter) empty without a value
  std::string out;   // stdout: head and tail at the limit
  std::string err;
  std::uint64_t truncated_out_bytes = 0;  // cut away from the middle
  std::uint64_t truncated_err_bytes = 0;
  std::optional<PythonError> error;  // also explains denied, timeout, memory, crashed ...
  std::optional<FinalAnswerValue> final_answer;
  std::vector<Value> displays;  // (interpreter) maps from MIME type to text or bytes
  std::vector<ToolCallRecord> tool_calls;
  std::optional<Verdict> verdict;  // absent where inspection was off
  std::string refusal_reason;      // where a person was asked about the cell and did not allow it
  std::optional<LimitHit> limit;
  // How far the policy's clock had come when the cell started; absent where the clock is real, or nothing
  // ran.
  std::optional<std::chrono::nanoseconds> clock_offset;
  Usage usage;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_OUTCOME_H_
