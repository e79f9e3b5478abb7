// HttpClient: one request, one answer, with a limit on time and size.
//
// Redirects are never followed: a 3xx is an answer like any other. Answers are taken as they are, never
// unpacked (identity is the only coding that is asked for). Each exchange has a connection of its own.
//
// The client side does not use cpp-httplib, the server side (http_server.h) does. In version 0.11 a status
// line of 100 KB overflows the client's stack, no deadline holds for a whole exchange, the resolving of a
// name cannot be given up, a peer that has gone raises SIGPIPE, and the credentials of a proxy are sent on to
// the server behind it; none of this can be mended from outside.
#ifndef GLOVEPORT_CORE_NET_HTTP_CLIENT_H_
#define GLOVEPORT_CORE_NET_HTTP_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_message.h"
#include "gloveport/core/net/proxy.h"
#include "gloveport/core/net/tcp.h"

namespace gloveport {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  HttpHeaders headers;  // Host, Connection, Content-Length and Transfer-Encoding are the client's own
  std::string body;
  Deadline deadline = Deadline::Never();  // for the whole exchange, the resolving of the name included
  std::stop_token cancel;
  std::size_t max_response_bytes = 16u << 20;  // of the body; the head has its own limit of 64 KiB

  // How long the server may send nothing once the request is sent, before and within its answer; beyond it
  // kDeadlineExceeded. For answers that take long as a whole.
  std::chrono::nanoseconds max_silence = std::chrono::nanoseconds::max();

  // If set, takes status and header fields of the answer before any of its body.
  std::function<void(const HttpResponse& head)> on_head;

  // If set, is asked about each address that would be connected to (the proxy's, where there is one), after
  // the name was resolved: an error is passed on as it is, with the request named.
  AdmitAddress admit;

  // If set, takes the body of a 2xx answer piece by piece as it arrives, and the body of the response stays
  // empty. Returning false ends the exchange with kClosed. Called on the thread of Send.
  std::function<bool(std::string_view piece)> on_body;
  std::size_t max_streamed_bytes =
      0;  // of a body that on_body takes, in place of max_response_bytes; 0: the same
};

struct HttpClientOptions {
  ProxyRules proxies;
  std::string ca_file;  // a PEM file with the only authorities to trust; empty: those of the system
  std::string user_agent = "gloveport";
};

// Thread-safe: exchanges may run side by side.
class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // An answer of any status is a success. Errors, each naming method, scheme, host and port (not the path,
  // nor any header, which may be secret):
  //   kInvalidArgument    the URL, a header field or the proxy is malformed; nothing was sent
  //   kIo                 name not resolved, connection refused, cut before or in the middle of the answer
  //   kDeadlineExceeded   with what was being done
  //   kClosed             cancelled
  //   kResourceExhausted  the answer is too large
  //   kProtocol           the answer is no HTTP, is packed, or the certificate is refused
  Result<HttpResponse> Send(const HttpRequest& request) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_HTTP_CLIENT_H_
