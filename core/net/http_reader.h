// HttpReader: the answer of a server, read from a stream with a limit on everything: the head, the number of
// its fields, the length of its lines, the body. Hostile bytes give an error, never more memory than the
// limits.
//
// Not thread-safe.
#ifndef GLOVEPORT_CORE_NET_HTTP_READER_H_
#define GLOVEPORT_CORE_NET_HTTP_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/byte_stream.h"
#include "gloveport/core/net/http_message.h"

namespace gloveport {

class HttpReader {
 public:
  static constexpr std::size_t kMaxHeadBytes = 64 * 1024;
  static constexpr std::size_t kMaxFields = 200;

  // Takes a piece of the body; an error ends the reading and is passed on.
  using BodySink = std::function<Status(std::string_view piece)>;

  explicit HttpReader(ByteStream& stream) : stream_(stream) {}

  // Status and header fields of the final answer (1xx answers are skipped). kIo when the connection ended
  // before or within it, kProtocol for what is no HTTP/1.x, kResourceExhausted beyond the limits.
  Result<HttpResponse> ReadHead();

  // The body that belongs to `head`, the answer to `method`; chunked, of a given length, or up to the end of
  // the connection. kIo when it was cut in the middle, kResourceExhausted beyond `max_bytes`.
  Status ReadBody(std::string_view method, const HttpResponse& head, std::size_t max_bytes,
                  const BodySink& sink);

 private:
  Result<std::string> ReadHeadText();
  Result<std::string> ReadLine(std::size_t max_bytes);
  Result<bool> Fill();  // reads more into buffer_; false at the end of the stream
  Status ReadExactly(std::uint64_t size, std::string_view what, const BodySink& sink);
  Status ReadChunked(std::size_t max_bytes, const BodySink& sink);
  Status ReadToEnd(std::size_t max_bytes, const BodySink& sink);

  ByteStream& stream_;
  std::string buffer_;  // read and not yet taken
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_HTTP_READER_H_
