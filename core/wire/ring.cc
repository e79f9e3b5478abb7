#include "gloveport/core/wire/ring.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gloveport {
namespace {

constexpr std::size_t kHeaderBytes = sizeof(std::uint32_t);
constexpr std::size_t kPage = 4096;
constexpr std::size_t kSpacesAt = (sizeof(SharedRings) + kPage - 1) / kPage * kPage;
constexpr std::size_t kMappedBytes = kSpacesAt + 2 * kSharedSpaceBytes;

tl::unexpected<Error> BadIndex() {
  return Fail(ErrorCode::kProtocol, "the shared ring holds an impossible position");
}

Result<SharedRings*> MapFd(int fd) {
  void* memory = ::mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return FailErrno("cannot map the shared ring", errno);
  return static_cast<SharedRings*>(memory);
}

}  // namespace

Result<std::pair<RingMemory, UniqueFd>> RingMemory::Make() {
  UniqueFd fd(::memfd_create("gloveport-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return FailErrno("memfd_create", errno);
  if (::ftruncate(fd.get(), kMappedBytes) != 0) return FailErrno("cannot size the shared ring", errno);
  // A peer that could shrink it would make the host die of SIGBUS.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return FailErrno("cannot seal the shared ring", errno);
  }
  ASSIGN_OR_RETURN(SharedRings * rings, MapFd(fd.get()));
  return std::pair(RingMemory(rings), std::move(fd));
}

Result<RingMemory> RingMemory::Map(int fd) {
  ASSIGN_OR_RETURN(SharedRings * rings, MapFd(fd));
  return RingMemory(rings);
}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(rings_, other.rings_);
  return *this;
}

RingMemory::~RingMemory() {
  if (rings_) ::munmap(rings_, kMappedBytes);
}

std::span<std::byte> RingMemory::space_to_session() const {
  return {reinterpret_cast<std::byte*>(rings_) + kSpacesAt, kSharedSpaceBytes};
}

std::span<std::byte> RingMemory::space_to_host() const {
  return {reinterpret_cast<std::byte*>(rings_) + kSpacesAt + kSharedSpaceBytes, kSharedSpaceBytes};
}

// The reader's position is on its own CPU's cache: it is looked at only where what is known of it will not
// do.
Result<bool> RingWriter::HasRoom(std::size_t bytes) {
  if (kRingBytes - (head_ - known_tail_) >= bytes) return true;
  const std::uint32_t tail = ring_->tail.load(std::memory_order_acquire);
  const std::uint32_t used = head_ - tail;
  if (used > kRingBytes) return BadIndex();
  known_tail_ = tail;
  return kRingBytes - used >= bytes;
}

void RingWriter::Put(const void* from, std::size_t size) {
  const std::size_t at = head_ % kRingBytes;
  const std::size_t first = std::min<std::size_t>(size, kRingBytes - at);
  std::memcpy(ring_->data + at, from, first);
  std::memcpy(ring_->data, static_cast<const std::byte*>(from) + first, size - first);
  head_ += static_cast<std::uint32_t>(size);
}

Result<bool> RingWriter::TryWrite(std::string_view payload) {
  ASSIGN_OR_RETURN(const bool room, HasRoom(kHeaderBytes + payload.size()));
  if (!room) return false;
  const auto length = static_cast<std::uint32_t>(payload.size());
  Put(&length, kHeaderBytes);
  Put(payload.data(), payload.size());
  Publish();
  return true;
}

Result<bool> RingWriter::TryWriteSocketMark() {
  ASSIGN_OR_RETURN(const bool room, HasRoom(kHeaderBytes));
  if (!room) return false;
  Put(&kSocketFrame, kHeaderBytes);
  Publish();
  return true;
}

bool RingWriter::TakeSleeper() {
  // Orders the store of head before the look at the flag; FallAsleep does the reverse.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (ring_->asleep.load(std::memory_order_relaxed) == 0) return false;
  const auto sleep = static_cast<Sleep>(ring_->asleep.exchange(0));
  if (sleep == Sleep::kNapping) ::syscall(SYS_futex, &ring_->asleep, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  return sleep != Sleep::kAwake && sleep != Sleep::kNapping;
}

void RingReader::Get(void* to, std::size_t size, std::uint32_t position) const {
  const std::size_t at = position % kRingBytes;
  const std::size_t first = std::min<std::size_t>(size, kRingBytes - at);
  std::memcpy(to, ring_->data + at, first);
  std::memcpy(static_cast<std::byte*>(to) + first, ring_->data, size - first);
}

Result<std::optional<RingReader::Record>> RingReader::TryRead() {
  const std::uint32_t used = ring_->head.load(std::memory_order_acquire) - tail_;
  if (used == 0) return std::optional<Record>();
  if (used > kRingBytes || used < kHeaderBytes) return BadIndex();
  std::uint32_t length = 0;
  Get(&length, kHeaderBytes, tail_);
  Record record;
  record.on_socket = length == kSocketFrame;
  if (!record.on_socket) {
    if (length > used - kHeaderBytes) return BadIndex();  // records are published whole
    record.payload.resize(length);
    Get(record.payload.data(), length, tail_ + kHeaderBytes);
  }
  tail_ += kHeaderBytes + static_cast<std::uint32_t>(record.payload.size());
  ring_->tail.store(tail_, std::memory_order_release);
  return std::optional<Record>(std::move(record));
}

bool RingReader::FallAsleep(Sleep sleep) {
  ring_->asleep.store(static_cast<std::uint32_t>(sleep), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (Empty()) return true;
  WakeUp();
  return false;
}

bool RingReader::Nap(std::chrono::microseconds longest) {
  if (!FallAsleep(Sleep::kNapping)) return true;
  const timespec time{0, std::chrono::nanoseconds(longest).count()};
  ::syscall(SYS_futex, &ring_->asleep, FUTEX_WAIT, static_cast<std::uint32_t>(Sleep::kNapping), &time,
            nullptr, 0);
  WakeUp();
  return !Empty();
}

}  // namespace gloveport
