// Channel: frames between host and session, each one CBOR array (messages.h). Small frames go through a pair
// of rings in shared memory, if they are attached; large ones, and all before that, over a connected stream
// socket, as a 32-bit little-endian length and that many bytes. The socket also tells when the peer has gone.
//
// Not thread-safe: one thread sends, one waits and receives; they may differ.
#ifndef GLOVEPORT_CORE_WIRE_CHANNEL_H_
#define GLOVEPORT_CORE_WIRE_CHANNEL_H_

#include <poll.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/ring.h"

namespace gloveport {

inline constexpr std::size_t kMaxFrameBytes = 224u << 20;

// One end of the rings: which ring is written, which is read, and the descriptors to sleep on.
struct RingEnd {
  RingMemory memory;
  RingWriter writer;
  RingReader reader;
  SharedSpace outgoing;
  SharedView incoming;
  UniqueFd own_event;   // a socket: this side sleeps on it
  UniqueFd peer_event;  // a socket: a byte sent here wakes the peer

  static RingEnd ForHost(RingMemory memory, UniqueFd own_event, UniqueFd peer_event);
  static RingEnd ForSession(RingMemory memory, UniqueFd own_event, UniqueFd peer_event);
};

// What is likely to end a wait: a frame, which is worth looking out for, or just as well one of the others.
enum class Expect { kFrame, kAnything };

class Channel {
 public:
  Channel() = default;
  explicit Channel(UniqueFd socket, std::size_t max_frame_bytes = kMaxFrameBytes)
      : socket_(std::move(socket)), max_frame_bytes_(max_frame_bytes) {}

  // From now on small frames take the rings. Both sides attach before the first frame; the socket must be
  // non-blocking.
  void Attach(RingEnd ring) { ring_ = std::make_unique<RingEnd>(std::move(ring)); }

  // kResourceExhausted when the payload is too large (nothing was sent), kClosed when the peer has gone,
  // kDeadlineExceeded when it did not make room in time.
  Status Send(std::string_view payload, Deadline deadline = Deadline::Never());

  // Waits until a frame may be there, one of `others` is ready, a signal came, or the deadline passes. While
  // the peer runs on another CPU it first looks again and again for a moment, for going to sleep costs more
  // than that; after a frame it then naps for up to a millisecond, in a steady stream of frames for up to
  // five, in which only a frame wakes it. Fills revents of `others`; at most kMaxOthers.
  static constexpr std::size_t kMaxOthers = 6;
  void Wait(std::span<pollfd> others, Deadline deadline, Expect expect = Expect::kFrame);

  // Never blocks: a frame if one is complete, nothing otherwise. Memory grows with the bytes that really
  // arrived, never with a length that was only announced. kClosed when the peer has gone, kProtocol for what
  // is no frame: the channel is then of no more use.
  Result<std::optional<std::string>> TryReceive();

  // Blocks for one whole frame.
  Result<std::string> Receive(Deadline deadline = Deadline::Never());

  // For the large byte strings of values; null without rings.
  SharedSpace* outgoing() { return ring_ ? &ring_->outgoing : nullptr; }
  SharedView* incoming() { return ring_ ? &ring_->incoming : nullptr; }

  int fd() const { return socket_.get(); }
  // Every descriptor that the channel needs.
  std::vector<int> fds() const;
  bool open() const { return static_cast<bool>(socket_); }
  void Close() { socket_.reset(); }

 private:
  Status SendOverSocket(std::string_view payload, Deadline deadline);
  template <typename TryPut>
  Status PutIntoRing(TryPut try_put, Deadline deadline);
  bool SpinForFrame();
  bool NapForFrame(Deadline deadline);
  std::optional<Result<std::string>> TakeFrame();
  Result<std::optional<std::string>> TryReceiveFromSocket();

  UniqueFd socket_;
  std::size_t max_frame_bytes_ = kMaxFrameBytes;
  std::unique_ptr<RingEnd> ring_;
  bool lively_ = false;            // a frame has come since the last nap: another may come soon
  int naps_in_a_row_ = 0;          // that a frame has ended
  bool socket_ready_ = true;       // the socket may have something to read
  bool wake_closed_ = false;       // the peer closed its end of own_event
  std::size_t socket_frames_ = 0;  // marks seen in the ring whose frame is still to be read from the socket
  Deadline look_around_ = Deadline::After(std::chrono::seconds(0));  // when `others` must be polled again
  std::string pending_;    // bytes that arrived over the socket and are not yet taken
  std::size_t taken_ = 0;  // start of the first untaken byte in pending_
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_CHANNEL_H_
