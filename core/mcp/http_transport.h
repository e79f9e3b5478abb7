// HttpTransport: an MCP server over streamable HTTP. Each message is a POST; the answer is one JSON text or a
// stream of events. With a revision that has a handshake the server may give a session (a header field), send
// on its own over a GET stream, and let a broken stream be taken up again (Last-Event-ID); the session is
// given back with DELETE. Redirects are never followed. Thread-safe.
#ifndef GLOVEPORT_CORE_MCP_HTTP_TRANSPORT_H_
#define GLOVEPORT_CORE_MCP_HTTP_TRANSPORT_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/mcp/transport.h"
#include "gloveport/core/net/http_client.h"

namespace gloveport {

struct HttpTransportOptions {
  std::string url;
  HttpHeaders headers;  // with every request: credentials, for example
  HttpClientOptions client;
  McpLimits limits;
  int max_resumes = 5;  // of one broken stream
  std::chrono::milliseconds retry{
      1'000};  // before a broken stream is taken up, where the server names no time
  std::chrono::milliseconds farewell_time{2'000};  // for DELETE
};

class HttpTransport : public McpTransport {
 public:
  explicit HttpTransport(HttpTransportOptions options);
  ~HttpTransport() override;

  McpTransportKind kind() const override { return McpTransportKind::kHttp; }
  Status Open(McpReceiver receiver) override;
  Status Send(const McpOutgoing& message) override;
  void Agreed(std::string_view revision) override;
  std::string Ending() const override { return ""; }
  std::string LastWords() const override { return ""; }
  void Close() override;

 private:
  // What one exchange brought, besides the messages that went to the receiver.
  struct Exchange;

  HttpRequest MakeRequest(std::string_view method, const HttpHeaders& added) const;
  // Sends and delivers; the state of the stream is in `exchange`.
  Result<HttpResponse> Perform(HttpRequest request, const std::function<bool()>& answered,
                               Exchange& exchange);
  bool TakeBody(std::string_view piece, const std::function<bool()>& answered, Exchange& exchange);
  Status Conclude(const McpOutgoing& message, const Result<HttpResponse>& response, Exchange& exchange);
  Status Resume(const McpOutgoing& message, Exchange& exchange);
  void Listen(const std::stop_token& stop);
  void TakeSession(const HttpResponse& head);
  std::string session() const;
  void Lose(Error error);

  const HttpTransportOptions options_;
  const HttpClient client_;
  McpReceiver receiver_;
  std::stop_source closing_;
  mutable std::mutex mutex_;
  std::string session_;
  std::string revision_;  // empty until it was agreed on
  bool lost_ = false;
  std::jthread listener_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_HTTP_TRANSPORT_H_
