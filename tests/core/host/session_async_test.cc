// Runs without a thread that waits for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::ElementsAre;

constexpr std::chrono::seconds kLong{60};

// Counts down from any thread.
class Latch {
 public:
  explicit Latch(int count) : count_(count) {}
  void Down() {
    const std::lock_guard lock(mutex_);
    if (--count_ <= 0) changed_.notify_all();
  }
  bool Wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [this] { return count_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_;
};

class SessionAsyncTest : public SessionFixture {
 protected:
  SessionAsyncTest() { options_.inspect = InspectMode::kOff; }

  std::unique_ptr<Runtime> MakeRuntime(std::size_t max_async_runs) {
    RuntimeOptions options;
    options.max_async_runs = max_async_runs;
    auto runtime = Runtime::Create(options);
    EXPECT_TRUE(runtime) << runtime.error().message;
    policy_ = Open()->policy();
    return std::move(*runtime);
  }
  std::unique_ptr<Session> OpenIn(Runtime& runtime, std::shared_ptr<const ToolRegistry> tools = nullptr) {
    SessionOptions options;
    options.policy = policy_;
    options.tools = std::move(tools);
    auto session = runtime.Open(std::move(options));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }

  RunOptions options_;
  Policy policy_;
};

TEST_F(SessionAsyncTest, RunsOfASessionAreDoneInTheirOrder) {
  auto session = Open();
  Run(*session, "order = []");
  constexpr int kRuns = 50;
  Latch latch(kRuns);
  std::vector<int> completed;  // no lock: completions of one session do not overlap
  for (int i = 0; i < kRuns; ++i) {
    session->RunAsync("order.append(" + std::to_string(i) + ")", options_, [&, i](Result<CellResult> result) {
      EXPECT_TRUE(result && result->outcome == Outcome::kOk);
      completed.push_back(i);
      latch.Down();
    });
  }
  ASSERT_TRUE(latch.Wait());
  EXPECT_TRUE(std::ranges::is_sorted(completed));
  EXPECT_EQ(Run(*session, "order == list(range(50))").value, Value(true));
}

TEST_F(SessionAsyncTest, AFutureHasTheResultOrTheError) {
  auto session = Open();
  auto first = session->Start("x = 20\nx + 1", options_);
  auto second = session->Start("x / 0", options_);
  auto third = session->Start("\xff", options_);
  EXPECT_EQ(first.get()->value, Value(21));
  EXPECT_EQ(second.get()->error->type, "ZeroDivisionError");
  EXPECT_EQ(third.get().error().code, ErrorCode::kInvalidArgument);
}

// One thread is enough for all: nothing of ours waits on it for another run.
TEST_F(SessionAsyncTest, ACompletionMayRunTheNextCellOfAnySession) {
  auto runtime = MakeRuntime(1);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(OpenIn(*runtime));
  std::atomic<int> left{60};
  Latch latch(1);
  std::function<void(Result<CellResult>)> next = [&](const Result<CellResult>& result) {
    EXPECT_TRUE(result && result->value == Value(2));
    const int n = --left;
    if (n < 0) return;
    if (n == 0) return latch.Down();
    sessions[static_cast<std::size_t>(n % 3)]->RunAsync("1 + 1", options_, next);
  };
  sessions[0]->RunAsync("1 + 1", options_, next);
  EXPECT_TRUE(latch.Wait());
}

TEST_F(SessionAsyncTest, NoMoreRunAtATimeThanAllowed) {
  auto runtime = MakeRuntime(2);
  std::barrier pairs(2);  // so that two are there at once
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("meet", "", [&] {
    const int now = ++at_once;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    pairs.arrive_and_wait();
    --at_once;
    return 1;
  }));
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 5; ++i) sessions.push_back(OpenIn(*runtime, tools));
  std::vector<std::future<Result<CellResult>>> futures;
  for (int i = 0; i < 4; ++i) {
    for (auto& session : sessions) futures.push_back(session->Start("meet()", options_));
  }
  for (auto& future : futures) EXPECT_EQ(future.get()->value, Value(1));
  EXPECT_EQ(most, 2);
}

TEST_F(SessionAsyncTest, CloseCompletesEveryRunOnceAndInOrder) {
  constexpr int kWaiting = 20;
  std::vector<int> completed;
  Latch running(1);
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("started", "", [&] {
    running.Down();
    return 1;
  }));
  auto session = Open("", tools);
  session->RunAsync("started()\nwhile True: pass", options_, [&](const Result<CellResult>& result) {
    EXPECT_TRUE(result && result->outcome != Outcome::kOk);
    completed.push_back(0);
  });
  for (int i = 1; i <= kWaiting; ++i) {
    session->RunAsync("1", options_, [&, i](const Result<CellResult>& result) {
      EXPECT_TRUE(!result && result.error().code == ErrorCode::kClosed);
      completed.push_back(i);
    });
  }
  ASSERT_TRUE(running.Wait());
  session->Close();
  ASSERT_EQ(completed.size(), kWaiting + 1u) << "all before Close returns";
  EXPECT_TRUE(std::ranges::is_sorted(completed));

  const auto here = std::this_thread::get_id();
  bool refused = false;
  session->RunAsync("1", options_, [&](const Result<CellResult>& result) {
    refused = !result && result.error().code == ErrorCode::kClosed && std::this_thread::get_id() == here;
  });
  EXPECT_TRUE(refused);
  session.reset();
  EXPECT_EQ(completed.size(), kWaiting + 1u);
}

TEST_F(SessionAsyncTest, ACompletionMayCloseOrDeleteItsSession) {
  for (const bool deletes : {false, true}) {
    auto session = Open();
    std::atomic<int> refused{0};
    Latch latch(1);
    Latch go(1);
    session->RunAsync("1", options_, [&](const Result<CellResult>& result) {
      EXPECT_TRUE(go.Wait());
      EXPECT_TRUE(result);
      deletes ? session.reset() : session->Close();
      EXPECT_EQ(refused, 2) << "what waits is completed before Close returns";
      latch.Down();
    });
    for (int i = 0; i < 2; ++i) {
      session->RunAsync("1", options_, [&](const Result<CellResult>& result) { refused += !result; });
    }
    go.Down();
    ASSERT_TRUE(latch.Wait());
  }
}

TEST_F(SessionAsyncTest, OneThreadDrivesManySessions) {
  auto runtime = MakeRuntime(8);
  constexpr int kSessions = 64;
  constexpr int kCells = 10;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < kSessions; ++i) sessions.push_back(OpenIn(*runtime));
  Latch latch(kSessions);
  std::function<void(Session&, int)> step = [&](Session& session, int done) {
    session.RunAsync("n = globals().get('n', 0) + 1\nn", options_,
                     [&, done](const Result<CellResult>& result) {
                       EXPECT_TRUE(result && result->value == Value(done + 1));
                       if (done + 1 == kCells) return latch.Down();
                       step(session, done + 1);
                     });
  };
  for (auto& session : sessions) step(*session, 0);
  EXPECT_TRUE(latch.Wait());
}

}  // namespace
}  // namespace gloveport
