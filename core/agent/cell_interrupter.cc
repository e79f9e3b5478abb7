#include "gloveport/core/agent/cell_interrupter.h"

#include <chrono>
#include <utility>

namespace gloveport {
namespace {

constexpr std::chrono::milliseconds kRepeat{250};

}  // namespace

CellInterrupter::CellInterrupter(Session& session, std::stop_token request)
    : thread_([this, &session, request = std::move(request)](const std::stop_token& done) {
        Watch(session, request, done);
      }) {}

void CellInterrupter::Watch(Session& session, const std::stop_token& request, const std::stop_token& done) {
  // Wakes the wait below, which itself can only watch `done`. Made before the lock is taken and gone after it
  // is given back: the callback needs the mutex, and runs at once where the request was there already.
  const std::stop_callback wake(request, [this] {
    { const std::lock_guard guard(mutex_); }
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, done, [&] { return request.stop_requested(); });
  while (!done.stop_requested()) {
    lock.unlock();
    (void)session.Interrupt();
    lock.lock();
    changed_.wait_for(lock, done, kRepeat, [] { return false; });
  }
}

}  // namespace gloveport
