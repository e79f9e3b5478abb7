// The messages between host and session, one CBOR array each: [type, field ...]. FORMAT.md is the reference.
// Values inside messages stay encoded (`Encoded`: one CBOR item), so that the child converts straight to and
// from Python objects and the host decodes only what it looks at.
//
// Every Decode is total: hostile bytes give a kProtocol error.
#ifndef GLOVEPORT_CORE_WIRE_MESSAGES_H_
#define GLOVEPORT_CORE_WIRE_MESSAGES_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

namespace gloveport::wire {

using Encoded = std::string;  // exactly one CBOR item

// ---- host to session ----

struct RunCell {
  std::uint32_t cell = 0;  // counted over the session from 0
  std::string code;        // the text as it was submitted, bytes unchanged (valid UTF-8)
  bool approved = false;   // by a person: modules that the policy asks for may be imported
  // From which instant, since 1970, the wall clock goes on; absent: it is the real one.
  std::optional<std::chrono::nanoseconds> clock;
};
struct ToolReply {
  std::uint64_t call = 0;
  bool ok = false;
  Encoded value;           // if ok
  std::string error_type;  // else: name of a built-in exception class, or "ToolError"
  std::string error_message;
};
// Everything that is not hot: name says which operation, args is one map. Answered by exactly one Reply.
// Session: define_tools, describe_runtime, set_variable, get_variable, complete, inspect, is_complete, branch
// (the session forks, and the branch answers too, on the channel that it was given). Inspector: check,
// syntax, validate.
struct Request {
  std::uint64_t id = 0;
  std::string op;
  Encoded args;
};
// Signals that stop a request carry this number, as those that stop a cell carry the cell's.
inline std::uint32_t StopNumber(const Request& request) {
  return 0x8000'0000u | static_cast<std::uint32_t>(request.id & 0x7fff'ffffu);
}
using HostMessage = std::variant<RunCell, ToolReply, Request>;

// A session's highest descriptors: its policy's open_files, those that the interpreter itself keeps open, and
// behind them the numbers under which a branch finds its own ends, in the order of ForkRequest.
inline constexpr int kOwnDescriptors = 8;
inline constexpr int kBranchDescriptors = 6;

// ---- session to host ----

// How a session's process exits when it cannot get the memory that it needs to go on.
inline constexpr int kOutOfMemoryStatus = 86;

struct Ready {
  Encoded report;  // map: how each self-check ended
};
struct SetupFailed {
  std::string step;
  std::string message;
};
struct ToolCall {
  std::uint64_t call = 0;  // chosen by the session, unique while in flight
  std::uint32_t cell = 0;
  std::string name;
  Encoded args;  // map from parameter name to value, every parameter bound
};
struct FinalAnswer {
  std::uint32_t cell = 0;
  Encoded value;
  std::string repr;
  std::string explanation;
};
struct Display {
  std::uint32_t cell = 0;
  Encoded bundle;  // map from MIME type to text or bytes
};
// Something the interpreter saw: an audit event (open, import, a refusal by the import table).
struct Event {
  std::string kind;  // "open", "import", "refused"
  Encoded details;   // map
};
struct CellDone {
  std::uint32_t cell = 0;
  std::string status;  // "ok", "error", "timeout", "interrupted", "memory"
  Encoded value;       // value of the trailing expression (None without one)
  std::string repr;    // its repr, cut to a limit; empty without a value
  std::string type;    // its class name; empty without a value
  Encoded error;       // None, or map: type, message, line, column, cell, traceback, notes
};
struct Reply {
  std::uint64_t id = 0;
  bool ok = false;
  Encoded value;
  std::string error_type;
  std::string error_message;
};
using SessionMessage =
    std::variant<Ready, SetupFailed, ToolCall, FinalAnswer, Display, Event, CellDone, Reply>;

std::string Encode(const HostMessage& message);
std::string Encode(const SessionMessage& message);
Result<HostMessage> DecodeHostMessage(std::string_view payload);
Result<SessionMessage> DecodeSessionMessage(std::string_view payload);

}  // namespace gloveport::wire

#endif  // GLOVEPORT_CORE_WIRE_MESSAGES_H_
