#include "gloveport/core/host/call_limits.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

using std::chrono::milliseconds;

class CallLimitsTest : public testing::Test {
 protected:
  CallLimitsTest() {
    limits_.tool_calls = 3;
    limits_.total_tool_calls = 5;
    limits_.tool_calls_per_s = 4;
    limits_.tool_call_kib = 2;
  }

  Limits limits_;
  SessionTotals totals_;
  const CallLimits::Clock::time_point start_ = CallLimits::Clock::now();
};

TEST_F(CallLimitsTest, CountsCallsOfOneCell) {
  CallLimits calls(limits_, totals_);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(calls.Admit(1, start_));
  const auto hit = calls.Admit(1, start_);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->limit, "tool_calls");
  EXPECT_EQ(hit->message, "tool calls: limit of 3 in one cell reached");
  EXPECT_EQ(hit->value, 3);
  EXPECT_EQ(hit->used, 4);
  EXPECT_EQ(hit->unit, "calls");
}

TEST_F(CallLimitsTest, CountsCallsOfAllCells) {
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(CallLimits(limits_, totals_).Admit(1, start_ + milliseconds(400 * i)));
  const auto hit = CallLimits(limits_, totals_).Admit(1, start_ + milliseconds(5000));
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->limit, "total_tool_calls");
}

TEST_F(CallLimitsTest, CountsCallsOfOneSecond) {
  limits_.tool_calls = limits_.total_tool_calls = 100;
  CallLimits calls(limits_, totals_);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(calls.Admit(1, start_));
  EXPECT_EQ(calls.Admit(1, start_ + milliseconds(999))->limit, "tool_calls_per_s");
  EXPECT_FALSE(calls.Admit(1, start_ + milliseconds(1000)));
}

TEST_F(CallLimitsTest, JudgesTheSize) {
  CallLimits calls(limits_, totals_);
  EXPECT_FALSE(calls.Admit(2048, start_));
  const auto hit = calls.Admit(2049, start_);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->message, "tool call: 2 KiB limit of arguments or result reached");
  EXPECT_EQ(hit->used, 3);
}

}  // namespace
}  // namespace gloveport
