// RunThreads: threads of the runtime's for what must not be done on a caller's: asynchronous runs, the end of
// sessions whose time is over.
//
// A task gets a thread at once while fewer than `max_threads` are busy, else it waits for one, first come
// first served. A thread that has had nothing to do for five seconds ends. Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_RUN_THREADS_H_
#define GLOVEPORT_CORE_HOST_RUN_THREADS_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "gloveport/core/base/result.h"

namespace gloveport {

class RunThreads {
 public:
  explicit RunThreads(std::size_t max_threads);
  ~RunThreads();  // waits for what was posted
  RunThreads(const RunThreads&) = delete;
  RunThreads& operator=(const RunThreads&) = delete;

  // kResourceExhausted where no thread runs and none can be started: the task is not taken.
  Status Post(std::function<void()> task);

  // For a task that ends at once: its thread goes on with the next, so that none is woken for this one.
  void PostNext(std::function<void()> task);

  std::size_t count() const;  // threads alive

 private:
  struct State;
  static void Work(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_RUN_THREADS_H_
