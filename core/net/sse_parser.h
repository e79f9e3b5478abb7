// SseParser: server-sent events (text/event-stream, as the HTML standard defines them) out of bytes that
// arrive in pieces of any size, with a limit on the length of a line and of an event.
//
// Not thread-safe.
#ifndef GLOVEPORT_CORE_NET_SSE_PARSER_H_
#define GLOVEPORT_CORE_NET_SSE_PARSER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct SseEvent {
  std::string name;  // of the field "event"; empty for the default, "message"
  std::string data;  // the lines of "data", with line feeds between them
};

struct SseLimits {
  std::size_t max_line_bytes = 4u << 20;
  std::size_t max_event_bytes = 8u << 20;
};

class SseParser {
 public:
  // Takes one event; an error ends the reading and is passed on.
  using EventSink = std::function<Status(SseEvent event)>;

  explicit SseParser(EventSink sink, SseLimits limits = {}) : sink_(std::move(sink)), limits_(limits) {}

  // Hands every event that is complete with `bytes` to the sink. Comments, and events without data, are left
  // out. kResourceExhausted beyond the limits; after an error the parser is of no more use.
  Status Feed(std::string_view bytes);

  // At the orderly end of the stream: an event whose last empty line is missing counts too. (The standard
  // drops it; servers of models forget the line.)
  Status End();

  // For who takes a broken stream up again: the id of the last complete event that had one (empty: none), and
  // how long the server asks to wait (at most a minute).
  const std::string& last_id() const { return last_id_; }
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

  // Another stream follows, which goes on behind last_id(): forgets what was not complete.
  void Restart();

 private:
  Status TakeLine();
  Status TakeField(std::string_view field, std::string_view value);
  Status Dispatch();

  EventSink sink_;
  SseLimits limits_;
  std::string line_;
  SseEvent event_;
  std::string id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
  bool has_data_ = false;
  bool after_return_ = false;  // the last byte was CR: a LF behind it belongs to it
  bool first_line_ = true;     // may begin with a byte order mark
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_SSE_PARSER_H_
