#include "gloveport/core/net/sse_parser.h"

#include <fmt/core.h>

#include <utility>

namespace gloveport {
namespace {

tl::unexpected<Error> TooLong(std::string_view what, std::size_t max_bytes) {
  return Fail(ErrorCode::kResourceExhausted,
              fmt::format("{} of the stream is longer than the {} bytes that are allowed", what, max_bytes));
}

}  // namespace

Status SseParser::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (part.size() > limits_.max_line_bytes - line_.size()) return TooLong("a line", limits_.max_line_bytes);
    line_.append(part);
    if (end == std::string_view::npos) return {};
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    RETURN_IF_ERROR(TakeLine());
  }
  return {};
}

Status SseParser::End() {
  if (!line_.empty()) RETURN_IF_ERROR(TakeLine());
  return Dispatch();
}

Status SseParser::TakeLine() {
  const std::string taken = std::exchange(line_, {});
  std::string_view line = taken;
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) return Dispatch();
  const auto colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    event_.name = value;
  } else if (field == "data") {
    if (value.size() + 1 > limits_.max_event_bytes - event_.data.size()) {
      return TooLong("an event", limits_.max_event_bytes);
    }
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  }
  return {};
}

Status SseParser::Dispatch() {
  SseEvent event = std::exchange(event_, {});
  if (!std::exchange(has_data_, false)) return {};
  return sink_(std::move(event));
}

}  // namespace gloveport
