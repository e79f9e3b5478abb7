#include "gloveport/core/host/usage_meter.h"

#include <algorithm>

namespace gloveport {
namespace {

constexpr std::chrono::milliseconds kTick{10};  // of the clock that knows user and system time apart

// What threads that have ended had counted is gone from the sum.
std::uint64_t Growth(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

}  // namespace

UsageMeter::UsageMeter(pid_t process, SessionTotals& totals, Counters counters)
    : process_(process),
      totals_(totals),
      start_(std::chrono::steady_clock::now()),
      cpu_before_(ReadCpuClock(process)) {
  const bool known = totals.clock_of == process;
  if (known) totals.cpu += cpu_before_ - totals.clock;
  ticks_before_ = ticks_used_ = known ? totals.ticks : CpuUse{};
  resident_before_ = resident_ = known ? totals.resident_bytes : ReadResidentBytes(process).now;
  if (counters == Counters::kOn) counters_before_ = ReadProcessCounters(process);
}

void UsageMeter::SampleCpu() {
  cpu_used_ = ReadCpuClock(process_) - cpu_before_;
  ticks_used_ = ReadCpuUse(process_);
}

bool UsageMeter::SampleMemory() {
  const auto memory = ReadMemoryUse(process_);
  if (!memory) return false;
  resident_ = memory->resident_bytes;
  peak_resident_ = std::max(peak_resident_, resident_);
  return true;
}

std::uint64_t UsageMeter::resident_growth_bytes() const {
  return std::max(resident_, resident_before_) - resident_before_;
}

std::uint64_t UsageMeter::peak_growth_bytes() const {
  return std::max(peak_resident_, resident_before_) - resident_before_;
}

void UsageMeter::Finish(SessionState state) {
  wall_used_ = wall();
  if (state != SessionState::kLost) {
    cpu_used_ = ReadCpuClock(process_) - cpu_before_;
    // Less than a tick of CPU time is too little for its parts to be told.
    if (cpu_used_ >= kTick) ticks_used_ = ReadCpuUse(process_);
    const ResidentBytes resident = ReadResidentBytes(process_);
    totals_.resident_bytes = resident.now;
    peak_resident_ = std::max(peak_resident_, resident.peak);
    if (counters_before_) counters_after_ = ReadProcessCounters(process_);
  }
  totals_.cpu += cpu_used_;
  totals_.clock_of = state == SessionState::kLost ? -1 : process_;
  totals_.clock = cpu_before_ + cpu_used_;
  totals_.ticks = ticks_used_;
}

void UsageMeter::Fill(Usage& usage) const {
  usage.wall = wall_used_;
  // The clock is exact but knows no parts; the ticks know the parts but are coarse.
  const auto user = ticks_used_.user - ticks_before_.user;
  const auto system = ticks_used_.system - ticks_before_.system;
  const auto both = static_cast<double>((user + system).count());
  const double share = both > 0 ? static_cast<double>(system.count()) / both : 0;
  usage.cpu_system =
      std::chrono::nanoseconds(static_cast<std::int64_t>(share * static_cast<double>(cpu_used_.count())));
  usage.cpu_user = cpu_used_ - usage.cpu_system;
  usage.max_rss_bytes = peak_resident_;
  if (!counters_before_ || !counters_after_) return;
  const ProcessCounters& before = *counters_before_;
  const ProcessCounters& after = *counters_after_;
  usage.minor_faults = Growth(before.minor_faults, after.minor_faults);
  usage.major_faults = Growth(before.major_faults, after.major_faults);
  usage.voluntary_switches = Growth(before.voluntary_switches, after.voluntary_switches);
  usage.involuntary_switches = Growth(before.involuntary_switches, after.involuntary_switches);
  if (!before.bytes_read || !after.bytes_read) return;
  usage.bytes_read = Growth(*before.bytes_read, *after.bytes_read);
  usage.bytes_written = Growth(*before.bytes_written, *after.bytes_written);
}

}  // namespace gloveport
