#include "gloveport/core/base/fd_io.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace gloveport {
namespace {

// write(2) for what is no socket; send(2) elsewhere, so that a dead reader is an error and not a signal.
ssize_t WriteSome(int fd, std::span<const std::byte> bytes) {
  const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (n >= 0 || errno != ENOTSOCK) return n;
  return ::write(fd, bytes.data(), bytes.size());
}

}  // namespace

Status WaitFor(int fd, short events, Deadline deadline) {
  while (true) {
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, deadline.poll_timeout_ms());
    if (ready > 0) return {};
    if (ready == 0) {
      if (deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "the peer did not answer in time");
    } else if (errno != EINTR) {
      return FailErrno("poll", errno);
    }
  }
}

Status ReadFull(int fd, std::span<std::byte> buffer, Deadline deadline) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    if (!deadline.never()) RETURN_IF_ERROR(WaitFor(fd, POLLIN, deadline));
    const ssize_t n = ::read(fd, buffer.data() + done, buffer.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno == ECONNRESET) {
      if (done == 0) return Fail(ErrorCode::kClosed, "the peer closed the connection");
      return Fail(ErrorCode::kProtocol, "the peer closed the connection in the middle of a frame");
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(WaitFor(fd, POLLIN, deadline));
    } else if (errno != EINTR) {
      return FailErrno("read", errno);
    }
  }
  return {};
}

Status WriteFull(int fd, std::span<const std::byte> bytes, Deadline deadline) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = WriteSome(fd, bytes.subspan(done));
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(WaitFor(fd, POLLOUT, deadline));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return Fail(ErrorCode::kClosed, "the peer closed the connection");
    } else if (errno != EINTR) {
      return FailErrno("write", errno);
    }
  }
  return {};
}

Result<bool> ReadAvailable(int fd, std::size_t max_bytes, std::string& out) {
  char buffer[65536];
  std::size_t total = 0;
  while (total < max_bytes) {
    const std::size_t want = std::min(sizeof buffer, max_bytes - total);
    const ssize_t n = ::read(fd, buffer, want);
    if (n > 0) {
      out.append(buffer, static_cast<std::size_t>(n));
      total += static_cast<std::size_t>(n);
    } else if (n == 0 || errno == ECONNRESET) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR) {
      return FailErrno("read", errno);
    }
  }
  return true;
}

Result<std::pair<UniqueFd, UniqueFd>> MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return FailErrno("socketpair", errno);
  return std::pair<UniqueFd, UniqueFd>(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

Result<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return FailErrno("pipe", errno);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Status SetNonBlocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return FailErrno("fcntl(O_NONBLOCK)", errno);
  return {};
}

Status SendWithFds(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
  if (fds.size() > 16) return Fail(ErrorCode::kInternal, "too many descriptors in one message");
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  ssize_t n;
  do {
    n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
    return Fail(ErrorCode::kClosed, "the peer closed the connection");
  if (n < 0) return FailErrno("sendmsg", errno);
  return WriteFull(socket, bytes.subspan(static_cast<std::size_t>(n)), Deadline::Never());
}

Result<ReceivedMessage> ReceiveWithFds(int socket, std::size_t max_bytes, std::size_t max_fds,
                                       Deadline deadline) {
  if (!deadline.never()) RETURN_IF_ERROR(WaitFor(socket, POLLIN, deadline));
  ReceivedMessage received;
  received.bytes.resize(max_bytes);
  alignas(cmsghdr) char control[CMSG_SPACE(32 * sizeof(int))] = {};
  iovec part{received.bytes.data(), received.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) return Fail(ErrorCode::kDeadlineExceeded, "nothing to receive");
  if (n < 0 && errno != ECONNRESET) return FailErrno("recvmsg", errno);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  if (n <= 0) return Fail(ErrorCode::kClosed, "the peer closed the connection");
  if (received.fds.size() > max_fds || (message.msg_flags & MSG_CTRUNC)) {
    return Fail(ErrorCode::kProtocol, "the peer passed descriptors that nobody asked for");
  }
  received.bytes.resize(static_cast<std::size_t>(n));
  return received;
}

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return FailErrno(fmt::format("cannot open {}", path.string()), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("cannot read {}: it is a directory", path.string()));
  }
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n == 0) return text;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(fmt::format("cannot read {}", path.string()), errno);
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > max_bytes) {
      return Fail(
          ErrorCode::kResourceExhausted,
          fmt::format("{} is larger than the {} bytes that are allowed here", path.string(), max_bytes));
    }
  }
}

Status WriteFile(const std::filesystem::path& path, std::string_view text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
  if (!fd) return FailErrno(fmt::format("cannot create {}", path.string()), errno);
  auto written = WriteFull(fd.get(), AsBytes(text), Deadline::Never());
  if (!written)
    return Fail(written.error().code,
                fmt::format("cannot write {}: {}", path.string(), written.error().message));
  return {};
}

}  // namespace gloveport
