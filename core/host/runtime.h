// Runtime: opens sessions and answers questions about code without running it.
//
// Thread-safe. It owns one warm template process per policy image and the inspector; all of them end with it.
#ifndef GLOVEPORT_CORE_HOST_RUNTIME_H_
#define GLOVEPORT_CORE_HOST_RUNTIME_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/decision_hook.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/patience.h"
#include "gloveport/core/host/session.h"
#include "gloveport/policy/policy.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

// When modules of the standard library are imported. In the degraded mode, where cells cannot load native
// code, always ahead.
enum class Imports {
  kAhead,      // before any session starts: those that cells often need, and those of the policy's "preload"
  kWhenNeeded  // by the cell that needs one, at its cost: a runtime of one session has its first result
               // sooner
};

struct RuntimeOptions {
  std::filesystem::path interp_path;  // empty: found beside the program, or where Gloveport was installed
  std::size_t min_ready =
      1;  // sessions kept ready per policy image in use, and inspectors; 0: fork when asked
  std::size_t max_sessions = 4096;   // Open beyond that is kResourceExhausted
  std::size_t max_async_runs = 256;  // threads for Session::RunAsync; they come and go with the runs
  Imports imports = Imports::kAhead;
  Patience patience;                   // with children that do not answer: kDeadlineExceeded
  std::shared_ptr<EventSink> record;   // told of every session, besides the session's own sink; may be null
  std::shared_ptr<DecisionHook> hook;  // of sessions that bring none of their own; may be null
};

struct SessionOptions {
  Policy policy;
  std::shared_ptr<const ToolRegistry> tools;     // may be null
  std::optional<std::filesystem::path> workdir;  // host folder bound at /workdir; absent: a sized tmpfs
  std::shared_ptr<EventSink> sink;               // may be null
  std::shared_ptr<Approver> approver;            // null: what the policy asks for is denied
  // May make what the policy says of cells and tool calls stricter; null: nobody is asked. Cells that run
  // with InspectMode::kOff are not judged, by nobody.
  std::shared_ptr<DecisionHook> hook;
  std::chrono::milliseconds hook_time = kDefaultHookTime;  // no answer by then is a denial
  // In place of the policy's: the order of sets, random, numpy.random, uuid4, os.urandom and secrets repeat.
  // Each seed takes a template of its own, of which a runtime keeps the last few.
  std::optional<std::uint64_t> seed;
  // Both close the session, as Close does: the one when no call was made for so long (a call that is running,
  // or a RunAsync that waits, is none), the other so long after it was opened or branched, a running cell
  // included. From 1 ms.
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::optional<std::chrono::milliseconds> time_to_live;
};

// Whether a text is Python, for the action parser.
struct SyntaxInfo {
  bool complete = false;    // compiles as it stands
  bool incomplete = false;  // the beginning of something longer
  bool has_action = false;  // contains a call, an import or an assignment
  std::string message;      // of the SyntaxError, if not complete
  int line = 0;
};

// An argument of a tool call as the cell's text has it.
struct CodeArgument {
  std::string name;                 // by keyword; "*" or "**" for what is spread; empty: by position
  int position = -1;                // 0-based, where there is no name
  std::optional<std::string> json;  // the value, where the text tells it
};

// Something in a cell that a policy has a word about, refused or not.
struct CodeUse {
  std::string kind;  // "import", "builtin", "attribute", "tool"
  std::string name;
  int line = 0;    // 1-based
  int column = 0;  // 1-based, in characters
  // Of a tool only:
  std::int64_t count = 1;  // how often it is called, as far as the text tells
  bool exact = true;       // else `count` is the least, and `notes` say why
  double amount = 0;       // by the policy's prices
  std::vector<CodeArgument> arguments;
  std::vector<std::string> notes;
};

struct Explanation {
  Verdict verdict;
  std::vector<CodeUse> uses;  // in text order; empty where the code is no Python
};

struct SchemaError {
  std::string path;  // JSON Pointer to the offending part; "" for the whole value
  std::string message;
};

class Runtime {
 public:
  // kNotFound when gloveport-interp is not there. Starts no process yet.
  static Result<std::unique_ptr<Runtime>> Create(const RuntimeOptions& options = {});
  virtual ~Runtime() = default;

  // kConfinementUnavailable when a layer that the policy requires cannot be had, with the remedy in the hint.
  virtual Result<std::unique_ptr<Session>> Open(SessionOptions options) = 0;

  // What the policy says of a cell; `tools` are names that exist for it besides Python's own.
  virtual Result<Verdict> Check(const Policy& policy, std::string_view code,
                                const std::vector<std::string>& tools = {}) = 0;
  // Check's verdict, and all that the code uses that the policy has a word about.
  virtual Result<Explanation> Explain(const Policy& policy, std::string_view code,
                                      const std::vector<std::string>& tools = {}) = 0;
  virtual Result<SyntaxInfo> Syntax(std::string_view code) = 0;
  // JSON Schema 2020-12; a remote $ref or a schema that is none is kInvalidArgument. Empty: valid.
  virtual Result<std::vector<SchemaError>> Validate(const Value& value, const Value& schema) = 0;

  // Tries each layer in a throw-away child and says how it stands on this machine.
  virtual Result<std::vector<LayerStatus>> ProbeLayers() = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_RUNTIME_H_
