#include "gloveport/core/mcp/connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "gloveport/core/mcp/handshake.h"
#include "gloveport/core/mcp/http_transport.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/mcp/request_headers.h"
#include "gloveport/core/mcp/stdio_transport.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr int kMaxRounds = 8;   // of questions before one result
constexpr int kMaxRelists = 3;  // of a list that changes while it is read
constexpr std::size_t kMaxInputs = 16;
constexpr std::chrono::milliseconds kWorthWaiting{2'000};

}  // namespace

McpConnection::McpConnection(McpServerConfig config, McpConnectionOptions options)
    : config_(std::move(config)),
      options_(std::move(options)),
      events_(std::make_shared<ServerEvents>(config_.name, options_.approver, options_.observer)) {}

McpConnection::~McpConnection() { Close(); }

tl::unexpected<Error> McpConnection::Named(const Error& error) const {
  return Fail(error.code, fmt::format("MCP server {}: {}", config_.name, error.message), error.hint);
}

// ---- the link ----

std::unique_ptr<McpTransport> McpConnection::MakeTransport() const {
  if (config_.url.empty()) {
    StdioTransportOptions stdio;
    stdio.command = config_.command;
    stdio.limits = options_.limits;
    stdio.grace = options_.grace;
    return std::make_unique<StdioTransport>(std::move(stdio));
  }
  HttpTransportOptions http;
  http.url = config_.url;
  http.headers = config_.headers;
  http.client = options_.http;
  http.limits = options_.limits;
  return std::make_unique<HttpTransport>(std::move(http));
}

// A server that fails again and again is asked less and less often.
Status McpConnection::AwaitTurn(Deadline deadline, const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  const Deadline turn = Deadline::At(not_before_);
  if (turn.passed()) return {};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(turn.left());
  if (left > kWorthWaiting || deadline.when() < turn.when()) {
    return Fail(ErrorCode::kClosed,
                fmt::format("it could not be reached {} times in a row; it is tried again in {:.1f} s",
                            failures_, static_cast<double>(left.count()) / 1000));
  }
  std::condition_variable_any never;
  never.wait_until(lock, stop, turn.when(), [] { return false; });
  if (stop.stop_requested()) return Fail(ErrorCode::kClosed, "the call was stopped");
  return {};
}

Result<McpConnection::Link> McpConnection::Open(Deadline deadline, const std::stop_token& stop) {
  const auto self = std::make_shared<std::weak_ptr<McpPeer>>();
  auto peer = std::make_shared<McpPeer>(MakeTransport(), options_.limits, events_->MakeHandlers(self));
  *self = peer;  // before Open, which starts the threads that read it
  RETURN_IF_ERROR(peer->Open());
  HandshakeOptions handshake;
  handshake.revision = config_.revision;
  handshake.client = options_.client;
  handshake.abilities.elicitation = events_->elicitor().available();
  handshake.limits = options_.limits;
  handshake.deadline = Earlier(deadline, Deadline::After(options_.start_time));
  handshake.stop = stop;
  handshake.probe_time = options_.probe_time;
  auto facts = Negotiate(*peer, handshake);
  if (!facts) {
    peer->Close();  // then it is known how it ended
    return tl::unexpected<Error>(peer->WithEnding(facts.error()));
  }
  if (facts->logging && !IsStateless(facts->revision)) {
    McpCallOptions quick{.deadline = handshake.deadline, .stop = stop};
    (void)peer->Call("logging/setLevel", {{"level", "warning"}}, quick);
  }
  return Link{std::move(peer), std::move(*facts)};
}

std::optional<McpConnection::Link> McpConnection::Present() const {
  const std::lock_guard lock(mutex_);
  return link_ && !link_->peer->lost() ? link_ : std::nullopt;
}

Result<McpConnection::Link> McpConnection::Use(Deadline deadline, const std::stop_token& stop) {
  if (auto present = Present()) return *present;
  const TurnGate::Holder turn =
      connecting_.Take(Earlier(deadline, Deadline::After(options_.start_time)), stop);  // one at a time
  if (!turn && stop.stop_requested()) return Fail(ErrorCode::kClosed, "the call was stopped");
  if (!turn) return Fail(ErrorCode::kDeadlineExceeded, "it was not connected in time");
  if (auto present = Present()) return *present;  // somebody else was faster
  std::shared_ptr<McpPeer> old;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Fail(ErrorCode::kClosed, "the connection was closed");
    if (link_) old = link_->peer;
    link_.reset();
  }
  if (old) old->Close();
  RETURN_IF_ERROR(AwaitTurn(deadline, stop));
  auto opened = Open(deadline, stop);
  {
    const std::lock_guard lock(mutex_);
    if (!opened) {
      const auto pause = options_.first_pause * (1 << std::min(failures_, 12));
      ++failures_;
      not_before_ = std::chrono::steady_clock::now() +
                    std::min<std::chrono::milliseconds>(pause, options_.longest_pause);
      return opened;
    }
    failures_ = 0;
    not_before_ = {};
    if (!closed_) link_ = *opened;
  }
  if (!Present()) {  // it was lost at once, or Close came meanwhile
    const Error reason = opened->peer->lost() ? opened->peer->reason()
                                              : Error{ErrorCode::kClosed, "the connection was closed", ""};
    opened->peer->Close();
    return tl::unexpected<Error>(reason);
  }
  events_->tools_changed() = true;  // the list is that of another process or session now
  Subscribe(*opened);
  return opened;
}

