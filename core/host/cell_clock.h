// CellClock: the wall time that a cell has left. It stands still while a person is waited for.
//
// Not thread-safe.
#ifndef GLOVEPORT_CORE_HOST_CELL_CLOCK_H_
#define GLOVEPORT_CORE_HOST_CELL_CLOCK_H_

#include <chrono>
#include <optional>

#include "gloveport/core/base/deadline.h"

namespace gloveport {

class CellClock {
 public:
  using Clock = Deadline::Clock;

  // Starts now; within the range of the clock, as every policy's limit is.
  explicit CellClock(std::chrono::nanoseconds limit) : limit_(limit) {}

  std::chrono::nanoseconds limit() const { return limit_; }
  std::chrono::nanoseconds used() const { return (stopped_at_ ? *stopped_at_ : Clock::now()) - start_; }
  // Never() while it stands still.
  Deadline deadline() const { return stopped_at_ ? Deadline::Never() : Deadline::At(start_ + limit_); }

  void Stop() {
    if (!stopped_at_) stopped_at_ = Clock::now();
  }
  void GoOn() {
    if (stopped_at_) start_ += Clock::now() - *stopped_at_;
    stopped_at_.reset();
  }

 private:
  std::chrono::nanoseconds limit_;
  Clock::time_point start_ = Clock::now();  // moved on by what was waited
  std::optional<Clock::time_point> stopped_at_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_CELL_CLOCK_H_
