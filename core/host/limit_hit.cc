#include "gloveport/core/host/limit_hit.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gloveport {
namespace {

struct Kind {
  std::string_view name;
  std::string_view unit;
  const char* message;  // of the value
};

constexpr std::array kKinds = {
    Kind{"wall", "s", "wall time: {:g} s limit reached"},
    Kind{"cpu", "s", "CPU time: {:g} s limit reached"},
    Kind{"total_cpu", "s", "CPU time: {:g} s limit of the whole session reached"},
    Kind{"memory", "MiB", "memory: {:g} MiB limit reached"},
    Kind{"disk", "MiB", "disk: {:g} MiB limit reached by what was added to the work folder"},
    Kind{"output", "KiB", "output: {:g} KiB limit reached, many times what is kept"},
    Kind{"total_output", "MiB", "output: {:g} MiB limit of the whole session reached"},
    Kind{"result", "MiB", "result: {:g} MiB limit reached by what one cell sends to the host"},
    Kind{"tool_calls", "calls", "tool calls: limit of {:g} in one cell reached"},
    Kind{"total_tool_calls", "calls", "tool calls: limit of {:g} in the whole session reached"},
    Kind{"tool_calls_per_s", "calls", "tool calls: limit of {:g} within a second reached"},
    Kind{"tool_call_kib", "KiB", "tool call: {:g} KiB limit of arguments or result reached"},
};

}  // namespace

LimitHit MakeLimitHit(std::string_view name, double value, double used) {
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == kKinds.end())
    return {std::string(name), fmt::format("{} limit reached", name), value, used, ""};
  return {std::string(name), fmt::format(fmt::runtime(kind->message), value), value, used,
          std::string(kind->unit)};
}

}  // namespace gloveport
