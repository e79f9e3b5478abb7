#include "gloveport/core/net/tcp.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/net/resolver.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kPatienceWithOneAddress{10};

std::string ErrnoText(int error_number) { return std::generic_category().message(error_number); }

class TcpStream : public ByteStream {
 public:
  TcpStream(UniqueFd socket, IoWait& wait) : socket_(std::move(socket)), wait_(wait) {}

  Result<std::size_t> Read(std::span<char> buffer) override {
    while (true) {
      const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno == EAGAIN) {
        RETURN_IF_ERROR(wait_.For(socket_.get(), POLLIN));
      } else if (errno != EINTR) {
        return Fail(ErrorCode::kIo, fmt::format("the connection broke: {}", ErrnoText(errno)));
      }
    }
  }

  Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno == EAGAIN) {
        RETURN_IF_ERROR(wait_.For(socket_.get(), POLLOUT));
      } else if (errno != EINTR) {
        return Fail(ErrorCode::kIo, fmt::format("the connection broke while sending: {}", ErrnoText(errno)));
      }
    }
    return {};
  }

 private:
  UniqueFd socket_;
  IoWait& wait_;
};

tl::unexpected<Error> CannotConnect(std::string_view reason) {
  return Fail(ErrorCode::kIo, fmt::format("cannot connect: {}", reason),
              "check that the server runs and that host and port are right");
}

Result<UniqueFd> ConnectTo(const SocketAddress& address, IoWait& wait, Deadline limit) {
  UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return CannotConnect(ErrnoText(errno));
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes,
               sizeof yes);  // a request is written in two parts
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0)
    return socket;
  if (errno != EINPROGRESS && errno != EINTR) return CannotConnect(ErrnoText(errno));
  ASSIGN_OR_RETURN(const bool answered, wait.For(socket.get(), POLLOUT, limit));
  if (!answered) return CannotConnect("the host does not answer");
  int error_number = 0;
  socklen_t size = sizeof error_number;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error_number, &size) != 0) error_number = errno;
  if (error_number != 0) return CannotConnect(ErrnoText(error_number));
  return socket;
}

}  // namespace

Result<std::unique_ptr<ByteStream>> ConnectTcp(const std::string& host, std::uint16_t port, IoWait& wait,
                                               const AdmitAddress& admit) {
  ASSIGN_OR_RETURN(const auto addresses, Resolve(host, port, wait));
  wait.set_phase("connecting");
  Result<UniqueFd> socket = CannotConnect("the host has no address");
  for (std::size_t i = 0; i < addresses.size() && !socket; ++i) {
    const bool last = i + 1 == addresses.size();
    const Status admitted = admit ? admit(addresses[i]) : Status();
    if (!admitted) {
      socket = tl::unexpected<Error>(admitted.error());
      continue;
    }
    socket =
        ConnectTo(addresses[i], wait, last ? Deadline::Never() : Deadline::After(kPatienceWithOneAddress));
    RETURN_IF_ERROR(wait.Check());
  }
  if (!socket) return tl::unexpected<Error>(socket.error());
  return std::unique_ptr<ByteStream>(std::make_unique<TcpStream>(std::move(*socket), wait));
}

}  // namespace gloveport
