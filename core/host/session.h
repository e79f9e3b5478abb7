// Session: a confined Python process with a namespace that keeps its state over cells.
//
// One cell runs at a time: Run, Interrupt and Close may be called from any thread, a second Run waits for the
// first. Afterwards, and when SessionOptions::idle_timeout or time_to_live has ended it, every call is
// kClosed with the reason. A session whose process was lost (outcome kCrashed, kKilled ...) starts a fresh
// one with the next call. The Runtime that opened it must outlive it.
#ifndef GLOVEPORT_CORE_HOST_SESSION_H_
#define GLOVEPORT_CORE_HOST_SESSION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/policy/policy.h"
#include "gloveport/tools/approval.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

// Whether a cell is judged before it runs. kAsPolicySays inspects; kOff is an error where the policy requires
// it.
enum class InspectMode { kAsPolicySays, kOff };

struct RunOptions {
  std::optional<std::chrono::milliseconds> timeout;  // wall clock; never more than the policy's limit allows
  InspectMode inspect = InspectMode::kAsPolicySays;
  // How far the policy's clock has come when the cell starts, for replays; absent: as far as the real one has
  // since the session was opened. Without effect where the clock is real.
  std::optional<std::chrono::nanoseconds> clock_offset;
};

struct FileInfo {
  std::string path;  // relative to the work folder, '/' separated
  std::uint64_t size_bytes = 0;
};

// What a person allowed for good, until it is revoked or the session ends.
struct Grant {
  std::string covers;  // in words, as ApprovalRequest::grant
  std::string by;      // who gave it
  std::uint64_t uses = 0;
};

// What an editor asks about code that is being written. Positions count characters from 0. All of it is told
// by the session about itself (interpreter).
struct Completions {
  std::vector<std::string> matches;  // sorted, 500 at most
  std::size_t start = 0;             // the text from here to `end` is what each match takes the place of
  std::size_t end = 0;
};

struct NameInfo {
  bool found = false;  // nothing below but `name` otherwise
  std::string name;    // the dotted name at the cursor
  std::string type;    // name of its class
  std::string doc;
  std::optional<std::string> signature;  // "name(parameters) -> returns", of what can be called
  std::optional<std::string> repr;       // of what cannot
  std::string file;                      // that it comes from; empty where none is known
};

enum class Completeness { kComplete, kIncomplete, kInvalid };
std::string_view CompletenessName(Completeness completeness);  // "complete", "incomplete", "invalid"

struct CodeState {
  Completeness completeness = Completeness::kComplete;
  std::string indent;  // of the next line, where the code is incomplete
};

struct BranchOptions {
  std::shared_ptr<const ToolRegistry> tools;  // of the same names and parameters as the original's
  std::shared_ptr<EventSink> sink;
  std::shared_ptr<Approver> approver;
};

class Session {
 public:
  virtual ~Session() = default;

  virtual const std::string& id() const = 0;
  virtual const Policy& policy() const = 0;
  virtual const std::vector<LayerStatus>& layers() const = 0;

  // Runs one cell. The outcome is a value: an error here means that nothing was run (for example
  // kInvalidArgument for text that is no UTF-8, kDenied for InspectMode::kOff where inspection is required,
  // kClosed).
  virtual Result<CellResult> Run(std::string_view code, const RunOptions& options = {}) = 0;

  // The same without a thread that waits: returns at once, and `done` is called exactly once with what Run
  // would have returned. The runs of a session are done one after the other in the order of the calls (a
  // blocking Run takes its turn anywhere between them), those of different sessions beside each other, on
  // threads of the runtime: at most RuntimeOptions::max_async_runs at a time, the others wait, each session
  // in turn. `done` is called on such a thread before the session's next run begins. It may call anything,
  // also RunAsync, Close and the destructor of this session; it must not throw, and what it does keeps the
  // thread. Close lets the running cell end, whose `done` gets its result, and then completes what waits with
  // kClosed, on the thread that closes and before Close returns; nothing is completed after that but a
  // RunAsync on the closed session: kClosed, on the calling thread. So no lock that a `done` takes may be
  // held over RunAsync or Close.
  virtual void RunAsync(std::string code, RunOptions options,
                        std::function<void(Result<CellResult>)> done) = 0;

  // RunAsync with a future. It may be waited for anywhere but in a `done`, whose thread it may need.
  std::future<Result<CellResult>> Start(std::string code, const RunOptions& options = {});

  // Stops the running cell as Ctrl-C would in a notebook: KeyboardInterrupt. Does nothing where none runs.
  virtual Status Interrupt() = 0;

  // Variables of __main__. Set: any Value; Get: kNotFound for a name that is not there.
  virtual Status SetVariable(std::string_view name, const Value& value) = 0;
  virtual Result<Value> GetVariable(std::string_view name) = 0;

  // Questions of an editor, answered between two cells (they wait for a running one). `cursor`: where it is
  // in the code; absent: at its end. Live objects are looked at, so code of cells may run (__dir__,
  // __getattr__,
  // __repr__; no property). It is stopped after Patience::question: kDeadlineExceeded, and the variables are
  // kept. Where it cannot be stopped, or ends the process, the error says that they are lost.
  virtual Result<Completions> Complete(std::string_view code, std::optional<std::size_t> cursor = {}) = 0;
  virtual Result<NameInfo> Inspect(std::string_view code, std::optional<std::size_t> cursor = {}) = 0;
  // Whether a cell can be run as it stands, for a prompt that decides between running and a next line.
  virtual Result<CodeState> IsComplete(std::string_view code) = 0;

  // Files of the work folder; paths are relative and stay below it, regular files only.
  virtual Status PutFile(std::string_view path, std::span<const std::byte> data) = 0;
  virtual Result<std::vector<std::byte>> GetFile(std::string_view path) = 0;
  virtual Result<std::vector<FileInfo>> ListFiles() = 0;
  virtual Status RemoveFile(std::string_view path) = 0;

  // ---- copies of the session as it is between two cells ----
  //
  // A copy is a fork: variables, modules, open files and the state of random generators are as they were; the
  // work folder is not copied, all of them see the same files. kDenied, with the reason, where a session
  // cannot be copied: threads are alive, or tasks of asyncio wait for another cell. kResourceExhausted where
  // the policy's limits "copies" or "memory_mib" stand against it, which a session and its copies share. A
  // session that is lost meanwhile begins anew with the next call, as always.

  // Keeps a copy to go back to and returns its name. It exists until it is forgotten or the session is
  // closed.
  virtual Result<std::string> Checkpoint() = 0;
  // Goes on from a checkpoint, which can be gone back to again; empty: from the newest. kNotFound where there
  // is none. A checkpoint whose process broke meanwhile is forgotten, as the error says; the session stays as
  // it is.
  virtual Status Rollback(std::string_view checkpoint = "") = 0;
  virtual Status Forget(std::string_view checkpoint) = 0;

  // `count` sessions that go on from here, each on its own, with the same policy. They outlive this one. All
  // or none. `options` is asked for each by its number from 0; without it all have this session's tools, sink
  // and approver. What was granted here is granted there.
  virtual Result<std::vector<std::unique_ptr<Session>>> Branch(
      std::size_t count, const std::function<BranchOptions(std::size_t)>& options = {}) = 0;

  // ---- what a person allowed for good (ApprovalDecision::always) ----
  virtual std::vector<Grant> Grants() const = 0;
  virtual Status RevokeGrant(std::string_view covers) = 0;  // kNotFound

  // Ends the process; a running cell is interrupted first. Idempotent; the destructor does the same.
  virtual void Close() = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_H_
