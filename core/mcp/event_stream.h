// EventStreamReader: server-sent events (text/event-stream, as the HTML standard has them) out of bytes that
// come in pieces. Not thread-safe.
#ifndef GLOVEPORT_CORE_MCP_EVENT_STREAM_H_
#define GLOVEPORT_CORE_MCP_EVENT_STREAM_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct StreamEvent {
  std::string type;  // "message" where the server names none
  std::string data;
};

class EventStreamReader {
 public:
  explicit EventStreamReader(std::size_t max_event_bytes) : max_event_bytes_(max_event_bytes) {}

  // The events that `piece` completes, in order. kResourceExhausted for a line or an event beyond the limit;
  // nothing more is to be fed then.
  Result<std::vector<StreamEvent>> Feed(std::string_view piece);

  // Another stream follows, which goes on after last_id(): forgets what was not complete.
  void Restart();

  const std::string& last_id() const { return last_id_; }  // of the last event that had one; empty: none
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }  // that the server asked for

 private:
  void TakeLine(std::string_view line, std::vector<StreamEvent>& events);
  void TakeField(std::string_view name, std::string_view value);

  const std::size_t max_event_bytes_;
  std::string line_;  // what has no line end yet
  bool after_cr_ = false;
  bool at_start_ = true;
  StreamEvent event_;
  bool has_data_ = false;
  std::string id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_EVENT_STREAM_H_
