#include "gloveport/core/wire/channel.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kReadChunk = 1u << 20;

std::uint32_t LengthAt(std::string_view bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i)
    length |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return length;
}

}  // namespace

Status Channel::Send(std::string_view payload, Deadline deadline) {
  if (payload.size() > max_frame_bytes_) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("a message of {} bytes is larger than the {} that fit into a frame",
                            payload.size(), max_frame_bytes_));
  }
  std::string frame;
  frame.reserve(kHeaderBytes + payload.size());
  for (std::size_t i = 0; i < kHeaderBytes; ++i)
    frame += static_cast<char>((payload.size() >> (8 * i)) & 0xFF);
  frame += payload;
  return WriteFull(socket_.get(), AsBytes(frame), deadline);
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
  std::string payload(rest.substr(kHeaderBytes, length));
  taken_ += kHeaderBytes + length;
  if (taken_ == pending_.size()) {
    pending_.clear();
    taken_ = 0;
    if (pending_.capacity() > kReadChunk) pending_.shrink_to_fit();
  }
  return payload;
}

Result<std::optional<std::string>> Channel::TryReceive() {
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
    if (!pending_.empty())
      return Fail(ErrorCode::kProtocol, "the peer closed the connection in the middle of a frame");
    return Fail(ErrorCode::kClosed, "the peer closed the connection");
  }
}

Result<std::string> Channel::Receive(Deadline deadline) {
  // Blocking sockets are read to the byte, so that TryReceive's non-blocking reads and these can be mixed.
  std::array<char, kHeaderBytes> header{};
  if (!pending_.empty()) {
    while (true) {
      auto frame = TryReceive();
      if (!frame) return tl::unexpected<Error>(std::move(frame).error());
      if (*frame) return std::move(**frame);
      RETURN_IF_ERROR(WaitFor(socket_.get(), 1 /* POLLIN */, deadline));
    }
  }
  RETURN_IF_ERROR(ReadFull(socket_.get(), std::as_writable_bytes(std::span(header)), deadline));
  const std::size_t length = LengthAt(std::string_view(header.data(), header.size()));
  if (length > max_frame_bytes_) {
    return Fail(ErrorCode::kProtocol,
                fmt::format("a frame of {} bytes was announced; {} are allowed", length, max_frame_bytes_));
  }
  std::string payload;
  while (payload.size() < length) {  // memory grows with what arrives, never with what was announced
    const std::size_t start = payload.size();
    payload.resize(start + std::min(kReadChunk, length - start));
    auto part = ReadFull(socket_.get(), std::as_writable_bytes(std::span(payload).subspan(start)), deadline);
    if (!part && part.error().code == ErrorCode::kClosed) {
      return Fail(ErrorCode::kProtocol, "the peer closed the connection in the middle of a frame");
    }
    RETURN_IF_ERROR(std::move(part));
  }
  return payload;
}

}  // namespace gloveport
