// CellEvidence: what one cell was seen to open, import and be refused, by the interpreter's word and by the
// kernel's. Each thing is told to the sink once, as it is seen; the cell's result lists the first of them.
//
// Not thread-safe.
#ifndef GLOVEPORT_CORE_HOST_CELL_EVIDENCE_H_
#define GLOVEPORT_CORE_HOST_CELL_EVIDENCE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/syscall_witness.h"
#include "gloveport/core/wire/messages.h"

namespace gloveport {

class CellEvidence {
 public:
  // `session` and `sink` outlive this; `sink` may be null.
  CellEvidence(std::string_view session, std::uint32_t cell, EventSink* sink);

  // What the interpreter reports. An error: no interpreter sends that.
  Status Take(const wire::Event& event);
  // What the witness has seen of `process` since it was last asked. The call for which the process was ended,
  // if there is one: "ptrace(PTRACE_ATTACH 1)".
  std::optional<std::string> Take(SyscallWitness& witness, pid_t process);

  void AddRefusal(Refusal refusal) { AddRefusal(std::move(refusal), ""); }

  void Fill(Usage& usage);  // once, at the end

 private:
  void AddRefusal(Refusal refusal, std::string_view detail);
  void OnOpen(const Value& details);
  void OnImport(const Value& details);
  void AddOpen(FileOpen open);

  const std::string_view session_;
  const std::uint32_t cell_;
  EventSink* const sink_;
  std::size_t events_ = 0;
  std::set<std::string> files_read_;
  std::set<std::string> files_written_;
  std::set<std::pair<std::string, std::string>> refusals_seen_;
  std::vector<Refusal> refusals_;
  std::set<std::tuple<std::string, std::string, std::string, bool>> opens_seen_;
  std::size_t opens_bytes_ = 0;
  std::uint64_t opens_not_listed_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_CELL_EVIDENCE_H_
