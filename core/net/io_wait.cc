#include "gloveport/core/net/io_wait.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

namespace gloveport {

Result<std::unique_ptr<IoWait>> IoWait::Make(Deadline deadline, std::stop_token cancel) {
  std::unique_ptr<IoWait> wait(new IoWait(deadline, std::move(cancel)));
  if (wait->cancel_.stop_possible()) {
    wait->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wait->wake_) return FailErrno("eventfd", errno);
    wait->on_stop_.emplace(wait->cancel_, [fd = wait->wake_.get()] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written =
          ::write(fd, &one, sizeof one);  // fails only if it is readable already
    });
  }
  return wait;
}

Status IoWait::Check() const {
  if (cancel_.stop_requested()) {
    return Fail(ErrorCode::kClosed, fmt::format("cancelled while {}", phase_));
  }
  if (deadline_.passed()) {
    return Fail(ErrorCode::kDeadlineExceeded,
                fmt::format("the time that was given ran out while {}", phase_));
  }
  return {};
}

Result<bool> IoWait::For(int fd, short events, Deadline limit) {
  const Deadline silence = Deadline::After(max_silence_);
  while (true) {
    RETURN_IF_ERROR(Check());
    pollfd entries[2] = {{fd, events, 0}, {wake_.get(), POLLIN, 0}};  // poll ignores a negative descriptor
    const int ready = ::poll(entries, 2, Earlier(silence, Earlier(deadline_, limit)).poll_timeout_ms());
    if (ready < 0 && errno != EINTR) return FailErrno("poll", errno);
    if (ready > 0 && entries[0].revents != 0 && !cancel_.stop_requested()) return true;
    if (ready == 0 && limit.passed()) {
      RETURN_IF_ERROR(Check());
      return false;
    }
    if (ready == 0 && silence.passed() && !deadline_.passed()) {
      return Fail(ErrorCode::kDeadlineExceeded,
                  fmt::format("the server sent nothing for {} while {}",
                              std::chrono::duration_cast<std::chrono::milliseconds>(max_silence_), phase_));
    }
  }
}

}  // namespace gloveport
