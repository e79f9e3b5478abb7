// Activity: how many tasks are waiting or running, and a way to wait for none. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_ACTIVITY_H_
#define GLOVEPORT_CORE_SERVE_ACTIVITY_H_

#include <atomic>
#include <cstdint>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class Activity {
 public:
  Activity();

  void Begin() { ++running_; }
  void End();

  // Returns when nothing runs, when the deadline has passed, or when `stop_fd` is readable.
  void WaitUntilNone(Deadline deadline, int stop_fd) const;

 private:
  std::atomic<std::int64_t> running_{0};
  UniqueFd none_;  // an eventfd, readable after running_ has dropped to 0
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_ACTIVITY_H_
