// ByteStream: a connection to a peer as bytes in order, plain or encrypted. Every call obeys the IoWait that
// the stream was made with. Not thread-safe. Closed when it goes.
#ifndef GLOVEPORT_CORE_NET_BYTE_STREAM_H_
#define GLOVEPORT_CORE_NET_BYTE_STREAM_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // At least one byte, or 0 at an orderly end. kIo when the connection broke.
  virtual Result<std::size_t> Read(std::span<char> buffer) = 0;

  // All of `bytes`; kIo when the peer has gone. Never raises SIGPIPE.
  virtual Status Write(std::string_view bytes) = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_BYTE_STREAM_H_
