#include "gloveport/core/host/async_runs.h"

#include <utility>

namespace gloveport {

std::shared_ptr<AsyncRuns> AsyncRuns::Create(RunThreads& threads, RunNow run) {
  return std::shared_ptr<AsyncRuns>(new AsyncRuns(threads, std::move(run)));
}

void AsyncRuns::Add(std::string code, RunOptions options, Done done) {
  std::optional<Error> refused;
  {
    const std::lock_guard lock(mutex_);
    refused = closed_;
    if (!refused) {
      waiting_.push_back({std::move(code), options, std::move(done)});
      if (scheduled_) return;
      const Status posted = threads_.Post([self = shared_from_this()] { self->RunOne(); });
      scheduled_ = posted.has_value();
      if (posted) return;
      refused = posted.error();
      done = std::move(waiting_.back().done);
      waiting_.pop_back();
    }
  }
  done(tl::unexpected<Error>(std::move(*refused)));
}

// One task for each run and not for the whole queue, so that sessions take turns.
void AsyncRuns::RunOne() {
  std::unique_lock lock(mutex_);
  if (waiting_.empty()) {  // Close was quicker
    scheduled_ = false;
    return;
  }
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  runner_ = std::this_thread::get_id();
  lock.unlock();

  // The completion may close the session, even delete it: run_ is not touched after it.
  next.done(run_(next.code, next.options));
  next = {};  // what the completion holds goes before Close returns

  lock.lock();
  runner_ = {};
  scheduled_ = !waiting_.empty();
  if (scheduled_) threads_.PostNext([self = shared_from_this()] { self->RunOne(); });
  idle_.notify_all();
}

void AsyncRuns::Close(Error reason) {
  std::unique_lock lock(mutex_);
  if (!closed_) closed_ = std::move(reason);
  const Error error = *closed_;
  std::deque<Waiting> left;
  left.swap(waiting_);
  if (runner_ != std::this_thread::get_id())
    idle_.wait(lock, [this] { return runner_ == std::thread::id(); });
  lock.unlock();
  for (Waiting& run : left) run.done(tl::unexpected<Error>(error));
}

bool AsyncRuns::empty() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && runner_ == std::thread::id();
}

}  // namespace gloveport
