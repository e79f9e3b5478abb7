#include "gloveport/core/serve/activity.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

namespace gloveport {

Activity::Activity() : none_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Activity::End() {
  if (--running_ != 0) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(none_.get(), &one, sizeof one);
}

void Activity::WaitUntilNone(Deadline deadline, int stop_fd) const {
  while (running_ != 0 && !deadline.passed()) {
    std::array<pollfd, 2> waits = {pollfd{none_.get(), POLLIN, 0}, pollfd{stop_fd, POLLIN, 0}};
    ::poll(waits.data(), waits.size(), deadline.poll_timeout_ms());
    if (waits[1].revents != 0) return;
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(none_.get(), &count, sizeof count);
  }
}

}  // namespace gloveport
