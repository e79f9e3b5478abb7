// EventSink: what records, user interfaces and tests implement to watch runs as they happen.
//
// Calls come from the thread that runs the cell, or from a dispatcher thread for tool calls; an
// implementation must be thread-safe and quick. Text is as the session wrote it: escape it before showing it
// in a terminal.
#ifndef GLOVEPORT_CORE_HOST_EVENT_SINK_H_
#define GLOVEPORT_CORE_HOST_EVENT_SINK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/host/outcome.h"

namespace gloveport {

enum class Stream { kStdout, kStderr };

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void OnCellStart(std::string_view /*session*/, std::uint32_t /*cell*/, std::string_view /*code*/) {}
  virtual void OnVerdict(std::string_view /*session*/, std::uint32_t /*cell*/, const Verdict&) {}
  virtual void OnOutput(std::string_view /*session*/, std::uint32_t /*cell*/, Stream,
                        std::string_view /*text*/) {}
  virtual void OnToolCall(std::string_view /*session*/, std::uint32_t /*cell*/, const ToolCallRecord&) {}
  virtual void OnDisplay(std::string_view /*session*/, std::uint32_t /*cell*/, const Value& /*bundle*/) {}
  virtual void OnRefusal(std::string_view /*session*/, std::uint32_t /*cell*/, const Refusal&) {}
  virtual void OnCellEnd(std::string_view /*session*/, const CellResult&) {}
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_EVENT_SINK_H_
