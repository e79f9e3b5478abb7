// CallLimits: how many tool calls a cell may make, how fast and how large. And what a session has used of the
// limits that hold over all its cells.
#ifndef GLOVEPORT_CORE_HOST_CALL_LIMITS_H_
#define GLOVEPORT_CORE_HOST_CALL_LIMITS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/proc_stat.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// Summed up over the cells of one session, also where its process was replaced.
struct SessionTotals {
  std::chrono::nanoseconds cpu{0};
  std::uint64_t output_bytes = 0;
  std::uint64_t tool_calls = 0;

  // Of one process, at the end of its last cell. CPU time is counted between cells too: a thread may have
  // gone on.
  pid_t clock_of = -1;
  std::chrono::nanoseconds clock{0};
  CpuUse ticks;
  std::uint64_t resident_bytes = 0;

  // For the rate of calls.
  std::chrono::steady_clock::time_point second_began;
  std::uint64_t calls_in_second = 0;
};

class CallLimits {
 public:
  using Clock = std::chrono::steady_clock;

  // Both outlive this.
  CallLimits(const Limits& limits, SessionTotals& totals) : limits_(limits), totals_(totals) {}

  // Counts one call. What it is refused for, if it is.
  std::optional<LimitHit> Admit(std::uint64_t argument_bytes, Clock::time_point now = Clock::now());
  std::optional<LimitHit> CheckSize(std::uint64_t bytes) const;

  std::uint64_t calls() const { return calls_; }

 private:
  const Limits& limits_;
  SessionTotals& totals_;
  std::uint64_t calls_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_CALL_LIMITS_H_
