#include "gloveport/tests/bench/placement.h"

#include <cerrno>
#include <utility>
#include <vector>

namespace gloveport::bench {
namespace {

cpu_set_t Only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}

}  // namespace

std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kPinned1:
      return "pinned1";
    case Mode::kPinned2:
      return "pinned2";
    case Mode::kUnpinned:
      break;
  }
  return "unpinned";
}

Result<Placement> Placement::Enter(Mode mode) {
  Placement placement;
  placement.mode_ = mode;
  if (::sched_getaffinity(0, sizeof placement.before_, &placement.before_) != 0)
    return FailErrno("sched_getaffinity", errno);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &placement.before_)) cpus.push_back(cpu);
  }
  if (mode == Mode::kPinned2 && cpus.size() < 2)
    return Fail(ErrorCode::kInvalidArgument, "there is only one CPU to run on");
  // The last ones: interrupts tend to go to the first.
  placement.host_ = mode == Mode::kUnpinned ? placement.before_ : Only(cpus.back());
  placement.session_ = mode == Mode::kPinned2 ? Only(cpus[cpus.size() - 2]) : placement.host_;
  placement.entered_ = true;
  placement.MoveToHostCpu();
  return placement;
}

Placement::Placement(Placement&& other) noexcept
    : mode_(other.mode_),
      entered_(std::exchange(other.entered_, false)),
      before_(other.before_),
      host_(other.host_),
      session_(other.session_) {}

Placement::~Placement() {
  if (entered_) MoveAnywhere();
}

}  // namespace gloveport::bench
