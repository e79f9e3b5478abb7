#include "gloveport/core/wire/channel.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kReadChunk = 1u << 20;
// A sleeper is woken in 45 to 55 µs where its CPU has gone idle, so looking for longer than that never pays.
constexpr std::chrono::microseconds kSpinTime{50};
// How long nothing but a frame is noticed. To be woken through poll and a descriptor costs twice as much.
constexpr std::chrono::milliseconds kNap{1};
// A time limit that comes before the kernel's next tick (4 ms with 250 Hz) has its timer set anew for each
// nap, which in a virtual machine takes longer than all the rest: where one frame follows the other, naps may
// be longer.
constexpr std::chrono::milliseconds kSteadyNap{5};
constexpr int kSteady = 8;
constexpr std::chrono::milliseconds kLookAround{
    2};  // how long other descriptors may go unseen under a stream of frames

std::uint32_t LengthAt(std::string_view bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    length |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return length;
}

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Sockets, so that neither call can wait, whatever the peer did to the flags, and none raises SIGPIPE. A full
// one wakes its reader as well as one more byte would.
void Signal(int event) { (void)::send(event, "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL); }

// False where the peer closed its end: nothing will ever wake this side again, and poll would not sleep on
// it.
bool Drain(int event) {
  std::array<char, 4096> bytes;
  const ssize_t n = ::recv(event, bytes.data(), bytes.size(), MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

RingEnd RingEnd::ForHost(RingMemory memory, UniqueFd own_event, UniqueFd peer_event) {
  SharedRings& rings = memory.rings();
  SharedSpace outgoing(memory.space_to_session());
  SharedView incoming(memory.space_to_host());
  return {std::move(memory), RingWriter(rings.to_session), RingReader(rings.to_host), std::move(outgoing),
          incoming,          std::move(own_event),         std::move(peer_event)};
}

RingEnd RingEnd::ForSession(RingMemory memory, UniqueFd own_event, UniqueFd peer_event) {
  SharedRings& rings = memory.rings();
  SharedSpace outgoing(memory.space_to_host());
  SharedView incoming(memory.space_to_session());
  return {std::move(memory), RingWriter(rings.to_host), RingReader(rings.to_session), std::move(outgoing),
          incoming,          std::move(own_event),      std::move(peer_event)};
}

std::vector<int> Channel::fds() const {
  std::vector<int> all = {socket_.get()};
  if (ring_) all.insert(all.end(), {ring_->own_event.get(), ring_->peer_event.get()});
  return all;
}

Status Channel::Send(std::string_view payload, Deadline deadline) {
  if (payload.size() > max_frame_bytes_) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("a message of {} bytes is larger than the {} that fit into a frame",
                            payload.size(), max_frame_bytes_));
  }
  if (!ring_) return SendOverSocket(payload, deadline);
  if (payload.size() <= kMaxRingFrame) {
    return PutIntoRing([&] { return ring_->writer.TryWrite(payload); }, deadline);
  }
  RETURN_IF_ERROR(PutIntoRing([&] { return ring_->writer.TryWriteSocketMark(); }, deadline));
  return SendOverSocket(payload, deadline);
}

Status Channel::SendOverSocket(std::string_view payload, Deadline deadline) {
  std::array<char, kHeaderBytes> header{};
  for (std::size_t i = 0; i < kHeaderBytes; ++i)
    header[i] = static_cast<char>((payload.size() >> (8 * i)) & 0xFF);
  RETURN_IF_ERROR(WriteFull(socket_.get(), std::as_bytes(std::span(header)), deadline));
  return WriteFull(socket_.get(), AsBytes(payload), deadline);
}

template <typename TryPut>
Status Channel::PutIntoRing(TryPut try_put, Deadline deadline) {
  while (true) {
    ASSIGN_OR_RETURN(const bool put, try_put());
    if (ring_->writer.TakeSleeper()) Signal(ring_->peer_event.get());
    if (put) return {};
    // The ring is full: rare, so a reader need not tell when it made room. The socket tells if it has gone.
    pollfd entry{socket_.get(), 0, 0};
    ::poll(&entry, 1, 1);
    if (entry.revents & (POLLHUP | POLLERR))
      return Fail(ErrorCode::kClosed, "the peer closed the connection");
    if (deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "the peer did not make room in time");
  }
}

bool Channel::SpinForFrame() {
  if (!ring_->reader.Empty()) return true;
  if (::sched_getcpu() == ring_->writer.reader_cpu())
    return false;  // on one CPU the peer can only run if this side does not
  const Deadline end = Deadline::After(kSpinTime);
  do {
    for (int i = 0; i < 32; ++i) {
      if (!ring_->reader.Empty()) return true;
      Pause();
    }
  } while (!end.passed());
  return false;
}

// Once after each frame: who talks goes on talking, and a peer that computes is waited for on the
// descriptors.
bool Channel::NapForFrame(Deadline deadline) {
  if (!std::exchange(lively_, false) || look_around_.passed() || deadline.poll_timeout_ms() == 0)
    return false;
  const bool came = ring_->reader.Nap(naps_in_a_row_ < kSteady ? kNap : kSteadyNap);
  naps_in_a_row_ = came ? std::min(naps_in_a_row_ + 1, kSteady) : 0;
  return came;
}

void Channel::Wait(std::span<pollfd> others, Deadline deadline, Expect expect) {
  for (pollfd& other : others) other.revents = 0;
  if (ring_) ring_->reader.PublishCpu(::sched_getcpu());
  const bool ready =
      ring_ && (expect == Expect::kFrame ? SpinForFrame() || NapForFrame(deadline) : !ring_->reader.Empty());
  if (ready && !look_around_.passed()) return;
  look_around_ = Deadline::After(kLookAround);
  std::array<pollfd, kMaxOthers + 2> entries = {pollfd{socket_.get(), POLLIN, 0},
                                                pollfd{ring_ ? ring_->own_event.get() : -1, POLLIN, 0}};
  std::ranges::copy(others, entries.begin() + 2);
  const bool sleep = !ready && (!ring_ || ring_->reader.FallAsleep());
  ::poll(entries.data(), others.size() + 2, sleep ? deadline.poll_timeout_ms() : 0);
  if (ring_) ring_->reader.WakeUp();
  wake_closed_ = entries[1].revents != 0 && !Drain(ring_->own_event.get());
  socket_ready_ = entries[0].revents != 0 || wake_closed_;
  std::copy_n(entries.begin() + 2, others.size(), others.begin());
}

Result<std::optional<std::string>> Channel::TryReceive() {
  if (!ring_) return TryReceiveFromSocket();
  if (socket_frames_ == 0) {
    ASSIGN_OR_RETURN(auto record, ring_->reader.TryRead());
    lively_ = lively_ || record;
    if (record && !record->on_socket) return std::optional(std::move(record->payload));
    if (record) ++socket_frames_;
    if (!record && !socket_ready_) return std::optional<std::string>();
  }
  socket_ready_ = false;
  ASSIGN_OR_RETURN(auto frame, TryReceiveFromSocket());
  // One that ends closes all, in any order; one that closes only this will not be waited for either.
  if (!frame && wake_closed_) return Fail(ErrorCode::kClosed, "the peer closed the connection");
  if (frame && socket_frames_ == 0)
    return Fail(ErrorCode::kProtocol, "a frame on the socket that was not announced");
  if (frame) {
    --socket_frames_;
    socket_ready_ = true;  // an end of file may stand behind it
  }
  return frame;
}

std::optional<Result<std::string>> Channel::TakeFrame() {
  const std::string_view rest = std::string_view(pending_).substr(taken_);
  if (rest.size() < kHeaderBytes) return std::nullopt;
  const std::size_t length = LengthAt(rest);
  if (length > max_frame_bytes_) {
    return Fail(ErrorCode::kProtocol,
                fmt::format("a frame of {} bytes was announced; {} are allowed", length, max_frame_bytes_));
  }
  if (rest.size() - kHeaderBytes < length) return std::nullopt;
  if (rest.size() == kHeaderBytes + length && length > kReadChunk) {  // a large one is not copied
    pending_.erase(0, taken_ + kHeaderBytes);
    taken_ = 0;
    return std::exchange(pending_, {});
  }
  std::string payload(rest.substr(kHeaderBytes, length));
  taken_ += kHeaderBytes + length;
  if (taken_ == pending_.size()) {
    pending_.clear();
    taken_ = 0;
    if (pending_.capacity() > kReadChunk) pending_.shrink_to_fit();
  }
  return payload;
}

Result<std::optional<std::string>> Channel::TryReceiveFromSocket() {
  while (true) {
    if (auto frame = TakeFrame()) {
      if (!*frame) return tl::unexpected<Error>(std::move(*frame).error());
      return std::optional<std::string>(std::move(**frame));
    }
    if (taken_ > 0) {
      pending_.erase(0, taken_);
      taken_ = 0;
    }
    const std::size_t before = pending_.size();
    auto more = ReadAvailable(socket_.get(), kReadChunk, pending_);
    if (!more) return tl::unexpected<Error>(std::move(more).error());
    if (pending_.size() > before) continue;
    if (*more) return std::optional<std::string>();
    if (!pending_.empty()) {
      return Fail(ErrorCode::kProtocol, "the peer closed the connection in the middle of a frame");
    }
    return Fail(ErrorCode::kClosed, "the peer closed the connection");
  }
}

Result<std::string> Channel::Receive(Deadline deadline) {
  RETURN_IF_ERROR(SetNonBlocking(socket_.get()));
  while (true) {
    ASSIGN_OR_RETURN(auto frame, TryReceive());
    if (frame) return std::move(*frame);
    if (deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "the peer did not answer in time");
    Wait({}, deadline);
  }
}

}  // namespace gloveport
