#include "gloveport/core/serve/mcp/http_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/serve/mcp/http_rules.h"
#include "gloveport/core/serve/mcp/message_reader.h"
#include "gloveport/core/serve/mcp/random_handle.h"

namespace gloveport {
namespace {

constexpr std::size_t kThreads = 256;  // calls, streams, and room for the short requests beside them
constexpr std::string_view kSessionField = "Mcp-Session-Id";
constexpr std::string_view kRevisionField = "MCP-Protocol-Version";

// Whoever measures the time learns nothing of where two hashes differ.
bool SameHash(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

HttpHeaders StreamHeaders(HttpHeaders headers) {
  headers.insert(
      headers.end(),
      {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}});
  return headers;
}

HttpResponse NoContent(int status) { return {status, {{"Cache-Control", "no-store"}}, ""}; }

Status CheckOptions(const McpHttpOptions& options) {
  for (const std::string& token : options.tokens) {
    const bool visible = std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (token.size() < 16 || !visible)
      return Fail(ErrorCode::kInvalidArgument, "a token must have 16 or more visible ASCII characters",
                  "make one with: openssl rand -hex 32");
  }
  if (!options.allowed_hosts.empty() && options.tokens.empty())
    return Fail(ErrorCode::kDenied, "a further Host is allowed, so that others than this machine may come",
                "ask them for a token");
  if (!options.path.starts_with('/')) return Fail(ErrorCode::kInvalidArgument, "the path must begin with /");
  return {};
}

}  // namespace

McpHttpEndpoint::McpHttpEndpoint(McpService& service, McpHttpOptions options)
    : service_(service), options_(std::move(options)) {
  for (const std::string& token : options_.tokens) token_hashes_.push_back(Sha256Hex(token));
}

McpHttpEndpoint::~McpHttpEndpoint() { Stop(); }

Result<std::unique_ptr<McpHttpEndpoint>> McpHttpEndpoint::Start(McpService& service, McpHttpOptions options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<McpHttpEndpoint> endpoint(new McpHttpEndpoint(service, std::move(options)));
  HttpServerOptions http;
  http.address = endpoint->options_.address;
  http.port = endpoint->options_.port;
  http.max_body_bytes = service.limits().messages.max_message_bytes;
  http.threads = kThreads;
  http.allowed_hosts = endpoint->options_.allowed_hosts;
  http.allowed_origins = endpoint->options_.allowed_origins;
  http.screen = [self = endpoint.get()](const HttpServerRequest& head) { return self->Screen(head); };
  ASSIGN_OR_RETURN(
      endpoint->server_,
      HttpServer::Start(std::move(http), [self = endpoint.get()](const HttpServerRequest& request) {
        return self->Handle(request);
      }));
  return endpoint;
}

std::string McpHttpEndpoint::url() const { return server_->origin() + options_.path; }

void McpHttpEndpoint::Stop() {
  std::vector<std::shared_ptr<McpServedClient>> clients;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (auto& [id, session] : sessions_) {
      clients.push_back(session.client);
      if (session.stream) session.stream->EndUnanswered();
    }
    for (auto& [identity, client] : stateless_) clients.push_back(client);
    sessions_.clear();
    stateless_.clear();
  }
  for (const auto& client : clients) client->Close();
  if (server_) server_->Stop();
}

// ---- before the body is read ----

std::optional<std::string> McpHttpEndpoint::IdentityOf(const HttpServerRequest& request) const {
  if (token_hashes_.empty()) return "";
  const auto token = BearerToken(request.headers);
  if (!token) return std::nullopt;
  const std::string shown = Sha256Hex(*token);
  std::optional<std::string> identity;
  for (const std::string& hash : token_hashes_) {
    if (SameHash(hash, shown)) identity = hash;  // all are compared
  }
  return identity;
}

const std::string* McpHttpEndpoint::ForeignOrigin(const HttpServerRequest& request) const {
  const std::string* origin = FindHeader(request.headers, "Origin");
  const auto& allowed = options_.allowed_origins;
  const bool known = origin != nullptr && std::find(allowed.begin(), allowed.end(), *origin) != allowed.end();
  return known ? origin : nullptr;
}

std::optional<HttpResponse> McpHttpEndpoint::Screen(const HttpServerRequest& head) const {
  const std::string* origin = ForeignOrigin(head);
  const bool preflight = origin != nullptr && head.method == "OPTIONS" &&
                         FindHeader(head.headers, "Access-Control-Request-Method") != nullptr;
  if (preflight) return PreflightResponse(*origin);
  auto refusal = Refusal(head);
  if (refusal && origin != nullptr) AllowOrigin(refusal->headers, *origin);
  return refusal;
}

