#include "gloveport/core/cli/interrupt_watcher.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace gloveport {
namespace {

// A signal handler can reach nothing but these.
std::atomic<int> wake_fd{-1};
std::atomic<int> signals_seen{0};
struct sigaction previous_int, previous_term;

void Wake(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(fd, &one, sizeof one);
}

extern "C" void HandleSignal(int signal) {
  const int saved = errno;
  if (signals_seen.fetch_add(1) > 0) ::_exit(128 + signal);
  Wake(wake_fd);
  errno = saved;
}

}  // namespace

InterruptWatcher::InterruptWatcher(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)), wake_(::eventfd(0, EFD_CLOEXEC)), thread_([this] { Loop(); }) {
  wake_fd = wake_.get();
  signals_seen = 0;
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &previous_int);
  ::sigaction(SIGTERM, &action, &previous_term);
}

InterruptWatcher::~InterruptWatcher() {
  ::sigaction(SIGINT, &previous_int, nullptr);
  ::sigaction(SIGTERM, &previous_term, nullptr);
  ending_ = true;
  Wake(wake_.get());
  thread_.join();
  wake_fd = -1;
}

void InterruptWatcher::Trigger() {
  signals_seen.fetch_add(1);
  Wake(wake_.get());
}

bool InterruptWatcher::interrupted() const { return signals_seen > 0; }

void InterruptWatcher::Loop() {
  bool called = false;
  while (!ending_) {
    std::uint64_t count = 0;
    if (::read(wake_.get(), &count, sizeof count) < 0 && errno != EINTR) return;
    if (!ending_ && !called && signals_seen > 0) {
      called = true;
      on_interrupt_();
    }
  }
}

}  // namespace gloveport
