#include "gloveport/core/model/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string_view>

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

Status Sleep(std::chrono::nanoseconds delay, Deadline deadline, const std::stop_token& cancel) {
  std::mutex mutex;
  std::condition_variable_any never_notified;
  std::unique_lock lock(mutex);
  const Deadline until = Earlier(deadline, Deadline::After(delay));
  never_notified.wait_until(lock, cancel, until.when(), [] { return false; });
  if (cancel.stop_requested()) return Fail(ErrorCode::kClosed, "cancelled while waiting for another try");
  if (deadline.passed()) {
    return Fail(ErrorCode::kDeadlineExceeded,
                "the time that was given ran out while waiting for another try");
  }
  return {};
}

double Random() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_real_distribution<double>(0.0, 1.0)(generator);
}

std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<int> ParseDigits(std::string_view text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that RFC 9110 lets a server send.
std::optional<system_clock::time_point> ParseHttpDate(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || text.substr(25) != " GMT" || text[3] != ',') return std::nullopt;
  const auto day = ParseDigits(text.substr(5, 2));
  const auto month = kMonths.find(text.substr(8, 3));
  const auto year = ParseDigits(text.substr(12, 4));
  const auto hour = ParseDigits(text.substr(17, 2));
  const auto minute = ParseDigits(text.substr(20, 2));
  const auto second = ParseDigits(text.substr(23, 2));
  if (!day || !year || !hour || !minute || !second || month == std::string_view::npos || month % 3 != 0) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

constexpr double kMaxMilliseconds = 1e12;  // keeps conversions to integers in range

}  // namespace

RetryClock RetryClock::System() {
  return {[] { return system_clock::now(); }, Random, Sleep};
}

bool WorthRetrying(const HttpResponse& response) {
  if (const std::string* wish = FindHeader(response.headers, "x-should-retry")) {
    if (*wish == "true") return true;
    if (*wish == "false") return false;
  }
  return response.status == 408 || response.status == 409 || response.status == 429 || response.status >= 500;
}

std::optional<milliseconds> RequestedDelay(const HttpHeaders& headers, system_clock::time_point now) {
  const auto in_range = [](double ms) {
    return milliseconds(static_cast<std::int64_t>(std::clamp(ms, -kMaxMilliseconds, kMaxMilliseconds)));
  };
  if (const std::string* text = FindHeader(headers, "retry-after-ms")) {
    if (const auto number = ParseNumber(*text)) return in_range(*number);
  }
  if (const std::string* text = FindHeader(headers, "retry-after")) {
    if (const auto number = ParseNumber(*text)) return in_range(*number * 1000);
    if (const auto date = ParseHttpDate(*text)) return std::chrono::ceil<milliseconds>(*date - now);
  }
  return std::nullopt;
}

milliseconds RetryDelay(const RetryPolicy& policy, int failures, const HttpHeaders& headers,
                        const RetryClock& clock) {
  const auto requested = RequestedDelay(headers, clock.now());
  if (requested && *requested > milliseconds(0) && *requested <= policy.max_server_delay) return *requested;
  const double doubled = static_cast<double>(policy.first_delay.count()) * std::pow(2.0, failures - 1);
  const double capped = std::min(doubled, static_cast<double>(policy.max_delay.count()));
  return milliseconds(static_cast<std::int64_t>(capped * (1.0 - 0.25 * clock.random())));
}

}  // namespace gloveport
