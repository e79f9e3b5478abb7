#include "gloveport/core/host/session_timer.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gloveport {

SessionTimer::~SessionTimer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t SessionTimer::Add(Deadline first, Check check) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  const std::uint64_t id = ++last_id_;
  checks_.emplace(id, std::move(check));
  due_.emplace(first.when(), id);
  changed_.notify_all();
  return id;
}

void SessionTimer::Remove(std::uint64_t id) {
  std::unique_lock lock(mutex_);
  checks_.erase(id);  // first: a check that is always due would never let us in
  std::erase_if(due_, [&](const auto& entry) { return entry.second == id; });
  checked_.wait(lock, [&] { return checking_ != id; });
}

void SessionTimer::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto [when, id] = *due_.begin();
    if (Deadline::Clock::now() < when) {
      // Far ahead: wait_until of the library overflows at the end of the clock.
      changed_.wait_until(lock, std::min(when, Deadline::Clock::now() + std::chrono::hours(1)));
      continue;
    }
    due_.erase(due_.begin());
    checking_ = id;
    Check check = checks_.at(id);
    lock.unlock();
    const Deadline again = check();
    check = nullptr;
    lock.lock();
    checking_ = 0;
    if (!again.never() && checks_.contains(id)) due_.emplace(again.when(), id);
    checked_.notify_all();
  }
}

}  // namespace gloveport
