// The part of SessionImpl that ends a session after a time. Its checks run on the timer's thread, which is
// one for all sessions: nothing here waits for the session.
#include <fmt/core.h>

#include <system_error>
#include <utility>

#include "gloveport/core/host/session_impl.h"

namespace gloveport {
namespace {

// While a running cell is being ended, which takes its grace time at most.
constexpr std::chrono::milliseconds kLookAgain{20};

double Seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Error SessionImpl::ClosedError() const {
  constexpr const char* kHint = "open a new session";
  switch (closed_by_.load()) {
    case ClosedBy::kIdleTimeout:
      return {ErrorCode::kClosed,
              fmt::format("session {} was closed: nothing was asked of it for {} s, its idle time-out", id(),
                          Seconds(*options_.idle_timeout)),
              kHint};
    case ClosedBy::kTimeToLive:
      return {ErrorCode::kClosed,
              fmt::format("session {} was closed: its time to live of {} s has ended", id(),
                          Seconds(*options_.time_to_live)),
              kHint};
    default:
      return {ErrorCode::kClosed, fmt::format("session {} is closed", id()), ""};
  }
}

Status SessionImpl::StartTimer() {
  for (const auto& time : {options_.idle_timeout, options_.time_to_live}) {
    if (time && time->count() < 1)
      return Fail(ErrorCode::kInvalidArgument, "an idle time-out or time to live must be 1 ms or more");
  }
  if (options_.time_to_live) lives_until_ = Deadline::After(*options_.time_to_live);
  if (!options_.idle_timeout && !options_.time_to_live) return {};
  const Deadline first =
      options_.idle_timeout ? Earlier(lives_until_, Deadline::After(*options_.idle_timeout)) : lives_until_;
  try {
    timer_entry_ = surroundings_.timer.Add(first, [this] { return CheckTime(); });
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("cannot start the thread that watches idle sessions: {}", error.what()));
  }
  return {};
}

Deadline SessionImpl::CheckTime() {
  if (!closed() && lives_until_.passed()) (void)CloseFor(ClosedBy::kTimeToLive);
  if (!closed()) {
    if (const auto again = CloseIfIdle()) return *again;
  }
  return LetGoIfUnused();
}

// When to look again, or nothing where it is closed now.
std::optional<Deadline> SessionImpl::CloseIfIdle() {
  if (!options_.idle_timeout) return lives_until_;
  const Deadline whole = Deadline::After(*options_.idle_timeout);
  const std::unique_lock lock(run_mutex_, std::try_to_lock);
  if (!lock || !async_runs_->empty()) return Earlier(lives_until_, whole);
  const Deadline idle = Deadline::At(last_used_ + *options_.idle_timeout);
  if (!idle.passed()) return Earlier(lives_until_, idle);
  (void)CloseFor(ClosedBy::kIdleTimeout);
  return std::nullopt;
}

Deadline SessionImpl::LetGoIfUnused() {
  const std::unique_lock lock(run_mutex_, std::try_to_lock);
  if (!lock) return Deadline::After(kLookAgain);
  LetGoLater();
  return Deadline::Never();
}

// As LetGo, but others wait for the ends of the processes.
void SessionImpl::LetGoLater() {
  const auto discard = [this](std::unique_ptr<SessionProcess> process) {
    family_->Remove(process->pid());
    surroundings_.pool.Discard(std::move(process));
  };
  for (KeptCopy& kept : checkpoints_) discard(std::move(kept.process));
  checkpoints_.clear();
  if (process_) discard(std::move(process_));
  // A template of its own, and folders. Where no thread can be had they go with the session.
  (void)surroundings_.threads.Post(
      [process = std::move(private_template_), folder = std::move(scratch_)]() mutable {
        process.reset();
        folder.reset();
      });
  if (!std::exchange(released_, true)) place_.release();
}

}  // namespace gloveport
