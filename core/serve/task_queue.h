// TaskQueue: tasks one after the other on a thread of their own. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_TASK_QUEUE_H_
#define GLOVEPORT_CORE_SERVE_TASK_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "gloveport/core/serve/activity.h"

namespace gloveport {

class TaskQueue {
 public:
  // `activity`, which must outlive the queue, counts each task from Post to its end.
  explicit TaskQueue(Activity& activity, std::size_t max_waiting = 1024);
  ~TaskQueue();  // runs what is waiting, then joins
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // False when `max_waiting` tasks are waiting already: the task is not taken.
  [[nodiscard]] bool Post(std::function<void()> task);

 private:
  void Loop();

  Activity& activity_;
  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_TASK_QUEUE_H_
