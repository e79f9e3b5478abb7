#include "gloveport/core/model/retry.h"

#include <gtest/gtest.h>

#include <thread>

#include "gloveport/tests/core/model/fake_clock.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

TEST(Retry, StatusAndTheServersWishDecide) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
    EXPECT_TRUE(WorthRetrying({status, {}, ""})) << status;
    EXPECT_FALSE(WorthRetrying({status, {{"X-Should-Retry", "false"}}, ""})) << status;
  }
  for (const int status : {200, 301, 400, 401, 403, 404, 413, 422}) {
    EXPECT_FALSE(WorthRetrying({status, {}, ""})) << status;
    EXPECT_TRUE(WorthRetrying({status, {{"x-should-retry", "true"}}, ""})) << status;
  }
}

TEST(Retry, RequestedDelayIsReadInEveryForm) {
  struct Case {
    HttpHeaders headers;
    std::optional<milliseconds> delay;
  };
  const std::chrono::system_clock::time_point now = std::chrono::sys_days{std::chrono::year(2026) / 1 / 2};
  const Case cases[] = {
      {{}, std::nullopt},
      {{{"Retry-After", "7"}}, milliseconds(7000)},
      {{{"retry-after", "0.25"}}, milliseconds(250)},
      {{{"retry-after-ms", "123"}}, milliseconds(123)},
      {{{"retry-after-ms", "123"}, {"retry-after", "7"}}, milliseconds(123)},
      {{{"retry-after-ms", "soon"}, {"retry-after", "7"}}, milliseconds(7000)},
      {{{"retry-after", "Fri, 02 Jan 2026 00:00:30 GMT"}}, milliseconds(30'000)},
      {{{"retry-after", "Thu, 01 Jan 2026 23:59:50 GMT"}}, milliseconds(-10'000)},
      {{{"retry-after", "Fri, 32 Jan 2026 00:00:30 GMT"}}, std::nullopt},
      {{{"retry-after", "Fri, 02 Foo 2026 00:00:30 GMT"}}, std::nullopt},
      {{{"retry-after", "Fri, 02 anF 2026 00:00:30 GMT"}}, std::nullopt},
      {{{"retry-after", "2026-01-02T00:00:30Z"}}, std::nullopt},
      {{{"retry-after", "nan"}}, std::nullopt},
      {{{"retry-after", "1e400"}}, std::nullopt},
      {{{"retry-after", "7 seconds"}}, std::nullopt},
      {{{"retry-after", ""}}, std::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RequestedDelay(c.headers, now), c.delay) << (c.headers.empty() ? "" : c.headers[0].value);
  }
}

TEST(Retry, DelayDoublesUpToItsLimitLessARandomQuarter) {
  FakeClock fake;
  const auto clock = fake.clock();
  const int whole[] = {500, 1000, 2000, 4000, 8000, 8000, 8000};
  for (int failures = 1; failures <= 7; ++failures) {
    fake.random = 0;
    EXPECT_EQ(RetryDelay({}, failures, {}, clock), milliseconds(whole[failures - 1]));
    fake.random = 0.999999;
    EXPECT_GE(RetryDelay({}, failures, {}, clock), milliseconds(whole[failures - 1] * 3 / 4));
    EXPECT_LT(RetryDelay({}, failures, {}, clock), milliseconds(whole[failures - 1]));
  }
  EXPECT_EQ(RetryDelay({}, 2000, {}, clock).count(), 6000);
}

TEST(Retry, ServersDelayIsObeyedWithinReason) {
  FakeClock fake;
  const auto delay = [&](const char* value) {
    return RetryDelay({}, 1, {{"retry-after", value}}, fake.clock()).count();
  };
  EXPECT_EQ(delay("7"), 7000);
  EXPECT_EQ(delay("60"), 60'000);
  EXPECT_EQ(delay("61"), 500);
  EXPECT_EQ(delay("1e300"), 500);
  EXPECT_EQ(delay("0"), 500);
  EXPECT_EQ(delay("-5"), 500);
}

TEST(Retry, SystemSleepEndsWithTheDelayTheDeadlineOrTheStop) {
  const auto clock = RetryClock::System();
  using std::chrono::hours;
  EXPECT_TRUE(clock.sleep(milliseconds(1), Deadline::Never(), {}).has_value());
  const auto late = clock.sleep(hours(1), Deadline::After(milliseconds(1)), {});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  const auto stopped = clock.sleep(hours(1), Deadline::Never(), stop.get_token());
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::kClosed);
  EXPECT_GE(clock.random(), 0.0);
  EXPECT_LT(clock.random(), 1.0);
}

}  // namespace
}  // namespace gloveport
