// McpHttpEndpoint: the MCP server over streamable HTTP on a loopback address, at one path.
//
// Revisions with a handshake have MCP sessions (Mcp-Session-Id): POST, a GET stream for what belongs to no
// request, DELETE. Requests of the stateless revision stand for themselves. Streams cannot be taken up again.
// A client is, with a handshake, one MCP session of one token; without, one token, or all who need none.
// Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_HTTP_ENDPOINT_H_
#define GLOVEPORT_CORE_SERVE_MCP_HTTP_ENDPOINT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/net/http_server.h"
#include "gloveport/core/serve/mcp/http_exchange.h"
#include "gloveport/core/serve/mcp/served_client.h"
#include "gloveport/core/serve/mcp/service.h"

namespace gloveport {

struct McpHttpOptions {
  std::string address = "127.0.0.1";  // a loopback address
  std::uint16_t port = 0;             // 0: one that is free
  std::string path = "/mcp";
  std::vector<std::string> tokens;  // each is a client of its own; none: nobody has to show one
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  std::size_t max_clients = 64;                  // MCP sessions
  std::chrono::milliseconds json_window{1'000};  // within which a reply is one JSON text
};

class McpHttpEndpoint {
 public:
  // Listens when it returns. kDenied for an address that is not loopback, and where a further Host is allowed
  // and no token is asked for; kInvalidArgument for a token that cannot stand in a header; kIo. `service`
  // outlives it.
  static Result<std::unique_ptr<McpHttpEndpoint>> Start(McpService& service, McpHttpOptions options);
  ~McpHttpEndpoint();  // Stop()
  McpHttpEndpoint(const McpHttpEndpoint&) = delete;
  McpHttpEndpoint& operator=(const McpHttpEndpoint&) = delete;

  std::string url() const;
  void Stop();  // ends all sessions

 private:
  struct McpSession {
    std::shared_ptr<McpServedClient> client;
    std::string identity;
    std::shared_ptr<McpHttpExchange> stream;  // of GET; null without one
    std::chrono::steady_clock::time_point used;
  };

  McpHttpEndpoint(McpService& service, McpHttpOptions options);

  std::optional<HttpResponse> Screen(const HttpServerRequest& head) const;
  std::optional<HttpResponse> Refusal(const HttpServerRequest& head) const;
  HttpReply Handle(const HttpServerRequest& request);
  HttpReply Serve(const HttpServerRequest& request);
  // The origin of a page that may use the server from elsewhere; null for other requests.
  const std::string* ForeignOrigin(const HttpServerRequest& request) const;
  HttpReply Post(const HttpServerRequest& request, const std::string& identity);
  HttpReply Get(const HttpServerRequest& request, const std::string& identity);
  HttpResponse Delete(const HttpServerRequest& request, const std::string& identity);
  HttpReply PostStateless(const HttpServerRequest& request, const std::string& identity, RpcMessage message);
  HttpReply PostInSession(const HttpServerRequest& request, const std::string& identity, RpcMessage message);
  HttpReply Open(const std::string& identity, RpcMessage message);
  HttpReply Exchange(const std::shared_ptr<McpServedClient>& client, RpcMessage message, HttpHeaders headers);

  // Who it is by the token that was shown; nothing where it is none of ours. "" where none is asked for.
  std::optional<std::string> IdentityOf(const HttpServerRequest& request) const;
  std::shared_ptr<McpServedClient> StatelessClient(const std::string& identity);
  // The session that the request names, used now; else the response, to `id`, that says why not.
  tl::expected<std::shared_ptr<McpServedClient>, HttpResponse> SessionOf(const HttpServerRequest& request,
                                                                         const std::string& identity,
                                                                         const Json& id);
  bool MakeRoom(std::vector<std::shared_ptr<McpServedClient>>& leaving);  // with the lock held

  McpService& service_;
  const McpHttpOptions options_;
  std::vector<std::string> token_hashes_;
  std::mutex mutex_;
  std::map<std::string, McpSession> sessions_;
  std::map<std::string, std::shared_ptr<McpServedClient>> stateless_;
  bool stopped_ = false;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_HTTP_ENDPOINT_H_
