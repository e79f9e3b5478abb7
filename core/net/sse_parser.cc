#include "gloveport/core/net/sse_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace gloveport {
namespace {

constexpr std::size_t kMaxIdBytes = 1024;
constexpr long kLongestRetryMs = 60'000;

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
  return TakeField(field, value);
}

Status SseParser::TakeField(std::string_view field, std::string_view value) {
  if (field == "event") {
    event_.name = value;
  } else if (field == "data") {
    if (value.size() + 1 > limits_.max_event_bytes - event_.data.size()) {
      return TooLong("an event", limits_.max_event_bytes);
    }
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (field == "id") {
    // It comes back in a header field: what could not stand there is none.
    const bool plain = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
    if (plain && value.size() <= kMaxIdBytes) id_ = value;
  } else if (field == "retry") {
    long wait = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), wait);
    if (error == std::errc() && end == value.data() + value.size() && wait >= 0)
      retry_ = std::chrono::milliseconds(std::min(wait, kLongestRetryMs));
  }
  return {};
}

void SseParser::Restart() {
  line_.clear();
  event_ = {};
  has_data_ = false;
  after_return_ = false;
  first_line_ = true;
  id_ = last_id_;
}

Status SseParser::Dispatch() {
  last_id_ = id_;
  SseEvent event = std::exchange(event_, {});
  if (!std::exchange(has_data_, false)) return {};
  return sink_(std::move(event));
}

}  // namespace gloveport
