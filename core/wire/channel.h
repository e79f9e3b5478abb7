// Channel: frames over a connected stream socket. A frame is a 32-bit little-endian length and that many
// bytes of payload, one CBOR array (messages.h). Not thread-safe: one thread sends, one receives; they may
// differ.
#ifndef GLOVEPORT_CORE_WIRE_CHANNEL_H_
#define GLOVEPORT_CORE_WIRE_CHANNEL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

inline constexpr std::size_t kMaxFrameBytes = 96u << 20;

class Channel {
 public:
  Channel() = default;
  explicit Channel(UniqueFd socket, std::size_t max_frame_bytes = kMaxFrameBytes)
      : socket_(std::move(socket)), max_frame_bytes_(max_frame_bytes) {}

  // kResourceExhausted when the payload is too large (nothing was sent), kClosed when the peer has gone.
  Status Send(std::string_view payload, Deadline deadline = Deadline::Never());

  // Blocks for one whole frame. kProtocol for a length beyond the limit: the channel is then of no more use.
  Result<std::string> Receive(Deadline deadline = Deadline::Never());

  // Never blocks: reads what is there and returns a frame if one is complete, nothing otherwise. Memory grows
  // with the bytes that really arrived, never with a length that was only announced.
  Result<std::optional<std::string>> TryReceive();

  int fd() const { return socket_.get(); }
  bool open() const { return static_cast<bool>(socket_); }
  void Close() { socket_.reset(); }

 private:
  std::optional<Result<std::string>> TakeFrame();

  UniqueFd socket_;
  std::size_t max_frame_bytes_ = kMaxFrameBytes;
  std::string pending_;    // bytes that arrived and are not yet taken
  std::size_t taken_ = 0;  // start of the first untaken byte in pending_
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_CHANNEL_H_
