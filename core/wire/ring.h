// Ring: one direction of the fast path between host and session: a single-producer, single-consumer byte ring
// in memory that both map. The other side may write anything into it at any time: every index and length is
// copied first and checked on the copy, and an end's own position is never read back from shared memory.
#ifndef GLOVEPORT_CORE_WIRE_RING_H_
#define GLOVEPORT_CORE_WIRE_RING_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/shared_space.h"

namespace gloveport {

inline constexpr std::uint32_t kRingBytes = 64 * 1024;   // a power of two
inline constexpr std::size_t kMaxRingFrame = 32 * 1024;  // larger frames go over the socket
inline constexpr std::uint32_t kSocketFrame =
    0xFFFF'FFFF;  // in place of a length: the frame is on the socket

// Where a reader waits. A nap is on the word itself: it costs half as much to be woken from, but nothing else
// than the ring can end it.
enum class Sleep : std::uint32_t { kAwake, kOnEvent, kNapping };

// What one side writes stands apart from what the other does, by two lines of the cache: processors fetch
// them in pairs.
inline constexpr std::size_t kApart = 128;

struct SharedRing {
  alignas(kApart) std::atomic<std::uint32_t> head;    // bytes ever written, modulo 2^32
  alignas(kApart) std::atomic<std::uint32_t> tail;    // bytes ever taken
  alignas(kApart) std::atomic<std::uint32_t> asleep;  // whether and where the reader waits: a Sleep
  std::atomic<std::int32_t> reader_cpu;               // a hint: where the reader ran when it last looked
  alignas(kApart) std::byte data[kRingBytes];
};

struct SharedRings {
  SharedRing to_session;
  SharedRing to_host;
};

// A mapping of SharedRings and, behind them, of a SharedSpace for each direction; unmapped when it goes.
class RingMemory {
 public:
  // A new, sealed memory file of the right size, and its mapping.
  static Result<std::pair<RingMemory, UniqueFd>> Make();
  static Result<RingMemory> Map(int fd);
  RingMemory(RingMemory&& other) noexcept : rings_(std::exchange(other.rings_, nullptr)) {}
  RingMemory& operator=(RingMemory&& other) noexcept;
  ~RingMemory();

  SharedRings& rings() const { return *rings_; }
  std::span<std::byte> space_to_session() const;
  std::span<std::byte> space_to_host() const;

 private:
  explicit RingMemory(SharedRings* rings) : rings_(rings) {}
  SharedRings* rings_;
};

class RingWriter {
 public:
  explicit RingWriter(SharedRing& ring) : ring_(&ring) {}

  // False where there is no room now. kProtocol where the reader's position is impossible.
  Result<bool> TryWrite(std::string_view payload);
  Result<bool> TryWriteSocketMark();

  // Wakes a reader that naps. True if it sleeps: the caller must then signal its event descriptor, once.
  bool TakeSleeper();
  int reader_cpu() const { return ring_->reader_cpu.load(std::memory_order_relaxed); }

 private:
  Result<bool> HasRoom(std::size_t bytes);
  void Put(const void* from, std::size_t size);
  void Publish() { ring_->head.store(head_, std::memory_order_release); }

  SharedRing* ring_;
  std::uint32_t head_ = 0;
  std::uint32_t known_tail_ = 0;  // the reader's position when it was last looked at
};

class RingReader {
 public:
  explicit RingReader(SharedRing& ring) : ring_(&ring) {}

  struct Record {
    bool on_socket = false;
    std::string payload;
  };
  // Nothing where the ring is empty; kProtocol where its content is impossible.
  Result<std::optional<Record>> TryRead();

  bool Empty() const { return ring_->head.load(std::memory_order_acquire) == tail_; }
  // Says that this side goes to sleep. False if something came meanwhile: then do not.
  bool FallAsleep(Sleep sleep = Sleep::kOnEvent);
  // Waits at most that long for something to come, a signal, or whatever the other side does to the shared
  // word. False if nothing came.
  bool Nap(std::chrono::microseconds longest);
  void WakeUp() { ring_->asleep.store(0, std::memory_order_relaxed); }
  void PublishCpu(int cpu) {
    if (cpu != published_cpu_) ring_->reader_cpu.store(cpu, std::memory_order_relaxed);
    published_cpu_ = cpu;
  }

 private:
  void Get(void* to, std::size_t size, std::uint32_t at) const;

  SharedRing* ring_;
  std::uint32_t tail_ = 0;
  int published_cpu_ = -1;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_RING_H_
