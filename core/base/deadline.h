// Deadline: a point on the monotonic clock after which an operation gives up. A plain value.
#ifndef GLOVEPORT_CORE_BASE_DEADLINE_H_
#define GLOVEPORT_CORE_BASE_DEADLINE_H_

#include <algorithm>
#include <chrono>

namespace gloveport {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline Never() { return Deadline(Clock::time_point::max()); }
  static Deadline At(Clock::time_point when) { return Deadline(when); }
  static Deadline After(std::chrono::nanoseconds delay) {
    const auto now = Clock::now();
    return Deadline(delay >= Clock::time_point::max() - now ? Clock::time_point::max() : now + delay);
  }

  bool never() const { return when_ == Clock::time_point::max(); }
  bool passed() const { return !never() && Clock::now() >= when_; }
  Clock::time_point when() const { return when_; }

  // What is left, never negative; nanoseconds::max() for Never().
  std::chrono::nanoseconds left() const {
    if (never()) return std::chrono::nanoseconds::max();
    return std::max<std::chrono::nanoseconds>(when_ - Clock::now(), std::chrono::nanoseconds(0));
  }

  // For poll(2): -1 for Never(), else milliseconds rounded up, so that a poll does not wake up just before.
  int poll_timeout_ms() const {
    if (never()) return -1;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left()).count();
    return static_cast<int>(std::min<long long>(ms, 1'000'000'000));
  }

  friend Deadline Earlier(Deadline a, Deadline b) { return a.when_ < b.when_ ? a : b; }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  Clock::time_point when_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_BASE_DEADLINE_H_
