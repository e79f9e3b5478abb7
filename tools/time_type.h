// std::chrono as parameters and results of tools.
//
//   C++                                      Python               from Python also taken
//   std::chrono::duration<Rep, Period>       datetime.timedelta   int, float: seconds
//   std::chrono::sys_time<Duration>          datetime.datetime    a date; ISO 8601 text; without a zone it is
//   UTC std::chrono::year_month_day              datetime.date        ISO 8601 text
//
// A result is a datetime in UTC. Python counts microseconds: what is finer is cut off on the way out, what a
// coarser C++ type cannot hold exactly is an error on the way in.
#ifndef GLOVEPORT_TOOLS_TIME_TYPE_H_
#define GLOVEPORT_TOOLS_TIME_TYPE_H_

#include <chrono>
#include <string>

#include "gloveport/tools/tool_type.h"

namespace gloveport {

namespace tool_type_internal {

using Micros = std::chrono::microseconds;  // of 64 bits: some 292,000 years, more than Python's datetime

Result<Micros> TimedeltaFrom(const Value& value, const ValuePlace& place);
Value TimedeltaValue(Micros time);
Result<Micros> DatetimeFrom(const Value& value, const ValuePlace& place);  // since 1970 in UTC
Value DatetimeValue(Micros since_1970);
Result<std::chrono::year_month_day> DateFrom(const Value& value, const ValuePlace& place);
Value DateValue(std::chrono::year_month_day date);
Value FormatSchema(std::string_view format);
tl::unexpected<Error> Inexact(const ValuePlace& place, const Value& got);

// `time` in the units of `Duration`; where those are coarser it must be a whole number of them.
template <typename Duration>
Result<Duration> ExactCast(Micros time, const Value& value, const ValuePlace& place) {
  if constexpr (std::chrono::treat_as_floating_point_v<typename Duration::rep>) {
    return std::chrono::duration_cast<Duration>(time);
  } else {
    // By way of the floating point: 64 bits of nanoseconds reach to 2262 only.
    using Wide = std::chrono::duration<long double, typename Duration::period>;
    const long double count = std::chrono::duration_cast<Wide>(time).count();
    using Limits = std::numeric_limits<typename Duration::rep>;
    if (count < static_cast<long double>(Limits::min()) || count > static_cast<long double>(Limits::max()))
      return WrongValue(place, "the time is too large for this tool");
    const auto cast = std::chrono::duration_cast<Duration>(time);
    if (std::chrono::duration_cast<Micros>(cast) != time) return Inexact(place, value);
    return cast;
  }
}

}  // namespace tool_type_internal

template <typename Rep, typename Period>
struct ToolType<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;

  static std::string Annotation() { return "datetime.timedelta"; }
  static Value Schema() { return tool_type_internal::FormatSchema("duration"); }
  static Result<Duration> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const auto time, tool_type_internal::TimedeltaFrom(value, place));
    return tool_type_internal::ExactCast<Duration>(time, value, place);
  }
  static Value ToValue(Duration time) {
    return tool_type_internal::TimedeltaValue(std::chrono::duration_cast<tool_type_internal::Micros>(time));
  }
};

template <typename Duration>
struct ToolType<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

  static std::string Annotation() { return "datetime.datetime"; }
  static Value Schema() { return tool_type_internal::FormatSchema("date-time"); }
  static Result<Time> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const auto time, tool_type_internal::DatetimeFrom(value, place));
    ASSIGN_OR_RETURN(const auto since, tool_type_internal::ExactCast<Duration>(time, value, place));
    return Time(since);
  }
  static Value ToValue(Time time) {
    return tool_type_internal::DatetimeValue(
        std::chrono::floor<tool_type_internal::Micros>(time.time_since_epoch()));
  }
};

template <>
struct ToolType<std::chrono::year_month_day> {
  static std::string Annotation() { return "datetime.date"; }
  static Value Schema() { return tool_type_internal::FormatSchema("date"); }
  static Result<std::chrono::year_month_day> FromValue(const Value& value, const ValuePlace& place) {
    return tool_type_internal::DateFrom(value, place);
  }
  static Value ToValue(std::chrono::year_month_day date) { return tool_type_internal::DateValue(date); }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_TIME_TYPE_H_
