// LineReader: lines from a descriptor, none longer than a limit. Not thread-safe; borrows its descriptors.
#ifndef GLOVEPORT_CORE_SERVE_LINE_READER_H_
#define GLOVEPORT_CORE_SERVE_LINE_READER_H_

#include <cstddef>
#include <string>

#include "gloveport/core/base/result.h"

namespace gloveport {

class LineReader {
 public:
  enum class Event {
    kLine,     // a line is in `line`, without its line end
    kTooLong,  // a line beyond the limit was read and dropped; `line` holds its beginning
    kEnd,      // end of the input; a last line without a line end was delivered before
    kStopped,  // stop_fd became readable
  };

  LineReader(int input_fd, int stop_fd, std::size_t max_line_bytes)
      : input_fd_(input_fd), stop_fd_(stop_fd), max_line_bytes_(max_line_bytes) {}

  // Blocks until one of the events. kIo when reading fails.
  Result<Event> Next(std::string& line);

 private:
  bool TakeLine(std::string& line, Event& event);
  Event Deliver(std::string& line, std::size_t end);
  Result<bool> Fill();  // false when stopped

  int input_fd_;
  int stop_fd_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t scanned_ = 0;  // no line end in buffer_ before this place
  bool dropping_ = false;    // inside a line that is too long; buffer_ keeps its beginning only
  bool at_end_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_LINE_READER_H_
