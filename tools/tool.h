// Tool: a host function that cells can call by name. ToolRegistry (registry.h) holds them; binding.h makes
// one from a plain C++ function.
#ifndef GLOVEPORT_TOOLS_TOOL_H_
#define GLOVEPORT_TOOLS_TOOL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

// How arguments reach a parameter. What comes after a variadic one is given by keyword only.
enum class ParameterKind {
  kPlain,            // by position or keyword
  kVariadic,         // *name: a list of all further positional arguments
  kKeywordVariadic,  // **name: a dict of all further keyword arguments
};
std::string_view ParameterKindName(ParameterKind kind);  // "plain", "variadic", "keyword_variadic"

struct Parameter {
  std::string name;  // a Python identifier
  std::string description;
  std::string annotation;  // as Python writes it: "int", "list[float]", "str | None"; "object" for anything
  Value schema;            // JSON Schema as a Map; empty Map accepts everything
  std::optional<Value> default_value;          // absent: required
  ParameterKind kind = ParameterKind::kPlain;  // the annotation of a variadic one is that of each item
};

struct ToolSpec {
  std::string name;  // a Python identifier, no keyword
  std::string description;
  std::vector<Parameter>
      parameters;  // required ones before those with defaults; at most one of each variadic kind
  std::string returns = "object";  // annotation of the result
  std::string returns_description;
  Value returns_schema;  // JSON Schema as a Map, or None
  // A coroutine function in the cell: `await tool(...)`, many at once with asyncio.gather, without threads
  // there.
  bool is_async = false;
  // How long one call may take; the cell gets a ToolTimeoutError then, whether or not the tool heeds
  // CallContext. Absent: until the cell's own limit.
  std::optional<std::chrono::milliseconds> timeout;
  // Answers within microseconds, waits for nothing and never calls a session: then it is called on the thread
  // that runs the cell, which saves the way to another thread and back, and with it most of what a call
  // costs. Meanwhile nothing of the cell is watched and CallContext::stop is never requested. Has no meaning
  // with `timeout`.
  bool is_quick = false;
  // Waits for a person: while such a call runs, the cell's clock stands still, as for an approval. It has to
  // end by itself; `timeout` and the end of the cell (CallContext::stop) hold as ever.
  bool waits_for_person = false;
  // How often one cell may call it; the next call is a ToolError. Absent: as often as the policy lets it.
  std::optional<std::uint32_t> max_calls_per_cell;
  // Gives an iterator (stream.h); the tool then has a continuation.
  bool is_stream = false;

  std::string Signature() const;  // "contact_cost(contacts: int, channel: str = 'cellular') -> float"
};

// How far a call has come, for those who watch.
struct ToolProgress {
  double done = 0;              // of `total`, in whatever the tool counts
  std::optional<double> total;  // absent: not known
  std::string message;
};

// What a running call may ask. Valid only during the call, on its thread.
struct CallContext {
  Deadline deadline = Deadline::Never();
  std::stop_token stop;  // requested when the cell was interrupted, or it or the call ran out of time
  std::string session;
  std::uint32_t cell = 0;
  std::uint64_t call = 0;  // its number, as EventSink has it

  // Set by the host; each may be empty.
  std::function<void(const ToolProgress&)> on_progress;
  std::function<ApprovalDecision(std::string reason, Value details)> on_ask;
  std::vector<Value> displays;  // taken by the host when the call has ended well

  // Whether nobody waits for the answer any more.
  bool stopped() const { return stop.stop_requested() || deadline.passed(); }
  // Tells those who watch the session (EventSink::OnToolProgress).
  void Progress(double done, std::optional<double> total = {}, std::string message = "") const;
  // Asks a person whether to go on, and waits; the cell's clock and `deadline` stand still meanwhile.
  // `details` is what the person sees beside the reason, as the arguments of the tool. A denial where nobody
  // can be asked, as in a tool that is quick.
  ApprovalDecision Ask(std::string reason, Value details = Value(Value::Map()));
  // Shows something beside the result, as IPython.display does: text or bytes of a MIME type.
  void Display(std::string_view mime_type, Value data);
};

// The arguments of one call: every parameter of the spec is bound, defaults filled in.
class Arguments {
 public:
  explicit Arguments(Value::Map bound) : bound_(std::move(bound)) {}
  const Value* Find(std::string_view name) const;
  const Value::Map& all() const { return bound_; }
  Value::Map Take() && { return std::move(bound_); }

 private:
  Value::Map bound_;
};

// An error whose `code` is kInvalidArgument is a TypeError or ValueError in the cell; others are ToolError.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const = 0;
  // Called on a thread of the dispatcher (one that is quick: of the cell), possibly from several at once.
  // Exceptions are caught and reach the cell as errors.
  virtual Result<Value> Call(const Arguments& arguments, CallContext& context) = 0;
  // The tool that is called for more where the spec says is_stream: null otherwise.
  virtual std::shared_ptr<Tool> continuation() const { return nullptr; }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_TOOL_H_
