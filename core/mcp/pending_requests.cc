#include "gloveport/core/mcp/pending_requests.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace gloveport {

Result<std::int64_t> PendingRequests::Add(OnProgress on_progress) {
  const std::lock_guard lock(mutex_);
  if (failed_) return tl::unexpected<Error>(*failed_);
  if (slots_.size() >= max_in_flight_) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("{} requests to the server wait for answers already", slots_.size()));
  }
  const std::int64_t id = next_++;
  slots_[id].on_progress = std::move(on_progress);
  return id;
}

Result<RpcMessage> PendingRequests::Wait(std::int64_t id, Deadline deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto answered = [&] { return IsAnsweredLocked(id); };
  if (deadline.never()) {
    changed_.wait(lock, stop, answered);
  } else {
    changed_.wait_until(lock, stop, deadline.when(), answered);
  }
  const auto slot = slots_.find(id);
  if (slot == slots_.end()) return Fail(ErrorCode::kClosed, "the request was given up");
  const auto answer = std::move(slot->second.answer);
  slots_.erase(slot);
  if (answer) return *answer;
  if (stop.stop_requested()) return Fail(ErrorCode::kClosed, "the call was stopped before the answer came");
  return Fail(ErrorCode::kDeadlineExceeded, "no answer came in time");
}

std::optional<Result<RpcMessage>> PendingRequests::Take(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto slot = slots_.find(id);
  if (slot == slots_.end() || !slot->second.answer) return std::nullopt;
  auto answer = std::move(slot->second.answer);
  slots_.erase(slot);
  return answer;
}

bool PendingRequests::IsAnswered(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  return IsAnsweredLocked(id);
}

bool PendingRequests::IsAnsweredLocked(std::int64_t id) const {
  const auto slot = slots_.find(id);
  return slot == slots_.end() || slot->second.answer.has_value();
}

bool PendingRequests::WaitForAny(const std::vector<std::int64_t>& ids, Deadline deadline,
                                 const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto answered = [&] {
    return std::any_of(ids.begin(), ids.end(), [&](std::int64_t id) { return IsAnsweredLocked(id); });
  };
  if (deadline.never()) return changed_.wait(lock, stop, answered);
  return changed_.wait_until(lock, stop, deadline.when(), answered);
}

void PendingRequests::Drop(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  slots_.erase(id);
  changed_.notify_all();
}

bool PendingRequests::Complete(RpcMessage answer) {
  if (!answer.id.is_number_integer()) return false;
  const std::int64_t id = answer.id.get<std::int64_t>();
  const std::lock_guard lock(mutex_);
  const auto slot = slots_.find(id);
  if (slot == slots_.end() || slot->second.answer) return id > 0 && id < next_;
  slot->second.answer = std::move(answer);
  changed_.notify_all();
  return true;
}

bool PendingRequests::Progress(const Json& token, const McpProgress& progress) {
  OnProgress on_progress;
  {
    const std::lock_guard lock(mutex_);
    const auto slot = token.is_number_integer() ? slots_.find(token.get<std::int64_t>()) : slots_.end();
    if (slot == slots_.end()) return false;
    on_progress = slot->second.on_progress;
  }
  if (on_progress) on_progress(progress);
  return true;
}

void PendingRequests::FailAll(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!failed_) failed_ = error;
  for (auto& [id, slot] : slots_) {
    if (!slot.answer) slot.answer = tl::unexpected<Error>(*failed_);
  }
  changed_.notify_all();
}

std::size_t PendingRequests::size() const {
  const std::lock_guard lock(mutex_);
  return slots_.size();
}

}  // namespace gloveport
