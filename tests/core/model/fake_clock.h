// A RetryClock that never sleeps: it notes the pauses it was asked for.
#ifndef GLOVEPORT_TESTS_CORE_MODEL_FAKE_CLOCK_H_
#define GLOVEPORT_TESTS_CORE_MODEL_FAKE_CLOCK_H_

#include <chrono>
#include <functional>
#include <vector>

#include "gloveport/core/model/retry.h"

namespace gloveport {

struct FakeClock {
  std::chrono::system_clock::time_point now = std::chrono::sys_days{std::chrono::year(2026) / 1 / 2};
  double random = 0;
  std::vector<std::chrono::milliseconds> pauses;
  std::function<void()> on_sleep = [] {};

  RetryClock clock() {
    return {[this] { return now; }, [this] { return random; },
            [this](std::chrono::nanoseconds delay, Deadline, std::stop_token cancel) -> Status {
              pauses.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(delay));
              on_sleep();
              if (cancel.stop_requested()) return Fail(ErrorCode::kClosed, "cancelled");
              return {};
            }};
  }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_MODEL_FAKE_CLOCK_H_
