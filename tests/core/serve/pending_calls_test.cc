#include "gloveport/core/serve/pending_calls.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stop_token>

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Long enough to never pass in a test that works.
Deadline Later() { return Deadline::After(seconds(30)); }

TEST(PendingCalls, AnAnswerReachesItsCallAndNoOther) {
  PendingCalls calls;
  const auto first = calls.Begin(), second = calls.Begin();
  auto first_result = std::async(std::launch::async, [&] { return calls.Wait(first, Later(), {}); });
  auto second_result = std::async(std::launch::async, [&] { return calls.Wait(second, Later(), {}); });
  EXPECT_TRUE(calls.Answer(second, Value("two")));
  EXPECT_TRUE(calls.Answer(first, Value("one")));
  EXPECT_EQ(*first_result.get(), Value("one"));
  EXPECT_EQ(*second_result.get(), Value("two"));
}

TEST(PendingCalls, AnAnswerBeforeTheWaitIsKept) {
  PendingCalls calls;
  const auto call = calls.Begin();
  EXPECT_TRUE(calls.Answer(call, Value(1)));
  EXPECT_EQ(*calls.Wait(call, Deadline::Never(), {}), Value(1));
}

TEST(PendingCalls, AnErrorOfTheClientIsTheResult) {
  PendingCalls calls;
  const auto call = calls.Begin();
  EXPECT_TRUE(calls.Answer(call, Fail(ErrorCode::kIo, "disk full")));
  EXPECT_EQ(calls.Wait(call, Later(), {}).error().message, "disk full");
}

TEST(PendingCalls, DeadlineStopAndCloseEndAWait) {
  PendingCalls calls;
  EXPECT_EQ(calls.Wait(calls.Begin(), Deadline::After(milliseconds(1)), {}).error().code,
            ErrorCode::kDeadlineExceeded);

  std::stop_source stop;
  const auto stopped = calls.Begin();
  auto waiting =
      std::async(std::launch::async, [&] { return calls.Wait(stopped, Later(), stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(waiting.get().error().code, ErrorCode::kClosed);

  const auto closed = calls.Begin();
  auto abandoned = std::async(std::launch::async, [&] { return calls.Wait(closed, Deadline::Never(), {}); });
  calls.Close();
  EXPECT_EQ(abandoned.get().error().code, ErrorCode::kClosed);
  EXPECT_EQ(calls.Wait(calls.Begin(), Deadline::Never(), {}).error().code, ErrorCode::kClosed);
}

TEST(PendingCalls, AnAnswerToNothingIsAnErrorButALateOneIsNot) {
  PendingCalls calls;
  EXPECT_EQ(calls.Answer(1, Value()).error().code, ErrorCode::kNotFound);
  const auto call = calls.Begin();
  EXPECT_FALSE(calls.Wait(call, Deadline::After(milliseconds(0)), {}));
  EXPECT_TRUE(calls.Answer(call, Value()));
  EXPECT_EQ(calls.Answer(0, Value()).error().code, ErrorCode::kNotFound);
}

TEST(PendingCalls, ASecondAnswerIsRefused) {
  PendingCalls calls;
  const auto call = calls.Begin();
  EXPECT_TRUE(calls.Answer(call, Value(1)));
  EXPECT_EQ(calls.Answer(call, Value(2)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(*calls.Wait(call, Later(), {}), Value(1));
}

}  // namespace
}  // namespace gloveport