void McpConnection::Forget(const std::shared_ptr<McpPeer>& peer) {
  {
    const std::lock_guard lock(mutex_);
    if (link_ && link_->peer == peer) link_.reset();
  }
  peer->Close();
}

Result<McpServerFacts> McpConnection::Connect(Deadline deadline, std::stop_token stop) {
  auto link = Use(deadline, stop);
  if (!link) return Named(link.error());
  return link->facts;
}

void McpConnection::Close() {
  std::shared_ptr<McpPeer> peer;
  std::jthread subscriber;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (link_) peer = link_->peer;
    link_.reset();
    subscriber = std::move(subscriber_);
  }
  events_->elicitor().WithdrawAll();
  subscriber.request_stop();
  if (peer) peer->Close();
}

// ---- requests ----

Result<Json> McpConnection::RequestOnce(const Link& link, std::string_view method, Json params,
                                        McpCallOptions options, std::string_view name,
                                        const McpClientAbilities& abilities) {
  if (IsStateless(link.facts.revision)) {
    AddRequestMeta(params, options_.client, abilities);
    const HttpHeaders mirrored = MirrorHeaders(method, name);
    options.headers.insert(options.headers.end(), mirrored.begin(), mirrored.end());
  } else {
    options.headers.clear();
  }
  ASSIGN_OR_RETURN(const RpcMessage answer, link.peer->Call(method, std::move(params), options));
  return ResultOf(answer, method, options_.limits);
}

Result<Json> McpConnection::Request(std::string_view method, Json params, McpCallOptions options,
                                    std::string_view name, const OnAsk& on_ask) {
  if (options.deadline.never())
    options.deadline = Deadline::After(config_.call_time.value_or(options_.call_time));
  const ServerEvents::ActiveCall active(*events_, options.deadline);
  bool refused_before = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    auto link = Use(options.deadline, options.stop);
    if (!link) return Named(link.error());
    const bool can_ask = on_ask || events_->elicitor().available();
    auto result = RequestOnce(*link, method, params, options, name, {.elicitation = can_ask});
    if (!result && result.error().code == ErrorCode::kNotFound && !refused_before) {
      refused_before = true;  // the server did not know the session, so that nothing was carried out
      Forget(link->peer);
      continue;
    }
    if (!result && result.error().code == ErrorCode::kClosed && link->peer->lost()) {
      Error error = result.error();
      error.message += "; whether it carried out this call is not known, and nothing was repeated";
      return Named(error);
    }
    if (!result) return Named(result.error());
    const std::string type = TextOf(*result, "resultType");
    if (type.empty() || type == "complete") return result;
    if (type != "input_required") {
      return Named({ErrorCode::kProtocol,
                    fmt::format("its result is of an unknown type \"{}\"", CleanLine(type, 64)), ""});
    }
    auto responses = InputResponses(*result, on_ask, options);
    if (!responses) return Named(responses.error());
    params["inputResponses"] = std::move(*responses);
    params.erase("requestState");
    if (const Json* state = Member(*result, "requestState")) params["requestState"] = *state;
  }
  return Named({ErrorCode::kProtocol, "it asks again and again and gives no result", ""});
}

Result<Json> McpConnection::InputResponses(const Json& result, const OnAsk& on_ask, McpCallOptions& options) {
  Json responses = Json::object();
  const Json& requests = MemberOf(result, "inputRequests");
  if (requests.size() > kMaxInputs) return Fail(ErrorCode::kProtocol, "it asks for too much at once");
  for (const auto& [key, request] : requests.items()) {
    const std::string method = TextOf(request, "method");
    if (method != "elicitation/create" || !(on_ask || events_->elicitor().available())) {
      return Fail(ErrorCode::kDenied,
                  fmt::format("it asks this client for {}, which is not offered", CleanLine(method, 64)));
    }
    ASSIGN_OR_RETURN(const ElicitationForm form, ParseElicitation(MemberOf(request, "params")));
    if (on_ask) {
      const auto asked = std::chrono::steady_clock::now();
      responses[key] = ElicitationAnswer(form, on_ask(ElicitationQuestion(form, config_.name), form.fields));
      if (!options.deadline.never())
        options.deadline = Deadline::At(options.deadline.when() + (std::chrono::steady_clock::now() - asked));
    } else {
      responses[key] = events_->elicitor().AskAndWait(form, options.deadline, options.stop);
    }
    if (options.stop.stop_requested()) return Fail(ErrorCode::kClosed, "the call was stopped");
  }
  return responses;
}

