#include "gloveport/tests/support/fault_server/fault_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

constexpr int kPatienceMs = 20'000;  // longer than any test that succeeds
constexpr int kDripMs = 2;
constexpr std::size_t kMaxRequestBytes = 1u << 20;
constexpr char kTlsHello = '\x16';  // what a client that expects TLS sends first; never the start of HTTP

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(port);
  return address;
}

UniqueFd Bound(std::uint16_t& port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  port = ::ntohs(address.sin_port);
  return socket;
}

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::size_t ContentLength(const std::string& head) {
  static constexpr std::string_view kName = "\r\ncontent-length:";
  for (std::size_t at = 0; at + kName.size() < head.size(); ++at) {
    if (::strncasecmp(head.data() + at, kName.data(), kName.size()) == 0) {
      return std::strtoul(head.data() + at + kName.size(), nullptr, 10);
    }
  }
  return 0;
}

}  // namespace

bool FaultPeer::stopped() const {
  pollfd entry{stop_, POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

bool FaultPeer::WaitReadable(int timeout_ms) {
  pollfd entries[2] = {{socket_, POLLIN, 0}, {stop_, POLLIN, 0}};
  return ::poll(entries, 2, timeout_ms) > 0 && entries[1].revents == 0;
}

std::string FaultPeer::ReadRequest() {
  std::string request;
  std::array<char, 16384> buffer;
  while (true) {
    const auto end = request.find("\r\n\r\n");
    if (end != std::string::npos && request.size() >= end + 4 + ContentLength(request.substr(0, end)))
      return request;
    if (request.starts_with(kTlsHello)) return request;
    if (request.size() >= kMaxRequestBytes || !WaitReadable(kPatienceMs)) return request;
    const ssize_t n = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (n <= 0) return request;
    request.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

void FaultPeer::Send(std::string_view bytes) { SendAll(socket_, bytes); }

void FaultPeer::AwaitClose() {
  std::array<char, 4096> buffer;
  while (WaitReadable(kPatienceMs) && ::recv(socket_, buffer.data(), buffer.size(), 0) > 0) {
  }
}

void FaultPeer::Drip(std::string_view bytes) {
  for (std::size_t i = 0; !stopped(); ++i) {
    if (WaitReadable(kDripMs) || !SendAll(socket_, bytes.substr(i % bytes.size(), 1))) return;
  }
}

void FaultPeer::SendSlowly(std::string_view bytes, std::size_t piece) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (WaitReadable(kDripMs) || stopped() || !SendAll(socket_, bytes.substr(0, piece))) return;
  }
}

void FaultPeer::Reset() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void FaultPeer::EndSending() { ::shutdown(socket_, SHUT_WR); }

void FaultPeer::Relay(std::uint16_t port) {
  UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (::connect(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  std::array<char, 16384> buffer;
  while (true) {
    pollfd entries[3] = {{socket_, POLLIN, 0}, {other.get(), POLLIN, 0}, {stop_, POLLIN, 0}};
    if (::poll(entries, 3, kPatienceMs) <= 0 || entries[2].revents != 0) return;
    const bool from_client = entries[0].revents != 0;
    const ssize_t n = ::recv(from_client ? socket_ : other.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) return;
    if (!SendAll(from_client ? other.get() : socket_, {buffer.data(), static_cast<std::size_t>(n)})) return;
  }
}

FaultServer::FaultServer(std::vector<Scene> scenes) : scenes_(std::move(scenes)) {
  listener_ = Bound(port_);
  auto pipe = MakePipe();
  if (!pipe || ::listen(listener_.get(), 16) != 0) std::abort();
  stop_read_ = std::move(pipe->read_end);
  stop_write_ = std::move(pipe->write_end);
  thread_ = std::thread([this] { Serve(); });
}

FaultServer::~FaultServer() {
  stop_write_.reset();
  thread_.join();
}

std::string FaultServer::url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path);
}

std::vector<std::string> FaultServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FaultServer::Serve() {
  for (std::size_t i = 0;; ++i) {
    pollfd entries[2] = {{listener_.get(), POLLIN, 0}, {stop_read_.get(), POLLIN, 0}};
    ::poll(entries, 2, -1);
    if (entries[1].revents != 0) return;
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    FaultPeer peer(socket.get(), stop_read_.get());
    std::string request = i < scenes_.size() ? peer.ReadRequest() : "";
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    if (i < scenes_.size()) scenes_[i](peer, request);
  }
}

FaultServer::Scene Answer(int status, std::string body, std::vector<std::string> header_lines) {
  std::string head = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Length: {}\r\n", status, body.size());
  for (const std::string& line : header_lines) head += line + "\r\n";
  return AnswerBytes(head + "\r\n" + body);
}

FaultServer::Scene AnswerBytes(std::string bytes) {
  return [bytes = std::move(bytes)](FaultPeer& peer, const std::string&) { peer.Send(bytes); };
}

RefusingPort::RefusingPort() : socket_(Bound(port_)) {}

}  // namespace gloveport
