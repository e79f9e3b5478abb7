#include "gloveport/tests/bench/round_trip.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "gloveport/core/base/fd_io.h"

namespace gloveport::bench {
namespace {

constexpr std::size_t kRequestBytes = 26;
constexpr std::size_t kReplyBytes = 14;

using Word = std::atomic<std::uint32_t>;

void Wait(Word& word, std::uint32_t while_it_is) {
  while (word.load(std::memory_order_acquire) == while_it_is)
    ::syscall(SYS_futex, &word, FUTEX_WAIT, while_it_is, nullptr, nullptr, 0);
}

void Post(Word& word) {
  word.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void EchoOverSocket(int socket) {
  std::array<char, kRequestBytes> bytes{};
  while (::read(socket, bytes.data(), bytes.size()) > 0) {
    if (::write(socket, bytes.data(), kReplyBytes) < 0) return;
  }
}

}  // namespace

struct RoundTrip::Shared {
  alignas(64) Word request{0};
  alignas(64) Word reply{0};
};

pid_t Helper::Fork() {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
  }
  return pid;
}

Helper::~Helper() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<std::unique_ptr<RoundTrip>> RoundTrip::Start(const Placement& placement) {
  std::unique_ptr<RoundTrip> trip(new RoundTrip);
  ASSIGN_OR_RETURN(auto sockets, MakeSocketPair());
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return FailErrno("mmap", errno);
  trip->shared_ = new (memory) Shared;
  trip->socket_peer_ = std::make_unique<Helper>([&] {
    placement.MoveToSessionCpu();
    sockets.first.reset();
    EchoOverSocket(sockets.second.get());
  });
  trip->futex_peer_ = std::make_unique<Helper>([&] {
    placement.MoveToSessionCpu();
    for (std::uint32_t seen = 0;; ++seen) {
      Wait(trip->shared_->request, seen);
      Post(trip->shared_->reply);
    }
  });
  trip->socket_ = std::move(sockets.first);
  return trip;
}

RoundTrip::~RoundTrip() {
  socket_peer_.reset();
  futex_peer_.reset();
  if (shared_) ::munmap(shared_, sizeof(Shared));
}

Samples RoundTrip::OverSocket(int batches, int batch) {
  Samples samples;
  std::array<char, kRequestBytes> bytes{};
  for (int i = 0; i < batches; ++i) {
    const Stopwatch watch;
    for (int k = 0; k < batch; ++k) {
      if (::write(socket_.get(), bytes.data(), bytes.size()) < 0) return samples;
      if (::read(socket_.get(), bytes.data(), bytes.size()) <= 0) return samples;
    }
    samples.Add(watch.Microseconds() / batch);
  }
  return samples;
}

Samples RoundTrip::ByFutex(int batches, int batch) {
  Samples samples;
  for (int i = 0; i < batches; ++i) {
    const Stopwatch watch;
    for (int k = 0; k < batch; ++k) {
      const std::uint32_t before = shared_->reply.load();
      Post(shared_->request);
      Wait(shared_->reply, before);
    }
    samples.Add(watch.Microseconds() / batch);
  }
  return samples;
}

std::unique_ptr<Helper> StartBusyProcess(const Placement& placement) {
  return std::make_unique<Helper>([&] {
    placement.MoveAnywhere();
    for (volatile std::uint64_t i = 0;;) i = i + 1;
  });
}

}  // namespace gloveport::bench
