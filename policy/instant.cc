#include "gloveport/policy/instant.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>

namespace gloveport {
namespace {

using std::chrono::nanoseconds;
using std::chrono::sys_days;

constexpr std::size_t kMaxDecimals = 9;

// Takes `digits` digits and the text behind them off the front.
std::optional<int> TakeNumber(std::string_view& text, std::size_t digits, std::string_view behind) {
  if (text.size() < digits + behind.size() || text.substr(digits, behind.size()) != behind)
    return std::nullopt;
  int number = 0;
  const char* end = text.data() + digits;
  if (text.front() == '-' || std::from_chars(text.data(), end, number).ptr != end) return std::nullopt;
  text.remove_prefix(digits + behind.size());
  return number;
}

// What stands behind the seconds: "Z" or ".123Z".
std::optional<nanoseconds> TakeFraction(std::string_view text) {
  if (text == "Z") return nanoseconds(0);
  if (text.size() < 3 || text.size() > kMaxDecimals + 2 || text.front() != '.' || text.back() != 'Z')
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::int64_t fraction = 0;
  for (std::size_t i = 0; i < kMaxDecimals; ++i) {
    const char digit = i < text.size() ? text[i] : '0';
    if (digit < '0' || digit > '9') return std::nullopt;
    fraction = fraction * 10 + (digit - '0');
  }
  return nanoseconds(fraction);
}

}  // namespace

std::optional<nanoseconds> ParseInstant(std::string_view text) {
  const auto year = TakeNumber(text, 4, "-");
  const auto month = year ? TakeNumber(text, 2, "-") : std::nullopt;
  const auto day = month ? TakeNumber(text, 2, "T") : std::nullopt;
  const auto hour = day ? TakeNumber(text, 2, ":") : std::nullopt;
  const auto minute = hour ? TakeNumber(text, 2, ":") : std::nullopt;
  const auto second = minute ? TakeNumber(text, 2, "") : std::nullopt;
  const auto fraction = second ? TakeFraction(text) : std::nullopt;
  if (!fraction || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 59)
    return std::nullopt;
  const auto date = std::chrono::year(*year) / *month / *day;
  if (!date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch() + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + *fraction;
}

std::string FormatInstant(nanoseconds instant) {
  const auto days = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{sys_days(days)};
  const std::chrono::hh_mm_ss time(instant - days);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 time.hours().count(), time.minutes().count(), time.seconds().count());
  if (time.subseconds().count() != 0) {
    std::string decimals = fmt::format(".{:09}", time.subseconds().count());
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += decimals;
  }
  return text + "Z";
}

}  // namespace gloveport
