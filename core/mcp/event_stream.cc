#include "gloveport/core/mcp/event_stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace gloveport {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxIdBytes = 1024;
constexpr long kLongestRetryMs = 60'000;

}  // namespace

Result<std::vector<StreamEvent>> EventStreamReader::Feed(std::string_view piece) {
  std::vector<StreamEvent> events;
  while (!piece.empty()) {
    if (std::exchange(after_cr_, false) && piece.front() == '\n') {  // CR and LF are one line end
      piece.remove_prefix(1);
      continue;
    }
    const auto end = piece.find_first_of("\r\n");
    line_ += piece.substr(0, end);
    if (line_.size() + event_.data.size() > max_event_bytes_) {
      return Fail(ErrorCode::kResourceExhausted,
                  fmt::format("an event of the stream is longer than {} bytes", max_event_bytes_));
    }
    if (end == std::string_view::npos) break;
    after_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    TakeLine(std::exchange(line_, {}), events);
  }
  return events;
}

void EventStreamReader::Restart() {
  line_.clear();
  event_ = {};
  has_data_ = false;
  after_cr_ = false;
  at_start_ = true;
  id_ = last_id_;
}

void EventStreamReader::TakeLine(std::string_view line, std::vector<StreamEvent>& events) {
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    last_id_ = id_;
    if (has_data_) {
      if (event_.type.empty()) event_.type = "message";
      events.push_back(std::move(event_));
    }
    event_ = {};
    has_data_ = false;
    return;
  }
  const auto colon = line.find(':');
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  TakeField(line.substr(0, colon), value);
}

void EventStreamReader::TakeField(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id") {
    // It comes back in a header field: what could not stand there is none.
    const bool plain = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
    if (plain && value.size() <= kMaxIdBytes) id_ = value;
  } else if (name == "retry") {
    long wait = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), wait);
    if (error == std::errc() && end == value.data() + value.size() && wait >= 0)
      retry_ = std::chrono::milliseconds(std::min(wait, kLongestRetryMs));
  }
}

}  // namespace gloveport
