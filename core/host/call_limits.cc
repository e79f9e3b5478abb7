#include "gloveport/core/host/call_limits.h"

#include <string_view>

#include "gloveport/core/host/limit_hit.h"

namespace gloveport {
namespace {

LimitHit Hit(std::string_view name, std::uint64_t value, std::uint64_t used) {
  return MakeLimitHit(name, static_cast<double>(value), static_cast<double>(used));
}

}  // namespace

std::optional<LimitHit> CallLimits::Admit(std::uint64_t argument_bytes, Clock::time_point now) {
  if (now - totals_.second_began >= std::chrono::seconds(1)) {
    totals_.second_began = now;
    totals_.calls_in_second = 0;
  }
  ++calls_;
  ++totals_.tool_calls;
  ++totals_.calls_in_second;
  if (calls_ > limits_.tool_calls) return Hit("tool_calls", limits_.tool_calls, calls_);
  if (totals_.tool_calls > limits_.total_tool_calls)
    return Hit("total_tool_calls", limits_.total_tool_calls, totals_.tool_calls);
  if (totals_.calls_in_second > limits_.tool_calls_per_s)
    return Hit("tool_calls_per_s", limits_.tool_calls_per_s, totals_.calls_in_second);
  return CheckSize(argument_bytes);
}

std::optional<LimitHit> CallLimits::CheckSize(std::uint64_t bytes) const {
  if (bytes <= limits_.tool_call_kib * 1024) return std::nullopt;
  return Hit("tool_call_kib", limits_.tool_call_kib, (bytes + 1023) / 1024);
}

}  // namespace gloveport
