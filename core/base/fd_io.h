// Reading, writing and passing of descriptors with deadlines. EINTR is handled; SIGPIPE is never raised by
// the socket functions. All functions are thread-safe for distinct descriptors.
#ifndef GLOVEPORT_CORE_BASE_FD_IO_H_
#define GLOVEPORT_CORE_BASE_FD_IO_H_

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

// Waits until one of `events` (POLLIN, POLLOUT) or an error condition holds. kDeadlineExceeded when it passes
// first.
Status WaitFor(int fd, short events, Deadline deadline);

// Reads exactly `buffer.size()` bytes. kClosed at an end of file before the first byte, kProtocol in the
// middle.
Status ReadFull(int fd, std::span<std::byte> buffer, Deadline deadline);

// Writes all bytes; kClosed when the reader has gone. Sockets and pipes; with a socket no SIGPIPE is raised.
Status WriteFull(int fd, std::span<const std::byte> bytes, Deadline deadline);

// Appends what can be read without blocking, at most `max_bytes`, to `out`. Returns false at the end of file.
Result<bool> ReadAvailable(int fd, std::size_t max_bytes, std::string& out);

// A connected pair of AF_UNIX stream sockets, both close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> MakeSocketPair();

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};
Result<Pipe> MakePipe();  // both ends close-on-exec

Status SetNonBlocking(int fd);

// One byte string of at least one byte together with descriptors, as one sendmsg. `fds` stay the caller's.
Status SendWithFds(int socket, std::span<const std::byte> bytes, std::span<const int> fds);

struct ReceivedMessage {
  std::string bytes;
  std::vector<UniqueFd> fds;
};
// One recvmsg of at most `max_bytes` and `max_fds`; more descriptors than that is kProtocol (they are
// closed).
Result<ReceivedMessage> ReceiveWithFds(int socket, std::size_t max_bytes, std::size_t max_fds,
                                       Deadline deadline);

// The whole of a file. kResourceExhausted when it is larger than `max_bytes`.
Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes = 64u << 20);
Status WriteFile(const std::filesystem::path& path, std::string_view text);

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}
inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_BASE_FD_IO_H_
