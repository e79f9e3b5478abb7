#include "gloveport/tools/time_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gloveport::tool_type_internal {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// Reads a text from its beginning; each step fails where it is not what the step wants.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}
  bool at_end() const { return text_.empty(); }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool Number(std::size_t digits, int& number) {
    number = 0;
    for (std::size_t i = 0; i < digits; ++i, text_.remove_prefix(1)) {
      if (text_.empty() || text_.front() < '0' || text_.front() > '9') return false;
      number = number * 10 + (text_.front() - '0');
    }
    return true;
  }
  // Digits after a point, as microseconds; more than six are cut off.
  bool Fraction(int& micros) {
    std::size_t digits = 0;
    micros = 0;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1)) {
      if (digits++ < 6) micros = micros * 10 + (text_.front() - '0');
    }
    for (std::size_t i = digits; i < 6; ++i) micros *= 10;
    return digits > 0;
  }

 private:
  std::string_view text_;
};

bool ReadDate(TextReader& reader, year_month_day& date) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!reader.Number(4, year) || !reader.Take('-') || !reader.Number(2, month) || !reader.Take('-') ||
      !reader.Number(2, day)) {
    return false;
  }
  date = year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                        std::chrono::day(static_cast<unsigned>(day)));
  return date.ok();
}

// "12:30", "12:30:15", "12:30:15.25".
bool ReadClock(TextReader& reader, Micros& time) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micros = 0;
  if (!reader.Number(2, hour) || !reader.Take(':') || !reader.Number(2, minute)) return false;
  if (reader.Take(':')) {
    if (!reader.Number(2, second)) return false;
    if (reader.Take('.') && !reader.Fraction(micros)) return false;
  }
  time = hours(hour) + minutes(minute) + seconds(second) + Micros(micros);
  return hour < 24 && minute < 60 && second < 60;
}

// The years that Python's datetime has.
constexpr Micros kFirst = sys_days(std::chrono::January / 1 / 1).time_since_epoch();
constexpr Micros kLast = sys_days(std::chrono::December / 31 / 9999).time_since_epoch() + days(1) - Micros(1);

bool ReadDatetime(std::string_view text, Micros& time) {
  TextReader reader(text);
  year_month_day date;
  if (!ReadDate(reader, date)) return false;
  time = sys_days(date).time_since_epoch();
  if (reader.at_end()) return true;
  Micros clock{0};
  if ((!reader.Take('T') && !reader.Take(' ')) || !ReadClock(reader, clock)) return false;
  time += clock;
  if (reader.at_end() || (reader.Take('Z') && reader.at_end())) return true;
  const bool east = reader.Take('+');
  if (!east && !reader.Take('-')) return false;
  if (!ReadClock(reader, clock)) return false;
  time += east ? -clock : clock;
  return reader.at_end();
}

const std::string* TextOfForm(const Value& value, std::initializer_list<Form> forms) {
  if (value.is_text()) return &value.as_text();
  for (const Form form : forms) {
    if (value.is(form) && value.payload().is_text()) return &value.payload().as_text();
  }
  return nullptr;
}

std::string DateText(year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

// [days, seconds, microseconds], as the wire has what is no exact float.
bool PartsFrom(const Value& payload, Micros& time) {
  if (!payload.is_list() || payload.as_list().size() != 3) return false;
  for (const Value& part : payload.as_list()) {
    if (!part.is_int()) return false;
  }
  const auto& parts = payload.as_list();
  if (std::abs(parts[0].as_int()) > 100'000'000) return false;
  time = days(parts[0].as_int()) + seconds(parts[1].as_int()) + Micros(parts[2].as_int());
  return true;
}

}  // namespace

tl::unexpected<Error> Inexact(const ValuePlace& place, const Value& got) {
  return WrongType(place, "a time in coarser units, without a rest", got);
}

Value FormatSchema(std::string_view format) { return Value::Object({{"format", format}}); }

Result<Micros> TimedeltaFrom(const Value& value, const ValuePlace& place) {
  constexpr double kMost = 9e12;  // seconds, so that microseconds have room in 64 bits
  Micros time{0};
  const Value& number = value.is(Form::kTimedelta) ? value.payload() : value;
  if (number.is_int() && std::abs(static_cast<double>(number.as_int())) < kMost)
    return Micros(seconds(number.as_int()));
  if (number.is_double() && std::abs(number.as_double()) < kMost)
    return Micros(std::llround(number.as_double() * 1e6));
  if (value.is(Form::kTimedelta) && PartsFrom(number, time)) return time;
  return WrongType(place, "datetime.timedelta", value);
}

Value TimedeltaValue(Micros time) {
  if (time % seconds(1) == Micros(0))
    return Value(Form::kTimedelta, Value(std::int64_t{std::chrono::duration_cast<seconds>(time).count()}));
  const auto whole_days = std::chrono::floor<days>(time);
  const auto rest = time - whole_days;
  const auto whole_seconds = std::chrono::floor<seconds>(rest);
  return Value(Form::kTimedelta, Value(Value::List{Value(std::int64_t{whole_days.count()}),
                                                   Value(std::int64_t{whole_seconds.count()}),
                                                   Value(std::int64_t{(rest - whole_seconds).count()})}));
}

Result<Micros> DatetimeFrom(const Value& value, const ValuePlace& place) {
  Micros time{0};
  const std::string* text = TextOfForm(value, {Form::kDatetime, Form::kDate});
  if (text == nullptr || !ReadDatetime(*text, time) || time < kFirst || time > kLast)
    return WrongType(place, "datetime.datetime", value);
  return time;
}

Value DatetimeValue(Micros since_1970) {
  since_1970 = std::clamp(since_1970, kFirst, kLast);
  const auto day = std::chrono::floor<days>(since_1970);
  const auto rest = std::chrono::hh_mm_ss<Micros>(since_1970 - day);
  std::string text = fmt::format("{}T{:02}:{:02}:{:02}", DateText(year_month_day(sys_days(day))),
                                 rest.hours().count(), rest.minutes().count(), rest.seconds().count());
  if (rest.subseconds() != Micros(0)) text += fmt::format(".{:06}", rest.subseconds().count());
  return Value(Form::kDatetime, Value(text + "+00:00"));
}

Result<std::chrono::year_month_day> DateFrom(const Value& value, const ValuePlace& place) {
  year_month_day date;
  const std::string* text = TextOfForm(value, {Form::kDate});
  TextReader reader(text != nullptr ? *text : std::string_view());
  if (text == nullptr || !ReadDate(reader, date) || !reader.at_end())
    return WrongType(place, "datetime.date", value);
  return date;
}

Value DateValue(std::chrono::year_month_day date) { return Value(Form::kDate, Value(DateText(date))); }

}  // namespace gloveport::tool_type_internal
