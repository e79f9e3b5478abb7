#include "gloveport/core/host/session_timer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <vector>

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using Clock = Deadline::Clock;

TEST(SessionTimer, ChecksComeAtTheirTimesInOrder) {
  std::mutex mutex;
  std::vector<int> order;
  std::promise<void> last;
  SessionTimer timer;
  const auto start = Clock::now();
  const auto check = [&](int n) {
    return [&, n] {
      const std::lock_guard lock(mutex);
      EXPECT_GE(Clock::now() - start, milliseconds(20 * n));
      order.push_back(n);
      if (n == 3) last.set_value();
      return Deadline::Never();
    };
  };
  for (const int n : {3, 1, 2}) timer.Add(Deadline::At(start + milliseconds(20 * n)), check(n));
  ASSERT_EQ(last.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(SessionTimer, ACheckSaysWhenToCallItAgain) {
  std::promise<int> done;
  int calls = 0;
  SessionTimer timer;
  timer.Add(Deadline::After(milliseconds(1)), [&] {
    if (++calls == 5) done.set_value(calls);
    return calls < 5 ? Deadline::After(milliseconds(1)) : Deadline::Never();
  });
  EXPECT_EQ(done.get_future().get(), 5);
}

TEST(SessionTimer, AfterRemoveNoCheckRuns) {
  for (int i = 0; i < 200; ++i) {
    SessionTimer timer;
    auto alive = std::make_unique<std::atomic<int>>(0);
    const auto id = timer.Add(Deadline::After(std::chrono::nanoseconds(0)), [&alive] {
      ++*alive;
      return Deadline::After(std::chrono::nanoseconds(0));
    });
    while (i % 2 == 0 && *alive == 0) std::this_thread::yield();
    timer.Remove(id);
    alive.reset();
  }
}

TEST(SessionTimer, FarAwayAndNeverDoNotKeepItFromEnding) {
  SessionTimer timer;
  timer.Add(Deadline::Never(), [] { return Deadline::Never(); });
  timer.Add(Deadline::After(std::chrono::hours(100'000)), [] { return Deadline::Never(); });
  std::promise<void> ran;
  timer.Add(Deadline::After(milliseconds(1)), [&] {
    ran.set_value();
    return Deadline::Never();
  });
  ran.get_future().wait();
}

}  // namespace
}  // namespace gloveport
