// When a failed exchange with a model's endpoint is tried again, and after how long: as the vendors' own
// clients do.
#ifndef GLOVEPORT_CORE_MODEL_RETRY_H_
#define GLOVEPORT_CORE_MODEL_RETRY_H_

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_message.h"

namespace gloveport {

struct RetryPolicy {
  int max_retries = 2;
  std::chrono::milliseconds first_delay{
      500};  // doubled with each try, up to max_delay, less a random quarter
  std::chrono::milliseconds max_delay{8000};
  std::chrono::milliseconds max_server_delay{60'000};  // a server that asks for more is not obeyed
};

// The world outside of retries, replaceable so that tests neither sleep nor depend on chance.
struct RetryClock {
  std::function<std::chrono::system_clock::time_point()> now;
  std::function<double()> random;  // at least 0, below 1
  // kDeadlineExceeded when the deadline comes first, kClosed when a stop was requested.
  std::function<Status(std::chrono::nanoseconds delay, Deadline deadline, std::stop_token cancel)> sleep;

  static RetryClock System();
};

// 408, 409, 429 and 5xx; `x-should-retry: true` or `false` decides where the server sends it.
bool WorthRetrying(const HttpResponse& response);

// What the server asks for by `retry-after-ms` or `retry-after` (seconds or an HTTP date); nothing where it
// asks for nothing that can be understood.
std::optional<std::chrono::milliseconds> RequestedDelay(const HttpHeaders& headers,
                                                        std::chrono::system_clock::time_point now);

// The pause before the next try, after `failures` failed ones (1 or more).
std::chrono::milliseconds RetryDelay(const RetryPolicy& policy, int failures, const HttpHeaders& headers,
                                     const RetryClock& clock);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_RETRY_H_
