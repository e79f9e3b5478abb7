#include "gloveport/core/serve/task_queue.h"

#include <utility>

namespace gloveport {

TaskQueue::TaskQueue(Activity& activity, std::size_t max_waiting)
    : activity_(activity), max_waiting_(max_waiting), thread_([this] { Loop(); }) {}

TaskQueue::~TaskQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool TaskQueue::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting_) return false;
    waiting_.push_back(std::move(task));
    activity_.Begin();
  }
  changed_.notify_all();
  return true;
}

void TaskQueue::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before it counts as ended
    activity_.End();
    lock.lock();
  }
}

}  // namespace gloveport
