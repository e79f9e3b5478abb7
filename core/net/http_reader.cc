#include "gloveport/core/net/http_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr int kMaxInterimAnswers = 8;
constexpr std::size_t kMaxLineBytes = 4096;

tl::unexpected<Error> Garbage(std::string_view what) {
  return Fail(ErrorCode::kProtocol, fmt::format("the server's answer is no valid HTTP: {}", what),
              "check that an HTTP server listens there");
}

tl::unexpected<Error> TooLarge(std::string_view what, std::size_t max_bytes) {
  return Fail(ErrorCode::kResourceExhausted,
              fmt::format("{} is larger than the {} bytes that are allowed", what, max_bytes));
}

std::string Excerpt(std::string_view text) { return EscapeForTerminal(text.substr(0, 60)); }

// "HTTP/1.1 200 OK"; the reason is of no interest.
std::optional<int> ParseStatusLine(std::string_view line) {
  const bool known = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  if (!known || line.size() < 12 || (line.size() > 12 && line[12] != ' ')) return std::nullopt;
  int status = 0;
  const char* end = line.data() + 12;
  if (std::from_chars(line.data() + 9, end, status).ptr != end || status < 100) return std::nullopt;
  return status;
}

Result<HttpHeader> ParseField(std::string_view line) {
  const auto colon = line.find(':');
  HttpHeader header;
  if (colon != std::string_view::npos) {
    header.name = line.substr(0, colon);
    header.value = Trim(line.substr(colon + 1));
  }
  if (!CheckHeader(header)) return Garbage(fmt::format("\"{}\" is no header field", Excerpt(line)));
  return header;
}

Result<HttpResponse> ParseHead(std::string_view text) {
  HttpResponse head;
  bool first = true;
  while (!text.empty()) {
    const auto end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (first) {
      const auto status = ParseStatusLine(line);
      if (!status) return Garbage(fmt::format("it begins with \"{}\"", Excerpt(line)));
      head.status = *status;
      first = false;
    } else {
      if (head.headers.size() >= HttpReader::kMaxFields) return Garbage("it has too many header fields");
      ASSIGN_OR_RETURN(auto header, ParseField(line));
      head.headers.push_back(std::move(header));
    }
  }
  return head;
}

// Nothing without the field; several fields must agree.
Result<std::optional<std::uint64_t>> ContentLength(const HttpHeaders& headers) {
  std::optional<std::uint64_t> length;
  for (const HttpHeader& header : headers) {
    if (!EqualsIgnoringCase(header.name, "content-length")) continue;
    std::uint64_t value = 0;
    const char* end = header.value.data() + header.value.size();
    const auto parsed = std::from_chars(header.value.data(), end, value);
    if (header.value.empty() || parsed.ec != std::errc() || parsed.ptr != end ||
        (length && *length != value)) {
      return Garbage("its Content-Length is no single number");
    }
    length = value;
  }
  return length;
}

}  // namespace

Result<bool> HttpReader::Fill() {
  std::array<char, 16384> piece;
  ASSIGN_OR_RETURN(const std::size_t n, stream_.Read(piece));
  buffer_.append(piece.data(), n);
  return n > 0;
}

Result<std::string> HttpReader::ReadHeadText() {
  std::size_t searched = 0;
  while (true) {
    const auto end = buffer_.find("\r\n\r\n", searched);
    if (end != std::string::npos && end <= kMaxHeadBytes) {
      std::string text = buffer_.substr(0, end + 2);
      buffer_.erase(0, end + 4);
      return text;
    }
    if (buffer_.size() > kMaxHeadBytes) return TooLarge("the head of the answer", kMaxHeadBytes);
    if (buffer_.size() >= 5 && !buffer_.starts_with("HTTP/")) {
      return Garbage(fmt::format("it begins with \"{}\"", Excerpt(buffer_)));
    }
    searched = buffer_.size() < 3 ? 0 : buffer_.size() - 3;
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more && buffer_.empty())
      return Fail(ErrorCode::kIo, "the server closed the connection without an answer");
    if (!more) return Fail(ErrorCode::kIo, "the connection was cut within the head of the answer");
  }
}

