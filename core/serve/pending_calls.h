// PendingCalls: the tool calls of one connection that wait for the client's reply. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_PENDING_CALLS_H_
#define GLOVEPORT_CORE_SERVE_PENDING_CALLS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

class PendingCalls {
 public:
  // A new call, to be announced to the client; Wait must follow.
  std::uint64_t Begin();

  // Blocks until the client has answered: its value, or its error. kDeadlineExceeded when the deadline
  // passes, kClosed when `stop` is requested or the client can no longer answer.
  Result<Value> Wait(std::uint64_t call, Deadline deadline, std::stop_token stop);

  // kNotFound for a number that was never given out. An answer to a call that has been given up is dropped:
  // the client could not know.
  Status Answer(std::uint64_t call, Result<Value> reply);

  // No answer can come any more: ends all waits, and every later one at once.
  void Close();

 private:
  struct Call {
    std::condition_variable_any answered;
    std::optional<Result<Value>> reply;
  };

  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_PENDING_CALLS_H_
