// TurnGate: what one thread at a time may do, for which the others wait no longer than they have time. (A
// std::timed_mutex knows no stop token, and ThreadSanitizer does not know it.)
#ifndef GLOVEPORT_CORE_MCP_TURN_GATE_H_
#define GLOVEPORT_CORE_MCP_TURN_GATE_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "gloveport/core/base/deadline.h"

namespace gloveport {

class TurnGate {
  struct GiveBack {
    void operator()(TurnGate* gate) const { gate->End(); }
  };

 public:
  using Holder = std::unique_ptr<TurnGate, GiveBack>;  // ends the turn when it goes

  // Null where the deadline passed or `stop` was requested first.
  Holder Take(Deadline deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto free = [this] { return !taken_; };
    const bool came = deadline.never() ? freed_.wait(lock, stop, free)
                                       : freed_.wait_until(lock, stop, deadline.when(), free);
    if (!came) return nullptr;
    taken_ = true;
    return Holder(this);
  }

 private:
  void End() {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    freed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable_any freed_;
  bool taken_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_TURN_GATE_H_