std::optional<HttpResponse> McpHttpEndpoint::Refusal(const HttpServerRequest& head) const {
  const auto refuse = [](int status, std::string_view why, HttpHeaders headers = {}) {
    return RefusalResponse(status, RpcCode::kInvalidRequest, why, std::move(headers));
  };
  if (head.path != options_.path) return refuse(404, fmt::format("the MCP endpoint is {}", options_.path));
  if (!IdentityOf(head))
    return refuse(401, "a token is needed: Authorization: Bearer TOKEN", {{"WWW-Authenticate", "Bearer"}});
  const std::string* revision = FindHeader(head.headers, kRevisionField);
  const bool stateless = revision != nullptr && IsStateless(*revision);
  if (head.method != "POST" && (stateless || (head.method != "GET" && head.method != "DELETE")))
    return refuse(405, "this method is not served here",
                  {{"Allow", stateless ? "POST" : "POST, GET, DELETE"}});
  if (head.method == "DELETE") return std::nullopt;
  if (!Accepts(head.headers, "text/event-stream") ||
      (head.method == "POST" && !Accepts(head.headers, "application/json")))
    return refuse(406, "Accept must take application/json and text/event-stream");
  if (head.method == "POST" && !IsJson(head.headers))
    return refuse(415, "Content-Type must be application/json");
  return std::nullopt;
}

// ---- requests ----

HttpReply McpHttpEndpoint::Handle(const HttpServerRequest& request) {
  HttpReply reply = Serve(request);
  if (const std::string* origin = ForeignOrigin(request)) AllowOrigin(reply.head.headers, *origin);
  return reply;
}

HttpReply McpHttpEndpoint::Serve(const HttpServerRequest& request) {
  const auto identity = IdentityOf(request);
  if (!identity) return NoContent(401);  // Screen has said so already
  if (request.method == "POST") return Post(request, *identity);
  if (request.method == "GET") return Get(request, *identity);
  return Delete(request, *identity);
}

HttpReply McpHttpEndpoint::Post(const HttpServerRequest& request, const std::string& identity) {
  auto message = ReadMcpMessage(request.body, service_.limits().messages);
  if (!message) return JsonResponse(400, message.error());
  const std::string* revision = FindHeader(request.headers, kRevisionField);
  const bool stateless = (revision != nullptr && IsStateless(*revision)) || SaysItsRevision(*message);
  if (stateless) return PostStateless(request, identity, std::move(*message));
  if (revision != nullptr && !IsKnownRevision(*revision))
    return JsonResponse(400, UnsupportedRevision(message->id, *revision));
  if (message->kind == RpcMessage::Kind::kRequest && message->method == "initialize" &&
      FindHeader(request.headers, kSessionField) == nullptr)
    return Open(identity, std::move(*message));
  return PostInSession(request, identity, std::move(*message));
}

HttpReply McpHttpEndpoint::PostStateless(const HttpServerRequest& request, const std::string& identity,
                                         RpcMessage message) {
  if (message.kind == RpcMessage::Kind::kNotification) return NoContent(202);  // none has a meaning here
  if (message.kind != RpcMessage::Kind::kRequest)
    return RefusalResponse(400, RpcCode::kInvalidRequest, "answers are not taken in this revision");
  if (SaysItsRevision(message)) {
    if (const auto wrong = HeaderMismatch(request.headers, message))
      return JsonResponse(400, ErrorReply(message.id, RpcCode::kHeaderMismatch, *wrong));
  }
  // Else the terms are incomplete, which the client says.
  if (auto terms = StatelessTerms(message); !terms) return JsonResponse(400, terms.error());
  const auto client = StatelessClient(identity);
  if (!client) return NoContent(503);
  return Exchange(client, std::move(message), {});
}

HttpReply McpHttpEndpoint::PostInSession(const HttpServerRequest& request, const std::string& identity,
                                         RpcMessage message) {
  const auto client = SessionOf(request, identity, message.id);
  if (!client) return client.error();
  if (message.kind == RpcMessage::Kind::kRequest) return Exchange(*client, std::move(message), {});
  (void)(*client)->Handle(std::move(message), nullptr);
  return NoContent(202);
}

HttpReply McpHttpEndpoint::Open(const std::string& identity, RpcMessage message) {
  auto id = RandomHandle();
  if (!id) return NoContent(503);
  const auto client = McpServedClient::Create(service_, McpIdScope::kConnection);
  const auto exchange = std::make_shared<McpHttpExchange>();
  (void)client->Handle(std::move(message), exchange);
  const auto reply = exchange->Wait(std::chrono::milliseconds(0));  // `initialize` is answered at once
  if (!reply) return NoContent(500);
  if (reply->code) return JsonResponse(200, *reply);
  std::vector<std::shared_ptr<McpServedClient>> leaving;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || !MakeRoom(leaving))
      return RefusalResponse(503, RpcCode::kInternalError, "too many MCP sessions are open");
    sessions_.emplace(*id, McpSession{client, identity, nullptr, std::chrono::steady_clock::now()});
  }
  for (const auto& old : leaving) old->Close();
  HttpResponse response = JsonResponse(200, *reply);
  response.headers.push_back({std::string(kSessionField), *id});
  return response;
}

