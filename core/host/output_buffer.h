// OutputBuffer: what one stream of a cell wrote, cut in the middle at a limit: head and tail are kept, the
// rest is counted. Memory stays within the limit however much is written.
#ifndef GLOVEPORT_CORE_HOST_OUTPUT_BUFFER_H_
#define GLOVEPORT_CORE_HOST_OUTPUT_BUFFER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace gloveport {

class OutputBuffer {
 public:
  explicit OutputBuffer(std::size_t limit_bytes)
      : head_limit_(limit_bytes / 2), tail_limit_(limit_bytes - limit_bytes / 2) {}

  void Append(std::string_view bytes);

  std::uint64_t total_bytes() const { return total_; }
  std::uint64_t cut_bytes() const { return total_ - head_.size() - TailSize(); }
  // Valid UTF-8: bytes that are none, also where the cut went through a character, become U+FFFD.
  std::string Text() const;

 private:
  std::size_t TailSize() const { return std::min(tail_.size(), tail_limit_); }

  std::size_t head_limit_;
  std::size_t tail_limit_;
  std::string head_;
  std::string tail_;  // may grow to twice its limit before it is cut back
  std::uint64_t total_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_OUTPUT_BUFFER_H_
