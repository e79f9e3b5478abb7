#include "gloveport/tools/time_type.h"

#include <gtest/gtest.h>

#include <cmath>

#include "call.h"

namespace gloveport {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;
using std::chrono::years;

Value Delta(Value payload) { return Value(Form::kTimedelta, std::move(payload)); }
Value Parts(int d, int s, int us) { return Delta(Value::List{Value(d), Value(s), Value(us)}); }

TEST(TimeType, DurationsAreTimedeltas) {
  EXPECT_EQ(ToolType<seconds>::Annotation(), "datetime.timedelta");
  struct Case {
    Value value;
    std::int64_t microseconds;
  };
  for (const Case& c :
       {Case{Delta(90), 90'000'000}, Case{Delta(1.5), 1'500'000}, Case{Delta(-0.25), -250'000},
        Case{Parts(1, 2, 3), 86'402'000'003}, Case{Parts(-1, 86399, 999999), -1}, Case{Value(2), 2'000'000},
        Case{Value(0.1), 100'000}}) {
    const auto time = ToolType<microseconds>::FromValue(c.value, ValuePlace("t"));
    ASSERT_TRUE(time) << time.error().message;
    EXPECT_EQ(time->count(), c.microseconds);
  }
  EXPECT_EQ(ToolType<milliseconds>::ToValue(milliseconds(2000)), Delta(2));
  EXPECT_EQ(ToolType<milliseconds>::ToValue(milliseconds(-1)), Parts(-1, 86399, 999000));
  EXPECT_EQ(ToolType<hours>::ToValue(hours(25)), Delta(90000));
}

TEST(TimeType, RefusesWhatTheCppTypeCannotHold) {
  EXPECT_FALSE(ToolType<seconds>::FromValue(Delta(1.5), ValuePlace("t")));
  EXPECT_TRUE(ToolType<std::chrono::duration<double>>::FromValue(Delta(1.5), ValuePlace("t")));
  EXPECT_FALSE(
      ToolType<std::chrono::nanoseconds>::FromValue(Delta(std::int64_t{20'000'000'000}), ValuePlace("t")));
  EXPECT_TRUE(
      ToolType<std::chrono::nanoseconds>::FromValue(Delta(std::int64_t{2'000'000'000}), ValuePlace("t")));
  EXPECT_FALSE((ToolType<std::chrono::duration<std::int8_t>>::FromValue(Delta(128), ValuePlace("t"))));
  for (const Value& value :
       {Value("1 h"), Value(true), Value(1e30), Value(std::nan("")), Parts(1 << 30, 0, 0)}) {
    EXPECT_FALSE(ToolType<seconds>::FromValue(value, ValuePlace("t")));
  }
}

TEST(TimeType, TimesAreDatetimes) {
  using Time = std::chrono::sys_time<microseconds>;
  const Time may = sys_days(std::chrono::May / 1 / 2026) + hours(12);
  for (const char* text : {"2026-05-01T12:00:00+00:00", "2026-05-01T12:00:00", "2026-05-01T14:00+02:00",
                           "2026-05-01 12:00:00Z", "2026-05-01T06:30:00.000-05:30"}) {
    const auto time = ToolType<Time>::FromValue(Value(Form::kDatetime, text), ValuePlace("t"));
    ASSERT_TRUE(time) << text << time.error().message;
    EXPECT_EQ(*time, may) << text;
  }
  EXPECT_EQ(*ToolType<Time>::FromValue(Value(Form::kDate, "2026-05-01"), ValuePlace("t")), may - hours(12));
  EXPECT_EQ(*ToolType<Time>::FromValue(Value("1969-12-31T23:59:59.999999Z"), ValuePlace("t")),
            Time(microseconds(-1)));
  EXPECT_EQ(ToolType<Time>::ToValue(may), Value(Form::kDatetime, "2026-05-01T12:00:00+00:00"));
  EXPECT_EQ(ToolType<Time>::ToValue(Time(microseconds(-1))),
            Value(Form::kDatetime, "1969-12-31T23:59:59.999999+00:00"));
  for (const char* text : {"", "yesterday", "2026-13-01", "2026-02-30T00:00", "2026-05-01T25:00",
                           "2026-05-01T12:00:00+", "2026-05-01T12:00:00X", "26-05-01"}) {
    EXPECT_FALSE(ToolType<Time>::FromValue(Value(text), ValuePlace("t"))) << text;
  }
}

TEST(TimeType, DatesAreDates) {
  const year_month_day may = std::chrono::May / 1 / 2026;
  EXPECT_EQ(*ToolType<year_month_day>::FromValue(Value(Form::kDate, "2026-05-01"), ValuePlace("d")), may);
  EXPECT_EQ(*ToolType<year_month_day>::FromValue(Value("2026-05-01"), ValuePlace("d")), may);
  EXPECT_EQ(ToolType<year_month_day>::ToValue(may), Value(Form::kDate, "2026-05-01"));
  EXPECT_FALSE(
      ToolType<year_month_day>::FromValue(Value(Form::kDatetime, "2026-05-01T00:00"), ValuePlace("d")));
  EXPECT_FALSE(ToolType<year_month_day>::FromValue(Value("2026-05-01T00:00"), ValuePlace("d")));
}

}  // namespace
}  // namespace gloveport
