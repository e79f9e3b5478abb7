#include "gloveport/core/serve/pending_calls.h"

#include <string>
#include <utility>

namespace gloveport {

std::uint64_t PendingCalls::Begin() {
  const std::lock_guard lock(mutex_);
  calls_.emplace(++last_, std::make_shared<Call>());
  return last_;
}

Result<Value> PendingCalls::Wait(std::uint64_t call, Deadline deadline, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end()) return Fail(ErrorCode::kInternal, "a tool call was waited for twice");
  const std::shared_ptr<Call> entry = found->second;
  const auto done = [&] { return entry->reply.has_value() || closed_; };
  if (deadline.never()) {
    entry->answered.wait(lock, stop, done);
  } else {
    entry->answered.wait_until(lock, stop, deadline.when(), done);
  }
  calls_.erase(call);
  if (entry->reply) return std::move(*entry->reply);
  if (closed_) return Fail(ErrorCode::kClosed, "the client went away before it answered the tool call");
  if (stop.stop_requested())
    return Fail(ErrorCode::kClosed, "the cell was stopped before the client answered the tool call");
  return Fail(ErrorCode::kDeadlineExceeded, "the client did not answer the tool call in time");
}

Status PendingCalls::Answer(std::uint64_t call, Result<Value> reply) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  if (found != calls_.end()) {
    if (found->second->reply)
      return Fail(ErrorCode::kInvalidArgument,
                  "tool call " + std::to_string(call) + " has been answered already");
    found->second->reply = std::move(reply);
    found->second->answered.notify_all();
    return {};
  }
  if (call == 0 || call > last_) {
    return Fail(ErrorCode::kNotFound, "there is no tool call " + std::to_string(call),
                "answer with the number of the tool_call event");
  }
  return {};
}

void PendingCalls::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [number, call] : calls_) call->answered.notify_all();
}

}  // namespace gloveport
