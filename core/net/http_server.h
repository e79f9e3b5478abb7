// HttpServer: a small HTTP server for programs on this machine, around cpp-httplib. It listens on a loopback
// address and nowhere else: a program that wants to be reached from elsewhere puts a proxy with TLS and
// accounts before it.
//
// A web page in the user's browser can reach loopback too, so requests are answered only where `Host` names
// this server and `Origin`, where there is one, is this server's own or allowed.
#ifndef GLOVEPORT_CORE_NET_HTTP_SERVER_H_
#define GLOVEPORT_CORE_NET_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_message.h"

namespace gloveport {

struct HttpServerRequest {
  std::string method;
  std::string path;     // percent-decoded, without the query; hostile, like all of this
  std::string target;   // path and query as they were sent
  HttpHeaders headers;  // as they were sent (http_head.h)
  std::string body;
};

// Writes the body of an answer piece by piece.
class HttpBodyWriter {
 public:
  virtual ~HttpBodyWriter() = default;
  // False where the client has gone or the server stops: nothing more is to be written.
  [[nodiscard]] virtual bool Write(std::string_view bytes) = 0;
};

// An answer as a whole, or a head and what writes the body. That is called on the server's thread and keeps
// it; it writes something every second or so, for only then does it learn that nobody reads any more.
struct HttpReply {
  HttpReply(HttpResponse response) : head(std::move(response)) {}  // NOLINT: a response is a reply
  HttpReply(HttpResponse response, std::function<void(HttpBodyWriter&)> body)
      : head(std::move(response)), stream(std::move(body)) {}

  HttpResponse head;
  std::function<void(HttpBodyWriter&)> stream;  // empty: head.body is the body
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // or another loopback address; "localhost" means 127.0.0.1
  std::uint16_t port = 0;             // 0: one that is free
  std::size_t max_body_bytes = 1u << 20;
  // Requests that are handled at the same time, each on a thread that is started when needed; as many others
  // wait, and beyond that a client is told 503.
  std::size_t threads = 4;
  // Of the requests that are being read and handled, together; beyond that 503. 0: four times max_body_bytes.
  std::size_t max_total_body_bytes = 0;
  std::chrono::seconds io_timeout{
      10};  // for each read from and write to a client, and for the head of a request
  std::chrono::seconds body_timeout{60};     // for the body of a request
  std::vector<std::string> allowed_hosts;    // further values of Host, such as "gloveport.example.org"
  std::vector<std::string> allowed_origins;  // further values of Origin, such as "https://app.example.org"
  // Asked before a body is read: what it returns is the answer, and the body is not read. Empty: all pass.
  std::function<std::optional<HttpResponse>(const HttpServerRequest& head)> screen;
};

class HttpServer {
 public:
  // Called on one of the server's threads, several at once. What it throws becomes status 500 without
  // details.
  using Handler = std::function<HttpReply(const HttpServerRequest& request)>;

  // Listens when it returns. kDenied for an address that is not loopback; kIo when the port cannot be had.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, Handler handler);
  ~HttpServer();  // Stop()
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::string origin() const;  // "http://127.0.0.1:8080"

  // Accepts no more, reads no more, lets streams end at their next piece, waits for the handlers that run,
  // then returns. May be called more than once, from one thread.
  void Stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_HTTP_SERVER_H_
