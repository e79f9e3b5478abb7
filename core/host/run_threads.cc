#include "gloveport/core/host/run_threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace gloveport {
namespace {

constexpr std::chrono::seconds kIdleTime{5};

}  // namespace

// Shared with the threads, which are detached: one that ends touches it after the destructor has seen it end.
struct RunThreads::State {
  explicit State(std::size_t max) : max_threads(max) {}

  const std::size_t max_threads;
  std::mutex mutex;
  std::condition_variable posted;
  std::condition_variable ended;
  std::deque<std::function<void()>> waiting;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool closing = false;
};

RunThreads::RunThreads(std::size_t max_threads)
    : state_(std::make_shared<State>(std::max<std::size_t>(max_threads, 1))) {}

RunThreads::~RunThreads() {
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->posted.notify_all();
  state_->ended.wait(lock, [this] { return state_->threads == 0; });
}

Status RunThreads::Post(std::function<void()> task) {
  const std::lock_guard lock(state_->mutex);
  state_->waiting.push_back(std::move(task));
  if (state_->idle >= state_->waiting.size() || state_->threads == state_->max_threads) {
    state_->posted.notify_one();
    return {};
  }
  try {
    std::thread([state = state_] { Work(state); }).detach();
    ++state_->threads;
  } catch (const std::system_error& error) {
    if (state_->threads == 0) {
      state_->waiting.pop_back();
      return Fail(ErrorCode::kResourceExhausted, std::string("cannot start a thread: ") + error.what());
    }
    state_->posted.notify_one();
  }
  return {};
}

void RunThreads::PostNext(std::function<void()> task) {
  const std::lock_guard lock(state_->mutex);
  state_->waiting.push_back(std::move(task));
}

std::size_t RunThreads::count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->threads;
}

void RunThreads::Work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    ++state->idle;
    state->posted.wait_for(lock, kIdleTime, [&] { return state->closing || !state->waiting.empty(); });
    --state->idle;
    if (state->waiting.empty()) break;  // nothing came, or nothing more will
    std::function<void()> task = std::move(state->waiting.front());
    state->waiting.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before the thread counts as idle
    lock.lock();
  }
  --state->threads;
  state->ended.notify_all();
}

}  // namespace gloveport