Result<std::vector<Json>> McpConnection::RequestPages(std::string_view method,
                                                      const McpCallOptions& options) {
  std::vector<Json> pages;
  std::set<std::string> seen;
  std::size_t bytes = 0;
  Json params = Json::object();
  while (pages.size() < options_.limits.max_pages) {
    ASSIGN_OR_RETURN(Json page, Request(method, params, options));
    const std::string cursor = TextOf(page, "nextCursor");
    bytes += DumpJson(page).size();
    if (bytes > 2 * options_.limits.max_message_bytes)
      return Named({ErrorCode::kResourceExhausted, fmt::format("{} brings too much", method), ""});
    pages.push_back(std::move(page));
    if (cursor.empty()) return pages;
    if (!seen.insert(cursor).second) break;
    params["cursor"] = cursor;
  }
  return Named({ErrorCode::kResourceExhausted, fmt::format("{} does not come to an end", method), ""});
}

Result<std::vector<McpToolInfo>> McpConnection::ListTools(Deadline deadline) {
  std::vector<McpToolInfo> tools;
  std::vector<std::string> rejected;
  for (int attempt = 0; attempt < kMaxRelists; ++attempt) {
    ASSIGN_OR_RETURN(const McpServerFacts facts, Connect(deadline));
    if (!facts.tools) return tools;
    events_->tools_changed() = false;
    ASSIGN_OR_RETURN(const std::vector<Json> pages, RequestPages("tools/list", {.deadline = deadline}));
    tools.clear();
    rejected.clear();
    for (const Json& json : pages) {
      McpToolPage page = ParseToolPage(json, options_.limits);
      std::move(page.tools.begin(), page.tools.end(), std::back_inserter(tools));
      std::move(page.rejected.begin(), page.rejected.end(), std::back_inserter(rejected));
    }
    if (!tools_changed()) break;
  }
  if (tools.size() > options_.limits.max_tools) {
    tools.resize(options_.limits.max_tools);
    rejected.push_back(fmt::format("tools beyond {}", options_.limits.max_tools));
  }
  for (const std::string& reason : rejected) events_->Note("not taken: " + reason);
  return tools;
}

Result<Json> McpConnection::CallTool(const McpToolCall& call) {
  McpCallOptions options{.deadline = call.deadline, .stop = call.stop};
  options.headers = ArgumentHeaders(call.tool.headers, call.arguments);
  if (options_.observer || call.on_progress) {
    options.on_progress = [observer = options_.observer, server = config_.name,
                           tool = CleanLine(call.tool.name, 64),
                           own = call.on_progress](const McpProgress& progress) {
      if (observer) observer->OnProgress(server, tool, progress);
      if (own) own(progress);
    };
  }
  Json params = {{"name", call.tool.name}, {"arguments", call.arguments}};
  return Request("tools/call", std::move(params), std::move(options), call.tool.name, call.on_ask);
}

Result<Json> McpConnection::ReadResource(std::string_view uri, Deadline deadline, std::stop_token stop) {
  return Request("resources/read", {{"uri", uri}}, {.deadline = deadline, .stop = std::move(stop)}, uri);
}

Result<std::vector<Json>> McpConnection::ListResources(Deadline deadline, std::stop_token stop) {
  ASSIGN_OR_RETURN(const std::vector<Json> pages,
                   RequestPages("resources/list", {.deadline = deadline, .stop = std::move(stop)}));
  std::vector<Json> resources;
  for (const Json& page : pages) {
    for (const Json& resource : MemberOf(page, "resources")) resources.push_back(resource);
  }
  return resources;
}

Status McpConnection::Ping(Deadline deadline) {
  ASSIGN_OR_RETURN(const McpServerFacts facts, Connect(deadline));
  // The stateless revision has no ping: what tells of the server shows that it is there.
  const char* method = IsStateless(facts.revision) ? "server/discover" : "ping";
  RETURN_IF_ERROR(Request(method, Json::object(), {.deadline = deadline}));
  return {};
}

// Since 2026-07-28 a server tells of changes only who asks for it: by a request that stays open.
void McpConnection::Subscribe(const Link& link) {
  if (!IsStateless(link.facts.revision) || !link.facts.tools_list_changed) return;
  Json params = {{"notifications", {{"toolsListChanged", true}}}};
  AddRequestMeta(params, options_.client, {.elicitation = events_->elicitor().available()});
  std::jthread subscriber([peer = link.peer, params](const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "glove-mcp-sub");
    while (!stop.stop_requested() && !peer->lost()) {
      McpCallOptions options{.stop = stop, .headers = MirrorHeaders("subscriptions/listen", "")};
      const auto answer = peer->Call("subscriptions/listen", params, options);
      if (answer && answer->kind == RpcMessage::Kind::kError) return;  // it does not offer that
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait_for(lock, stop, kWorthWaiting, [] { return false; });
    }
  });
  {
    const std::lock_guard lock(mutex_);
    std::swap(subscriber, subscriber_);
  }
  // The one before ends here: its peer is lost.
}

}  // namespace gloveport
