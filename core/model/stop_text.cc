#include "gloveport/core/model/stop_text.h"

#include <algorithm>
#include <utility>

namespace gloveport {
namespace {

// The length of the longest end of `text` with which `sequence` begins, and less than all of it.
std::size_t Overlap(std::string_view text, std::string_view sequence) {
  std::size_t length = std::min(text.size(), sequence.size() - 1);
  while (length > 0 && !sequence.starts_with(text.substr(text.size() - length))) --length;
  return length;
}

}  // namespace

StopCutter::StopCutter(std::vector<std::string> stop) : stop_(std::move(stop)) {
  std::erase_if(stop_, [](const std::string& sequence) { return sequence.empty(); });
}

std::string StopCutter::Take(std::string_view piece) {
  if (stopped_) return "";
  if (stop_.empty()) return std::string(piece);
  held_ += piece;
  auto first = std::string::npos;
  for (const std::string& sequence : stop_) first = std::min(first, held_.find(sequence));
  if (first != std::string::npos) {
    stopped_ = true;
    return std::exchange(held_, {}).substr(0, first);
  }
  std::size_t keep = 0;
  for (const std::string& sequence : stop_) keep = std::max(keep, Overlap(held_, sequence));
  std::string free = held_.substr(0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return free;
}

std::string StopCutter::End() { return stopped_ ? "" : std::exchange(held_, {}); }

}  // namespace gloveport
