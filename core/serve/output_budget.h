// OutputBudget: how much of a cell's output is passed on as it is written: as much as its policy keeps of it.
// What goes beyond is counted by the host and reported as truncated. Not thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_OUTPUT_BUDGET_H_
#define GLOVEPORT_CORE_SERVE_OUTPUT_BUDGET_H_

#include <array>
#include <cstddef>
#include <string_view>

#include "gloveport/core/host/event_sink.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

class OutputBudget {
 public:
  // Begins a cell.
  void Reset(const Limits& limits) { left_.fill(limits.output_kib * 1024); }

  // The part of `text` that may still be passed on.
  std::string_view Take(Stream stream, std::string_view text) {
    std::size_t& left = left_[stream == Stream::kStdout ? 0 : 1];
    const std::string_view part = text.substr(0, left);
    left -= part.size();
    return part;
  }

 private:
  std::array<std::size_t, 2> left_ = {0, 0};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_OUTPUT_BUDGET_H_