Result<HttpResponse> HttpReader::ReadHead() {
  for (int interim = 0; interim < kMaxInterimAnswers; ++interim) {
    ASSIGN_OR_RETURN(const std::string text, ReadHeadText());
    ASSIGN_OR_RETURN(auto head, ParseHead(text));
    if (head.status == 101) return Garbage("it switches to another protocol");
    if (head.status >= 200) return head;
  }
  return Garbage("it has too many interim answers");
}

Status HttpReader::ReadBody(std::string_view method, const HttpResponse& head, std::size_t max_bytes,
                            const BodySink& sink) {
  if (method == "HEAD" || head.status == 204 || head.status == 304) return {};
  ASSIGN_OR_RETURN(const auto length, ContentLength(head.headers));
  if (const std::string* coding = FindHeader(head.headers, "transfer-encoding")) {
    if (!EqualsIgnoringCase(*coding, "chunked") || length)
      return Garbage("its Transfer-Encoding is not known here");
    return ReadChunked(max_bytes, sink);
  }
  if (!length) return ReadToEnd(max_bytes, sink);
  if (*length > max_bytes) return TooLarge(fmt::format("the answer of {} bytes", *length), max_bytes);
  return ReadExactly(*length, "answer", sink);
}

Status HttpReader::ReadExactly(std::uint64_t size, std::string_view what, const BodySink& sink) {
  std::uint64_t left = size;
  while (left > 0) {
    if (buffer_.empty()) {
      auto more = Fill();
      if (!more && more.error().code != ErrorCode::kIo) return tl::unexpected<Error>(more.error());
      if (!more || !*more) {
        return Fail(ErrorCode::kIo, fmt::format("the connection was cut after {} of {} bytes of the {}",
                                                size - left, size, what));
      }
    }
    const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size()));
    RETURN_IF_ERROR(sink(std::string_view(buffer_).substr(0, take)));
    buffer_.erase(0, take);
    left -= take;
  }
  return {};
}

Result<std::string> HttpReader::ReadLine(std::size_t max_bytes) {
  while (true) {
    const auto end = buffer_.find("\r\n");
    if (end != std::string::npos && end <= max_bytes) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 2);
      return line;
    }
    if (buffer_.size() > max_bytes) return Garbage("a line of its chunked body is too long");
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return Fail(ErrorCode::kIo, "the connection was cut in the middle of the answer");
  }
}

Status HttpReader::ReadChunked(std::size_t max_bytes, const BodySink& sink) {
  std::uint64_t total = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::string line, ReadLine(kMaxLineBytes));
    std::uint64_t size = 0;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data(), end, size, 16);
    const bool ends_well =
        parsed.ptr == end || *parsed.ptr == ';' || *parsed.ptr == ' ';  // extensions are ignored
    if (parsed.ec != std::errc() || !ends_well) {
      return Garbage(fmt::format("\"{}\" is no size of a chunk", Excerpt(line)));
    }
    if (size == 0) break;
    if (size > max_bytes - total) return TooLarge("the answer", max_bytes);
    total += size;
    RETURN_IF_ERROR(ReadExactly(size, "chunk", sink));
    ASSIGN_OR_RETURN(const std::string after, ReadLine(kMaxLineBytes));
    if (!after.empty()) return Garbage("a chunk is longer than its size");
  }
  for (std::size_t fields = 0; fields <= kMaxFields; ++fields) {
    ASSIGN_OR_RETURN(const std::string trailer, ReadLine(kMaxLineBytes));
    if (trailer.empty()) return {};
  }
  return Garbage("it has too many fields after its body");
}

Status HttpReader::ReadToEnd(std::size_t max_bytes, const BodySink& sink) {
  std::uint64_t total = 0;
  while (true) {
    if (buffer_.size() > max_bytes - total) return TooLarge("the answer", max_bytes);
    total += buffer_.size();
    if (!buffer_.empty()) RETURN_IF_ERROR(sink(buffer_));
    buffer_.clear();
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return {};
  }
}

}  // namespace gloveport
