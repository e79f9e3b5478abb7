// Sessions that end after a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "session_fixture.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

// A runtime with room for one session shows, without a call of it, that a session has ended.
class SessionExpiryTest : public SessionFixture {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.max_sessions = 1;
    options.min_ready = 0;
    auto runtime = Runtime::Create(options);
    ASSERT_TRUE(runtime) << runtime.error().message;
    runtime_ = std::move(*runtime);
    policy_ = Open()->policy();
  }

  Result<std::unique_ptr<Session>> TryOpen(std::optional<milliseconds> idle,
                                           std::optional<milliseconds> life) {
    SessionOptions options;
    options.policy = policy_;
    options.idle_timeout = idle;
    options.time_to_live = life;
    return runtime_->Open(std::move(options));
  }
  std::unique_ptr<Session> OpenFor(std::optional<milliseconds> idle, std::optional<milliseconds> life) {
    auto session = TryOpen(idle, life);
    EXPECT_TRUE(session) << session.error().message;
    return session ? std::move(*session) : nullptr;
  }

  std::unique_ptr<Session> OpenWhenThereIsRoom() {
    for (const auto until = steady_clock::now() + std::chrono::seconds(20); steady_clock::now() < until;) {
      auto session = TryOpen(std::nullopt, std::nullopt);
      if (session) return std::move(*session);
      EXPECT_EQ(session.error().code, ErrorCode::kResourceExhausted) << session.error().message;
      std::this_thread::yield();
    }
    ADD_FAILURE() << "no session ended";
    return nullptr;
  }

  Policy policy_;
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(SessionExpiryTest, ASessionThatNobodyUsesIsClosedWithTheReason) {
  const auto start = steady_clock::now();
  auto session = OpenFor(milliseconds(500), std::nullopt);
  ASSERT_TRUE(session->Checkpoint());
  auto next = OpenWhenThereIsRoom();
  EXPECT_GE(steady_clock::now() - start, milliseconds(500));
  const auto run = session->Run("1");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kClosed);
  EXPECT_THAT(run.error().message, HasSubstr("0.5 s, its idle time-out"));
  EXPECT_EQ(session->Rollback().error(), run.error());
  EXPECT_EQ(session->Start("1").get().error(), run.error());
  session->Close();
  EXPECT_EQ(session->GetVariable("x").error(), run.error()) << "the reason stays";
  EXPECT_FALSE(TryOpen(std::nullopt, std::nullopt)) << "its place was given back once";
  EXPECT_EQ(Run(*next, "1").value, Value(1));
}

TEST_F(SessionExpiryTest, IdleTimeBeginsWithTheEndOfACall) {
  auto session = OpenFor(milliseconds(400), std::nullopt);
  EXPECT_EQ(Run(*session, "import time\ntime.sleep(1)\nx = 2").outcome, Outcome::kOk);
  EXPECT_EQ(Run(*session, "x").value, Value(2));
}

TEST_F(SessionExpiryTest, TheTimeToLiveEndsARunningCell) {
  auto session = OpenFor(std::nullopt, milliseconds(1500));
  const auto start = steady_clock::now();
  const CellResult result =
      Run(*session, "while True:\n    try:\n        while True: pass\n    except BaseException: pass");
  EXPECT_NE(result.outcome, Outcome::kOk);
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(15));
  const auto run = session->Run("1");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kClosed);
  EXPECT_THAT(run.error().message, HasSubstr("time to live of 1.5 s"));
  EXPECT_TRUE(OpenWhenThereIsRoom());
}

TEST_F(SessionExpiryTest, RunsThatWaitAreCompletedWithTheReason) {
  auto session = OpenFor(milliseconds(60'000), milliseconds(2000));
  auto running = session->Start("while True: pass");
  auto waiting = session->Start("1");
  EXPECT_TRUE(running.get());
  const auto late = waiting.get();
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("time to live"));
}

TEST_F(SessionExpiryTest, ABranchHasTheSameTimes) {
  auto policy = std::move(policy_);
  RuntimeOptions options;
  auto runtime = Runtime::Create(options);
  ASSERT_TRUE(runtime);
  SessionOptions session_options;
  session_options.policy = policy;
  session_options.time_to_live = milliseconds(2000);
  auto session = (*runtime)->Open(std::move(session_options));
  ASSERT_TRUE(session);
  auto branches = (*session)->Branch(1);
  ASSERT_TRUE(branches) << branches.error().message;
  session->reset();
  EXPECT_NE(Run(*branches->front(), "while True: pass").outcome, Outcome::kOk);
  EXPECT_EQ(branches->front()->Run("1").error().code, ErrorCode::kClosed);
}

TEST_F(SessionExpiryTest, NoTimeAtAllIsRefused) {
  const auto idle = TryOpen(milliseconds(0), std::nullopt);
  ASSERT_FALSE(idle);
  EXPECT_EQ(idle.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(TryOpen(std::nullopt, milliseconds(-1)).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace gloveport
