#include "gloveport/core/serve/line_writer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>

namespace gloveport {

Result<std::unique_ptr<LineWriter>> LineWriter::Create(int fd, std::function<void()> on_failure,
                                                       std::size_t max_pending_bytes) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return FailErrno("cannot make an eventfd for the line writer", errno);
  return std::unique_ptr<LineWriter>(
      new LineWriter(fd, std::move(wake), std::move(on_failure), max_pending_bytes));
}

LineWriter::LineWriter(int fd, UniqueFd wake, std::function<void()> on_failure, std::size_t max_pending_bytes)
    : fd_(fd),
      wake_(std::move(wake)),
      on_failure_(std::move(on_failure)),
      max_pending_bytes_(max_pending_bytes),
      thread_([this] { Loop(); }) {}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Wake();
  thread_.join();
}

void LineWriter::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof one);  // full is as good as set
}

void LineWriter::Write(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    pending_.append(line);
    pending_.push_back('\n');
  }
  Wake();
}

bool LineWriter::Flush(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return failed_ || (pending_.empty() && !writing_); };
  if (deadline.never()) {
    changed_.wait(lock, done);
  } else {
    changed_.wait_until(lock, deadline.when(), done);
  }
  return !failed_ && pending_.empty() && !writing_;
}

bool LineWriter::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

bool LineWriter::lags() const {
  const std::lock_guard lock(mutex_);
  return lags_;
}

void LineWriter::Fail() {
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    pending_ = std::string();
    writing_ = false;
  }
  changed_.notify_all();
  if (on_failure_) on_failure_();
}

bool LineWriter::WriteSome() {
  // A pipe that poll calls writable takes PIPE_BUF bytes without blocking, and no promise goes further.
  const std::size_t size = std::min<std::size_t>(current_.size() - written_, PIPE_BUF);
  const ssize_t wrote = ::write(fd_, current_.data() + written_, size);
  if (wrote < 0) return errno == EINTR || errno == EAGAIN;
  written_ += static_cast<std::size_t>(wrote);
  return true;
}

void LineWriter::Loop() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      if (written_ == current_.size()) {
        current_ = std::exchange(pending_, std::string());
        written_ = 0;
        writing_ = !current_.empty();
        if (!writing_) changed_.notify_all();
      }
      lags_ = pending_.size() + current_.size() - written_ > max_pending_bytes_;
      if (lags_) break;
    }
    const short wanted = written_ < current_.size() ? POLLOUT : 0;
    std::array<pollfd, 2> waits = {pollfd{fd_, wanted, 0}, pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
    if ((waits[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) break;
    if (waits[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = ::read(wake_.get(), &count, sizeof count);
    }
    if ((waits[0].revents & POLLOUT) != 0 && !WriteSome()) break;
  }
  Fail();
}

}  // namespace gloveport
