// AsyncRuns: the runs of one session that wait for their turn without a thread of the caller's. Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_ASYNC_RUNS_H_
#define GLOVEPORT_CORE_HOST_ASYNC_RUNS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gloveport/core/host/run_threads.h"
#include "gloveport/core/host/session.h"

namespace gloveport {

class AsyncRuns : public std::enable_shared_from_this<AsyncRuns> {
 public:
  using Done = std::function<void(Result<CellResult>)>;
  using RunNow = std::function<Result<CellResult>(std::string_view, const RunOptions&)>;

  // `threads` outlives every session. `run` is not called any more once Close has returned.
  static std::shared_ptr<AsyncRuns> Create(RunThreads& threads, RunNow run);

  // Each `done` is called exactly once, in the order of Add; where nothing can be run at once, on this
  // thread.
  void Add(std::string code, RunOptions options, Done done);

  // Waits for the run and the completion that are under way (not where this is that completion), then
  // completes what waits with `reason`. What is added later completes with it as well. The first reason
  // stays.
  void Close(Error reason);

  bool empty() const;  // nothing runs or waits

 private:
  struct Waiting {
    std::string code;
    RunOptions options;
    Done done;
  };

  AsyncRuns(RunThreads& threads, RunNow run) : threads_(threads), run_(std::move(run)) {}
  void RunOne();

  RunThreads& threads_;
  RunNow run_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<Waiting> waiting_;
  bool scheduled_ = false;  // a task of ours is with threads_, or runs
  std::thread::id runner_;  // that runs one now
  std::optional<Error> closed_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_ASYNC_RUNS_H_
