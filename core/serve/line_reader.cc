#include "gloveport/core/serve/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace gloveport {
namespace {

constexpr std::size_t kKeptOfLongLine = 4096;  // enough to find the id in what is dropped

}  // namespace

LineReader::Event LineReader::Deliver(std::string& line, std::size_t end) {
  line = buffer_.substr(0, end);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  buffer_.erase(0, end + 1);
  scanned_ = 0;
  return std::exchange(dropping_, false) ? Event::kTooLong : Event::kLine;
}

bool LineReader::TakeLine(std::string& line, Event& event) {
  const std::size_t end = buffer_.find('\n', scanned_);
  if (end != std::string::npos) {
    const bool too_long = end > max_line_bytes_;
    if (too_long && !dropping_) dropping_ = true;
    event = Deliver(line, end);
    if (event == Event::kTooLong && line.size() > kKeptOfLongLine) line.resize(kKeptOfLongLine);
    return true;
  }
  if (buffer_.size() > max_line_bytes_) dropping_ = true;
  if (dropping_ && buffer_.size() > kKeptOfLongLine) buffer_.resize(kKeptOfLongLine);
  scanned_ = buffer_.size();
  return false;
}

Result<bool> LineReader::Fill() {
  std::array<pollfd, 2> waits = {pollfd{input_fd_, POLLIN, 0}, pollfd{stop_fd_, POLLIN, 0}};
  while (true) {
    if (::poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return FailErrno("cannot wait for the client's next line", errno);
    }
    if (waits[1].revents != 0) return false;
    std::array<char, 65536> block;
    const ssize_t got = ::read(input_fd_, block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return FailErrno("cannot read the client's next line", errno);
    if (got == 0) at_end_ = true;
    buffer_.append(block.data(), static_cast<std::size_t>(got));
    return true;
  }
}

Result<LineReader::Event> LineReader::Next(std::string& line) {
  while (true) {
    Event event = Event::kEnd;
    if (TakeLine(line, event)) return event;
    if (at_end_ && buffer_.empty()) return Event::kEnd;
    if (at_end_) return Deliver(line, buffer_.size());
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return Event::kStopped;
  }
}

}  // namespace gloveport