// Sessions that nobody uses any more go; where all are in use, the one that was idle longest and has no
// Python session makes room.
bool McpHttpEndpoint::MakeRoom(std::vector<std::shared_ptr<McpServedClient>>& leaving) {
  const auto now = std::chrono::steady_clock::now();
  auto oldest = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const bool quiet = !at->second.stream && at->second.client->idle();
    if (quiet && now - at->second.used > service_.limits().idle_timeout) {
      leaving.push_back(at->second.client);
      at = sessions_.erase(at);
      continue;
    }
    if (quiet && at->second.client->open_sessions() == 0 &&
        (oldest == sessions_.end() || at->second.used < oldest->second.used))
      oldest = at;
    ++at;
  }
  if (sessions_.size() < options_.max_clients) return true;
  if (oldest == sessions_.end()) return false;
  leaving.push_back(oldest->second.client);
  sessions_.erase(oldest);
  return true;
}

std::shared_ptr<McpServedClient> McpHttpEndpoint::StatelessClient(const std::string& identity) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return nullptr;
  auto& client = stateless_[identity];
  // Those who show no token cannot be told apart: one of them must not be limited by what the others have.
  const McpServerLimits& limits = service_.limits();
  if (!client)
    client = McpServedClient::Create(
        service_, McpIdScope::kExchange,
        identity.empty() ? McpClientLimits::OfAll(limits) : McpClientLimits::OfOne(limits));
  return client;
}

tl::expected<std::shared_ptr<McpServedClient>, HttpResponse> McpHttpEndpoint::SessionOf(
    const HttpServerRequest& request, const std::string& identity, const Json& id) {
  const auto refuse = [&](int status, std::string_view why) {
    return tl::unexpected<HttpResponse>(JsonResponse(status, ErrorReply(id, RpcCode::kInvalidRequest, why)));
  };
  const std::string* named = FindHeader(request.headers, kSessionField);
  if (named == nullptr)
    return refuse(400, fmt::format("{} is missing: send \"initialize\" first", kSessionField));
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(*named);
  // Somebody else's session is none: the answer is the same.
  if (found == sessions_.end() || found->second.identity != identity)
    return refuse(404, "there is no such MCP session: send \"initialize\" again");
  found->second.used = std::chrono::steady_clock::now();
  return found->second.client;
}

HttpReply McpHttpEndpoint::Exchange(const std::shared_ptr<McpServedClient>& client, RpcMessage message,
                                    HttpHeaders headers) {
  const bool stateless = SaysItsRevision(message);
  const auto exchange = std::make_shared<McpHttpExchange>();
  const auto cancel = client->Handle(std::move(message), exchange);
  if (const auto reply = exchange->Wait(options_.json_window))
    return stateless ? StatelessResponse(*reply) : JsonResponse(200, *reply);
  return {{200, StreamHeaders(std::move(headers)), ""},
          [exchange, cancel, stateless, client](HttpBodyWriter& writer) {
            const auto end = exchange->Stream(writer);
            // In the stateless revision who closes the stream cancels; in earlier ones that means nothing.
            if (end == McpHttpExchange::End::kReaderGone && stateless && cancel) cancel();
            if (end == McpHttpExchange::End::kReaderGone && !stateless) client->LoseExchange(exchange.get());
          }};
}

HttpReply McpHttpEndpoint::Get(const HttpServerRequest& request, const std::string& identity) {
  const auto client = SessionOf(request, identity, nullptr);
  if (!client) return client.error();
  const auto exchange = std::make_shared<McpHttpExchange>();
  const std::string id = *FindHeader(request.headers, kSessionField);
  std::shared_ptr<McpHttpExchange> before;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return NoContent(404);
    // A client that connects anew often does so before the end of the old stream is noticed.
    before = std::exchange(found->second.stream, exchange);
  }
  (*client)->SetOwnWay(exchange);
  if (before) before->EndUnanswered();
  return {{200, StreamHeaders({}), ""}, [this, exchange, id, client = *client](HttpBodyWriter& writer) {
            (void)exchange->Stream(writer);
            client->LoseExchange(exchange.get());
            const std::lock_guard lock(mutex_);
            const auto found = sessions_.find(id);
            if (found == sessions_.end() || found->second.stream != exchange) return;
            found->second.stream = nullptr;
            found->second.used = std::chrono::steady_clock::now();
          }};
}

HttpResponse McpHttpEndpoint::Delete(const HttpServerRequest& request, const std::string& identity) {
  const auto client = SessionOf(request, identity, nullptr);
  if (!client) return client.error();
  std::shared_ptr<McpHttpExchange> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(*FindHeader(request.headers, kSessionField));
    if (found != sessions_.end()) {
      stream = found->second.stream;
      sessions_.erase(found);
    }
  }
  if (stream) stream->EndUnanswered();
  (*client)->Close();
  return NoContent(204);
}

}  // namespace gloveport
