#include "gloveport/core/host/run_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>
#include <vector>

namespace gloveport {
namespace {

TEST(RunThreads, EveryTaskRunsBeforeTheEnd) {
  std::atomic<int> done{0};
  {
    RunThreads threads(4);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(threads.Post([&] { ++done; }));
  }
  EXPECT_EQ(done, 1000);
}

TEST(RunThreads, ThreadsGrowWithTheTasksUpToTheBound) {
  RunThreads threads(3);
  EXPECT_EQ(threads.count(), 0u);
  std::promise<void> gate;
  const std::shared_future<void> open = gate.get_future().share();
  std::atomic<int> started{0};
  std::vector<std::future<void>> ends;
  for (int i = 0; i < 6; ++i) {
    auto end = std::make_shared<std::promise<void>>();
    ends.push_back(end->get_future());
    ASSERT_TRUE(threads.Post([&, end] {
      ++started;
      open.wait();
      end->set_value();
    }));
  }
  EXPECT_EQ(threads.count(), 3u);
  while (started < 3) std::this_thread::yield();
  EXPECT_EQ(started, 3) << "the others wait";
  gate.set_value();
  for (auto& end : ends) end.wait();
  EXPECT_EQ(started, 6);
}

TEST(RunThreads, TasksThatComeOneByOneShareAThread) {
  RunThreads threads(8);
  std::set<std::thread::id> seen;
  for (int i = 0; i < 20; ++i) {
    std::promise<std::thread::id> id;
    ASSERT_TRUE(threads.Post([&] { id.set_value(std::this_thread::get_id()); }));
    seen.insert(id.get_future().get());
  }
  EXPECT_LE(seen.size(), 4u) << "one that has just answered may not be idle yet";
}

TEST(RunThreads, ATaskMayPostAnother) {
  std::atomic<int> done{0};
  {
    RunThreads threads(1);
    std::function<void()> again = [&] {
      if (++done < 100) {
        EXPECT_TRUE(threads.Post(again));
      }
    };
    ASSERT_TRUE(threads.Post(again));
    while (done < 100) std::this_thread::yield();
  }
  EXPECT_EQ(done, 100);
}

TEST(RunThreads, IdleThreadsEnd) {
  RunThreads threads(2);
  std::promise<void> ran;
  ASSERT_TRUE(threads.Post([&] { ran.set_value(); }));
  ran.get_future().wait();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (threads.count() != 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(threads.count(), 0u);
  std::promise<void> again;
  ASSERT_TRUE(threads.Post([&] { again.set_value(); }));
  again.get_future().wait();
}

}  // namespace
}  // namespace gloveport
