// SessionTimer: one thread for everything that happens to sessions after a time. Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_SESSION_TIMER_H_
#define GLOVEPORT_CORE_HOST_SESSION_TIMER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "gloveport/core/base/deadline.h"

namespace gloveport {

class SessionTimer {
 public:
  // Called on the timer's thread when its time has come; returns when to call again, Never() for not any
  // more. It must not wait for anything: all the others wait meanwhile.
  using Check = std::function<Deadline()>;

  SessionTimer() = default;
  ~SessionTimer();
  SessionTimer(const SessionTimer&) = delete;
  SessionTimer& operator=(const SessionTimer&) = delete;

  // The thread starts with the first; throws std::system_error where it cannot be started.
  std::uint64_t Add(Deadline first, Check check);
  // Afterwards the check does not run, and never will. Not from within it.
  void Remove(std::uint64_t id);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable checked_;
  std::map<std::uint64_t, Check> checks_;
  std::multimap<Deadline::Clock::time_point, std::uint64_t> due_;
  std::uint64_t last_id_ = 0;
  std::uint64_t checking_ = 0;  // the entry whose check runs
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_TIMER_H_
