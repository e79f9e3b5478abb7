// PendingRequests: requests that were sent and not yet answered. Thread-safe.
#ifndef GLOVEPORT_CORE_MCP_PENDING_REQUESTS_H_
#define GLOVEPORT_CORE_MCP_PENDING_REQUESTS_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/mcp/json_rpc.h"

namespace gloveport {

// Of a request that takes its time. `total` is absent where the server does not know it.
struct McpProgress {
  double progress = 0;
  std::optional<double> total;
  std::string message;  // cleaned and cut
};

class PendingRequests {
 public:
  using OnProgress = std::function<void(const McpProgress&)>;

  explicit PendingRequests(std::size_t max_in_flight) : max_in_flight_(max_in_flight) {}

  // A number that no request of this connection had. kResourceExhausted, or the error of FailAll.
  Result<std::int64_t> Add(OnProgress on_progress);

  // The answer, which ends the request. Without one: kDeadlineExceeded, kClosed where `stop` was requested,
  // or the error of FailAll; the request is over then, too.
  Result<RpcMessage> Wait(std::int64_t id, Deadline deadline, const std::stop_token& stop);
  // The same without waiting: nothing where there is no answer yet.
  std::optional<Result<RpcMessage>> Take(std::int64_t id);
  bool IsAnswered(std::int64_t id) const;  // or over
  void Drop(std::int64_t id);

  // Waits until one of `ids` is answered or over; false at the deadline and upon `stop`.
  bool WaitForAny(const std::vector<std::int64_t>& ids, Deadline deadline, const std::stop_token& stop);

  // False for an answer to nothing that was ever asked. One that comes too late is dropped.
  bool Complete(RpcMessage answer);
  bool Progress(const Json& token, const McpProgress& progress);

  // All that wait, and all that come, fail so.
  void FailAll(const Error& error);
  std::size_t size() const;

 private:
  bool IsAnsweredLocked(std::int64_t id) const;

  struct Slot {
    std::optional<Result<RpcMessage>> answer;
    OnProgress on_progress;
  };

  const std::size_t max_in_flight_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::int64_t, Slot> slots_;
  std::int64_t next_ = 1;
  std::optional<Error> failed_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_PENDING_REQUESTS_H_
