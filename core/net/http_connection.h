// HttpConnection: the socket of one accepted connection, as cpp-httplib reads and writes it. The library
// itself reads lines of any length for as long as bytes come, one at a time; here the head, the body and the
// time for both have limits, and the end of the server ends every wait.
//
// For one thread. Only core/net/http_server.cc includes it.
#ifndef GLOVEPORT_CORE_NET_HTTP_CONNECTION_H_
#define GLOVEPORT_CORE_NET_HTTP_CONNECTION_H_

#include <httplib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

struct HttpConnectionLimits {
  std::size_t max_body_bytes = 0;  // read is more: chunks add to it
  std::chrono::milliseconds head_time{10'000};
  std::chrono::milliseconds body_time{60'000};  // from the end of the head on
  std::chrono::milliseconds io_time{10'000};    // for each read and write
};

class HttpConnection : public httplib::Stream {
 public:
  // `stopping` outlives it.
  HttpConnection(UniqueFd socket, const HttpConnectionLimits& limits, const std::atomic<bool>& stopping);
  // Lets the client read what was answered before the connection goes: a socket that is closed with unread
  // bytes takes the answer with it.
  ~HttpConnection();

  // What was read until the empty line, as it was sent. Whole once the library asks for a handler.
  std::string_view head() const { return std::string_view(head_).substr(0, head_size_); }
  // An answer without the library, for who gets no other. Never waits.
  void Refuse(int status, std::string_view reason);

  // ---- httplib::Stream; -1 is the end of the request ----
  // Which of these there are differs between versions of the library (0.11 to 0.20 at least), so none says
  // `override`.
  bool is_readable() const;
  bool is_writable() const;  // false where the client has gone
  ssize_t read(char* to, std::size_t size);
  ssize_t write(const char* from, std::size_t size);
  void get_remote_ip_and_port(std::string& ip, int& port) const;
  void get_local_ip_and_port(std::string& ip, int& port) const;
  int socket() const { return socket_.get(); }
  bool wait_readable() const { return is_readable(); }
  bool wait_writable() const { return is_writable(); }
  time_t duration() const { return 0; }

 private:
  bool Wait(short events, Deadline deadline) const;
  bool Fill();
  bool TakeHead(std::string_view received);

  UniqueFd socket_;
  const HttpConnectionLimits limits_;
  const std::atomic<bool>& stopping_;
  Deadline deadline_;
  std::string head_;           // and what came with its end
  std::size_t head_size_ = 0;  // 0: not all there
  std::size_t body_bytes_ = 0;
  std::array<char, 16 * 1024> buffer_;
  std::string_view unread_;  // of buffer_
  bool refused_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_HTTP_CONNECTION_H_
