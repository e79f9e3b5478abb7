// EventSink: what records, user interfaces and tests implement to watch runs as they happen.
//
// Calls come from the thread that runs the cell or uses the session; an implementation must be thread-safe
// and quick. Text is as the session wrote it: escape it before showing it in a terminal.
#ifndef GLOVEPORT_CORE_HOST_EVENT_SINK_H_
#define GLOVEPORT_CORE_HOST_EVENT_SINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/policy/policy.h"
#include "gloveport/tools/approval.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

enum class Stream { kStdout, kStderr };

// How one layer of confinement stands: in a session, or on this machine (doctor).
struct LayerStatus {
  std::string name;  // seccomp, own_root, landlock, no_new_privs, capabilities, rlimits, mdwe, cgroup, ...
  bool active = false;
  std::string detail;  // how it was proven, or why it is missing
  std::string remedy;  // what to do where it is missing
};

// A file of the runtime and what it held when the session began.
struct RuntimeFile {
  std::string name;    // of the module, or "interpreter"
  std::string path;    // of the host; empty where the module is built in
  std::string sha256;  // hex; empty where it could not be read
};

// What a session begins with.
struct SessionFacts {
  std::string session;
  std::string branch_of;  // the session that it was copied from; empty for one of its own
  Policy policy;
  std::vector<LayerStatus> layers;
  std::vector<ToolSpec> tools;  // those that exist for its cells
  std::optional<std::uint64_t> seed;
  std::optional<std::string> workdir;  // host folder
  std::string python_version;          // (interpreter)
  std::vector<RuntimeFile> image;      // programs and libraries of Gloveport's that the template consists of
  std::vector<RuntimeFile> modules;    // (interpreter) preloaded in the template; the hashes are the host's
};

struct FileDigest {
  std::string path;  // relative to the work folder
  std::uint64_t size_bytes = 0;
  std::string sha256;  // hex; empty where it was too large to be read
};

// What became of a session's state besides running cells.
struct StateChange {
  // "checkpoint", "rollback", "forget", "branch"; "restored": the copy from before a cell took the place of a
  // process that was lost; "fresh": a new process did.
  std::string kind;
  std::string name;  // of the checkpoint, or the id of the branch
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void OnSessionOpen(const SessionFacts&) {}
  virtual void OnSessionClose(std::string_view /*session*/) {}
  virtual void OnStateChange(std::string_view /*session*/, const StateChange&) {}
  virtual void OnVariableSet(std::string_view /*session*/, std::string_view /*name*/, const Value&) {}
  virtual void OnFilePut(std::string_view /*session*/, std::string_view /*path*/,
                         std::span<const std::byte>) {}
  // What the work folder holds when the session closes; not where its process was lost.
  virtual void OnFilesAtEnd(std::string_view /*session*/, const std::vector<FileDigest>&) {}
  virtual void OnFileRemoved(std::string_view /*session*/, std::string_view /*path*/) {}
  // Whether Usage is to have page faults, context switches and bytes read and written, which takes time.
  virtual bool wants_counters() const { return false; }
  virtual void OnCellStart(std::string_view /*session*/, std::uint32_t /*cell*/, std::string_view /*code*/) {}
  virtual void OnVerdict(std::string_view /*session*/, std::uint32_t /*cell*/, const Verdict&) {}
  virtual void OnOutput(std::string_view /*session*/, std::uint32_t /*cell*/, Stream,
                        std::string_view /*text*/) {}
  virtual void OnApprovalAsked(std::string_view /*session*/, std::uint32_t /*cell*/, const ApprovalRequest&) {
  }
  virtual void OnApprovalDecided(std::string_view /*session*/, std::uint32_t /*cell*/, const ApprovalRequest&,
                                 const ApprovalDecision&) {}
  virtual void OnGrantRevoked(std::string_view /*session*/, std::string_view /*grant*/) {}
  // Just before the tool is called, and when the call has ended in whatever way. `call` tells calls of a cell
  // apart.
  virtual void OnToolStart(std::string_view /*session*/, std::uint32_t /*cell*/, std::uint64_t /*call*/,
                           std::string_view /*tool*/, const Value& /*arguments*/) {}
  // What a running tool says of itself, on the thread that it runs on.
  virtual void OnToolProgress(std::string_view /*session*/, std::uint32_t /*cell*/, std::uint64_t /*call*/,
                              std::string_view /*tool*/, const ToolProgress&) {}
  virtual void OnToolCall(std::string_view /*session*/, std::uint32_t /*cell*/, const ToolCallRecord&) {}
  virtual void OnDisplay(std::string_view /*session*/, std::uint32_t /*cell*/, const Value& /*bundle*/) {}
  virtual void OnRefusal(std::string_view /*session*/, std::uint32_t /*cell*/, const Refusal&) {}
  // A file that the cell opened: each (source, path, mode) once.
  virtual void OnFileOpen(std::string_view /*session*/, std::uint32_t /*cell*/, const FileOpen&) {}
  // A module that the cell itself imported by name while it ran, each once: the interpreter's word.
  virtual void OnImport(std::string_view /*session*/, std::uint32_t /*cell*/, std::string_view /*module*/,
                        bool /*allowed*/) {}
  virtual void OnCellEnd(std::string_view /*session*/, const CellResult&) {}

  // Whether all that was told so far is safe. Asked before a cell runs and before what was approved does:
  // after an error neither happens.
  virtual Status Commit() { return {}; }
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_EVENT_SINK_H_
