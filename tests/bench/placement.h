// Placement: on which CPUs host and sessions run while something is measured.
//
// Affinity is inherited: a template gets that of the thread that made its Runtime, a session that of its
// template. So a figure makes its Runtime, and the processes of its yardsticks, within OnSessionCpu, and
// measures outside of it.
#ifndef GLOVEPORT_TESTS_BENCH_PLACEMENT_H_
#define GLOVEPORT_TESTS_BENCH_PLACEMENT_H_

#include <sched.h>

#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport::bench {

enum class Mode {
  kPinned1,   // host and sessions on one CPU
  kPinned2,   // the host on one, the sessions on another
  kUnpinned,  // wherever the scheduler puts them
};
std::string_view ModeName(Mode mode);

class Placement {
 public:
  // Moves the calling thread to the host's CPU until this goes. kInvalidArgument where there are too few
  // CPUs.
  static Result<Placement> Enter(Mode mode);
  Placement(Placement&& other) noexcept;
  Placement& operator=(Placement&&) = delete;
  ~Placement();

  Mode mode() const { return mode_; }
  void MoveToSessionCpu() const { Move(session_); }
  void MoveToHostCpu() const { Move(host_); }
  void MoveAnywhere() const { Move(before_); }

 private:
  Placement() = default;
  static void Move(const cpu_set_t& set) { (void)::sched_setaffinity(0, sizeof set, &set); }

  Mode mode_ = Mode::kUnpinned;
  bool entered_ = false;
  cpu_set_t before_{};
  cpu_set_t host_{};
  cpu_set_t session_{};
};

// The calling thread is on the sessions' CPU while this lives.
class OnSessionCpu {
 public:
  explicit OnSessionCpu(const Placement& placement) : placement_(placement) { placement_.MoveToSessionCpu(); }
  ~OnSessionCpu() { placement_.MoveToHostCpu(); }
  OnSessionCpu(const OnSessionCpu&) = delete;
  OnSessionCpu& operator=(const OnSessionCpu&) = delete;

 private:
  const Placement& placement_;
};

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_PLACEMENT_H_
