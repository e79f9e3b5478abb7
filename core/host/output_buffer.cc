#include "gloveport/core/host/output_buffer.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"

namespace gloveport {

void OutputBuffer::Append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t to_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() > tail_limit_) bytes.remove_prefix(bytes.size() - tail_limit_);
  tail_.append(bytes);
  if (tail_.size() > 2 * tail_limit_) tail_.erase(0, tail_.size() - tail_limit_);
}

std::string OutputBuffer::Text() const {
  const std::string_view tail = std::string_view(tail_).substr(tail_.size() - TailSize());
  if (cut_bytes() == 0) return ToValidUtf8(head_ + std::string(tail));
  return ToValidUtf8(head_) + fmt::format("\n[... {} bytes cut ...]\n", cut_bytes()) + ToValidUtf8(tail);
}

}  // namespace gloveport
