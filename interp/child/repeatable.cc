#include "gloveport/interp/child/repeatable.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace gloveport::child {
namespace {

constexpr std::int64_t kReal = -1;
constexpr std::int64_t kReadingNs = 1000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kMaxEntropy = 256;  // bytes that getentropy gives at once

std::atomic<std::int64_t> g_wall{kReal};  // the next reading, in nanoseconds since 1970
std::atomic<bool> g_seeded{false};
std::atomic<std::uint64_t> g_state{0};

bool IsWallClock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
         clock == CLOCK_REALTIME_ALARM;
}

// False where the wall clock is the real one.
bool ReadWall(timespec* time) {
  if (g_wall.load(std::memory_order_relaxed) == kReal) return false;
  const std::int64_t now = g_wall.fetch_add(kReadingNs, std::memory_order_relaxed);
  *time = {now / kSecondNs, now % kSecondNs};
  return true;
}

int ReadReal(clockid_t clock, timespec* time) {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  return real != nullptr ? real(clock, time) : static_cast<int>(::syscall(__NR_clock_gettime, clock, time));
}

timespec Now(clockid_t real_clock) {
  timespec time{};
  if (!ReadWall(&time)) ReadReal(real_clock, &time);
  return time;
}

// SplitMix64.
std::uint64_t NextRandom() {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;
  std::uint64_t x = g_state.fetch_add(kStep, std::memory_order_relaxed) + kStep;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

void FillRandom(void* to, std::size_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const std::uint64_t word = NextRandom();
    const std::size_t part = std::min(size, sizeof word);
    std::memcpy(bytes, &word, part);
    bytes += part;
    size -= part;
  }
}

ssize_t GetRandom(void* to, std::size_t size, unsigned flags) {
  if (!g_seeded.load(std::memory_order_relaxed)) return ::syscall(__NR_getrandom, to, size, flags);
  FillRandom(to, size);
  return static_cast<ssize_t>(size);
}

// All of it; the kernel gives up to 256 bytes whole once it has been started.
void GetAllRandom(void* to, std::size_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = GetRandom(bytes, std::min(size, kMaxEntropy), 0);
    if (got < 0 && errno != EINTR) ::abort();
    if (got <= 0) continue;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
}

}  // namespace

void SeedRandomNumbers(std::uint64_t seed) {
  g_state = seed;
  g_seeded = true;
}

void SetWallClock(std::chrono::nanoseconds instant) { g_wall = instant.count(); }

void AdvanceWallClock(std::chrono::nanoseconds instant) {
  std::int64_t now = g_wall;
  while (now < instant.count() && !g_wall.compare_exchange_weak(now, instant.count())) {
  }
}

}  // namespace gloveport::child

#define GLOVEPORT_IN_PLACE_OF_LIBC extern "C" __attribute__((visibility("default")))

GLOVEPORT_IN_PLACE_OF_LIBC int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using namespace gloveport::child;
  return IsWallClock(clock) && ReadWall(time) ? 0 : ReadReal(clock, time);
}

GLOVEPORT_IN_PLACE_OF_LIBC int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
  if (zone != nullptr) std::memset(zone, 0, sizeof(struct timezone));
  const timespec now = gloveport::child::Now(CLOCK_REALTIME);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

GLOVEPORT_IN_PLACE_OF_LIBC time_t time(time_t* time) noexcept {
  const time_t now = gloveport::child::Now(CLOCK_REALTIME_COARSE).tv_sec;
  if (time != nullptr) *time = now;
  return now;
}

GLOVEPORT_IN_PLACE_OF_LIBC int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  *time = gloveport::child::Now(CLOCK_REALTIME);
  return base;
}

GLOVEPORT_IN_PLACE_OF_LIBC ssize_t getrandom(void* to, size_t size, unsigned flags) {
  return gloveport::child::GetRandom(to, size, flags);
}

GLOVEPORT_IN_PLACE_OF_LIBC int getentropy(void* to, size_t size) {
  if (size > gloveport::child::kMaxEntropy) {
    errno = EIO;
    return -1;
  }
  gloveport::child::GetAllRandom(to, size);
  return 0;
}

GLOVEPORT_IN_PLACE_OF_LIBC void arc4random_buf(void* to, size_t size) noexcept {
  gloveport::child::GetAllRandom(to, size);
}

GLOVEPORT_IN_PLACE_OF_LIBC std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  gloveport::child::GetAllRandom(&number, sizeof number);
  return number;
}

GLOVEPORT_IN_PLACE_OF_LIBC std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  if (bound < 2) return 0;
  const std::uint32_t least = (0u - bound) % bound;  // below it some remainders would come more often
  std::uint32_t number = arc4random();
  while (number < least) number = arc4random();
  return number % bound;
}
