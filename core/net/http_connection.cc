#include "gloveport/core/net/http_connection.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gloveport/core/net/http_head.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{100};         // how long the end of the server may go unnoticed
constexpr milliseconds kLastWrites{1000};  // what a server that ends still waits for a slow reader
constexpr milliseconds kLinger{500};
constexpr std::size_t kLingerBytes = 1u << 20;

}  // namespace

HttpConnection::HttpConnection(UniqueFd socket, const HttpConnectionLimits& limits,
                               const std::atomic<bool>& stopping)
    : socket_(std::move(socket)),
      limits_(limits),
      stopping_(stopping),
      deadline_(Deadline::After(limits.head_time)) {}

HttpConnection::~HttpConnection() {
  ::shutdown(socket_.get(), SHUT_WR);
  const Deadline deadline = Deadline::After(refused_ ? milliseconds(0) : kLinger);
  for (std::size_t taken = 0; taken < kLingerBytes && Wait(POLLIN, deadline);) {
    const ssize_t n = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n <= 0) break;
    taken += static_cast<std::size_t>(n);
  }
}

void HttpConnection::Refuse(int status, std::string_view reason) {
  refused_ = true;
  const std::string answer = fmt::format(
      "HTTP/1.1 {} {}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
      "{}\r\n\r\n{}\n",
      status, reason, reason.size() + 1, reason);
  (void)::send(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// In slices, so that it ends with the server.
bool HttpConnection::Wait(short events, Deadline deadline) const {
  while (!stopping_) {
    const Deadline slice = Earlier(deadline, Deadline::After(kLook));
    pollfd entry{socket_.get(), events, 0};
    if (::poll(&entry, 1, slice.poll_timeout_ms()) > 0) return true;
    if (deadline.passed()) return false;
  }
  return false;
}

bool HttpConnection::is_readable() const {
  return !unread_.empty() || Wait(POLLIN, Earlier(deadline_, Deadline::After(limits_.io_time)));
}

bool HttpConnection::is_writable() const {
  pollfd entry{socket_.get(), POLLOUT, 0};
  if (::poll(&entry, 1, 0) <= 0 && !Wait(POLLOUT, Deadline::After(limits_.io_time))) return false;
  char byte = 0;
  const ssize_t n = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

// False where this is too much of a head.
bool HttpConnection::TakeHead(std::string_view received) {
  const std::size_t before = head_.size();
  head_.append(received);
  // The mark of its end may have begun in what came before.
  const std::size_t from = before < 2 ? 0 : before - 2;
  const std::size_t end = EndOfHttpHead(std::string_view(head_).substr(from));
  if (end != std::string_view::npos) {
    head_size_ = from + end;
    body_bytes_ = head_.size() - head_size_;
    deadline_ = Deadline::After(limits_.body_time);
  }
  return (head_size_ > 0 ? head_size_ : head_.size()) <= kMaxHttpHeadBytes;
}

bool HttpConnection::Fill() {
  if (refused_) return false;
  if (!Wait(POLLIN, Earlier(deadline_, Deadline::After(limits_.io_time)))) {
    if (head_size_ == 0 && !stopping_) Refuse(408, "the head of the request did not come in time");
    return false;
  }
  const ssize_t n = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
  if (n <= 0) return false;
  unread_ = std::string_view(buffer_.data(), static_cast<std::size_t>(n));
  if (head_size_ > 0) {
    body_bytes_ += unread_.size();
  } else if (!TakeHead(unread_)) {
    unread_ = {};
    Refuse(431, "the head of the request is too large");
    return false;
  }
  // Chunks of one byte each take six.
  if (body_bytes_ <= 6 * limits_.max_body_bytes + kMaxHttpHeadBytes) return true;
  unread_ = {};
  return false;
}

ssize_t HttpConnection::read(char* to, std::size_t size) {
  if (size == 0) return 0;
  if (unread_.empty() && !Fill()) return -1;
  const std::size_t taken = std::min(size, unread_.size());
  std::memcpy(to, unread_.data(), taken);
  unread_.remove_prefix(taken);
  return static_cast<ssize_t>(taken);
}

ssize_t HttpConnection::write(const char* from, std::size_t size) {
  if (refused_) return -1;
  const Deadline deadline =
      Deadline::After(stopping_ ? std::min(kLastWrites, limits_.io_time) : limits_.io_time);
  while (true) {
    const ssize_t n = ::send(socket_.get(), from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) return n;
    if (errno != EAGAIN && errno != EINTR) return -1;
    pollfd entry{socket_.get(), POLLOUT, 0};
    ::poll(&entry, 1, Earlier(deadline, Deadline::After(kLook)).poll_timeout_ms());
    if (deadline.passed()) return -1;
  }
}

// Nobody asks here; the library does, for each request.
void HttpConnection::get_remote_ip_and_port(std::string& ip, int& port) const { ip.clear(), port = 0; }
void HttpConnection::get_local_ip_and_port(std::string& ip, int& port) const { ip.clear(), port = 0; }

}  // namespace gloveport
