// UsageMeter: what one cell takes of CPU and memory, as the host sees it in the clocks and /proc of the
// process.
//
// Not thread-safe.
#ifndef GLOVEPORT_CORE_HOST_USAGE_METER_H_
#define GLOVEPORT_CORE_HOST_USAGE_METER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "gloveport/core/host/call_limits.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/proc_stat.h"

namespace gloveport {

// Whether page faults, context switches and bytes are counted too.
enum class Counters { kOff, kOn };

class UsageMeter {
 public:
  // Begins now. CPU time that threads of the process took since the last cell is added to the totals, which
  // outlive the meter.
  UsageMeter(pid_t process, SessionTotals& totals, Counters counters = Counters::kOff);

  void SampleCpu();
  // False where the process is gone.
  bool SampleMemory();
  // At the end of the cell. What a process that is gone took since the last sample is not known.
  void Finish(SessionState state);
  void Fill(Usage& usage) const;

  std::chrono::nanoseconds wall() const { return std::chrono::steady_clock::now() - start_; }
  std::chrono::nanoseconds cpu() const { return cpu_used_; }
  std::chrono::nanoseconds total_cpu() const {
    return totals_.cpu + cpu_used_;
  }                                             // of the session, until Finish
  std::uint64_t resident_growth_bytes() const;  // at the last sample
  std::uint64_t peak_growth_bytes() const;

 private:
  const pid_t process_;
  SessionTotals& totals_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::nanoseconds cpu_before_{0};
  std::chrono::nanoseconds cpu_used_{0};
  std::chrono::nanoseconds wall_used_{0};
  CpuUse ticks_before_;
  CpuUse ticks_used_;
  std::optional<ProcessCounters> counters_before_;
  std::optional<ProcessCounters> counters_after_;
  std::uint64_t resident_before_ = 0;
  std::uint64_t resident_ = 0;
  std::uint64_t peak_resident_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_USAGE_METER_H_
