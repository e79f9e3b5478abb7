#include "gloveport/core/serve/mcp/served_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/serve/mcp/call_result.h"
#include "gloveport/core/serve/mcp/random_handle.h"
#include "gloveport/core/serve/mcp/tool_definitions.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::int64_t kListTtlMs = 300'000;  // the three tools never change while the server runs

Error TooManyCalls() {
  return {ErrorCode::kResourceExhausted, "too many calls are running already",
          "wait for the others, or make fewer calls that do more each"};
}

Json Capabilities() { return {{"tools", Json::object()}}; }

std::optional<std::chrono::milliseconds> TimeoutOf(const ExecuteArguments& arguments) {
  constexpr double kLongest = 1e9;
  if (!arguments.timeout_s) return std::nullopt;
  return std::chrono::milliseconds(std::llround(std::ceil(std::min(*arguments.timeout_s, kLongest) * 1000)));
}

// Of what the arguments mean: a client may send them in another order the next time.
std::string DigestOf(const ExecuteArguments& arguments) {
  return Sha256Hex(
      DumpJson(Json::array({arguments.code, arguments.session ? Json(*arguments.session) : Json(),
                            arguments.timeout_s ? Json(*arguments.timeout_s) : Json()})));
}

}  // namespace

McpClientLimits McpClientLimits::OfOne(const McpServerLimits& limits) {
  return {limits.max_sessions_per_client, limits.max_calls_per_client, limits.max_subscriptions_per_client};
}

McpClientLimits McpClientLimits::OfAll(const McpServerLimits& limits) {
  return {limits.max_sessions, limits.max_calls, limits.max_calls};
}

std::shared_ptr<McpServedClient> McpServedClient::Create(McpService& service, McpIdScope scope) {
  return Create(service, scope, McpClientLimits::OfOne(service.limits()));
}

std::shared_ptr<McpServedClient> McpServedClient::Create(McpService& service, McpIdScope scope,
                                                         const McpClientLimits& limits) {
  return std::shared_ptr<McpServedClient>(new McpServedClient(service, scope, limits));
}

McpServedClient::McpServedClient(McpService& service, McpIdScope scope, const McpClientLimits& limits)
    : service_(service), scope_(scope), limits_(limits), shelf_(service, limits.sessions) {}

McpServedClient::~McpServedClient() { Close(); }

// ---- what is under way ----

bool McpServedClient::idle() const {
  const std::lock_guard lock(mutex_);
  return busy_ == 0 && running_.empty();
}

bool McpServedClient::WaitUntilIdle(Deadline deadline) const {
  std::unique_lock lock(mutex_);
  const auto idle = [this] { return busy_ == 0; };
  if (!deadline.never()) return ended_.wait_until(lock, deadline.when(), idle);
  ended_.wait(lock, idle);
  return true;
}

void McpServedClient::Close() {
  std::map<std::string, Cancel> running;
  std::map<std::string, Parked> parked;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    running.swap(running_);
    parked.swap(parked_);
  }
  questions_.Close();
  for (auto& [key, cancel] : running) cancel();
  for (auto& [state, call] : parked) call.call->Cancel();
  shelf_.CloseAll();
  (void)WaitUntilIdle(Deadline::Never());
}

std::string McpServedClient::Register(const Json& id, Cancel cancel) {
  const std::lock_guard lock(mutex_);
  const std::string key = scope_ == McpIdScope::kConnection ? DumpJson(id) : fmt::format("#{}", next_key_++);
  if (closed_ || !running_.emplace(key, std::move(cancel)).second) return "";
  return key;
}

void McpServedClient::Forget(Tag& tag) {
  const std::lock_guard lock(mutex_);
  running_.erase(std::exchange(tag.key, ""));
  tag.over = true;
}

bool McpServedClient::PostTask(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    ++busy_;
  }
  const auto posted = service_.threads().Post([self = shared_from_this(), task = std::move(task)] {
    try {
      task();
    } catch (...) {
      // Too little memory, for example: whoever waits for this has been told by the task's own guard.
    }
    const std::lock_guard lock(self->mutex_);
    --self->busy_;
    self->ended_.notify_all();
  });
  if (posted) return true;
  const std::lock_guard lock(mutex_);
  --busy_;
  return false;
}

// ---- messages ----

McpServedClient::Cancel McpServedClient::Handle(RpcMessage message,
                                                const std::shared_ptr<McpExchange>& exchange) {
  switch (message.kind) {
    case RpcMessage::Kind::kRequest:
      return HandleRequest(message, exchange);
    case RpcMessage::Kind::kNotification:
      HandleNotification(message);
      break;
    case RpcMessage::Kind::kResult:
    case RpcMessage::Kind::kError:
      questions_.Take(message);
      break;
  }
  return {};
}

McpServedClient::Cancel McpServedClient::HandleRequest(const RpcMessage& request,
                                                       const std::shared_ptr<McpExchange>& exchange) {
  if (SaysItsRevision(request)) {
    auto terms = StatelessTerms(request);
    if (terms) return Dispatch(std::move(*terms), request, exchange);
    exchange->Answer(std::move(terms).error());
  } else if (request.method == "initialize") {
    exchange->Answer(Initialize(request));
  } else if (request.method == "ping") {
    exchange->Answer({RpcResult(request.id, Json::object()), std::nullopt});
  } else if (auto terms = HandshakeTerms(request)) {
    return Dispatch(std::move(*terms), request, exchange);
  } else {
    exchange->Answer(
        ErrorReply(request.id, RpcCode::kInvalidRequest,
                   fmt::format("send \"initialize\" first, or say the protocol version in _meta (\"{}\")",
                               kMetaRevision)));
  }
  return {};
}

McpReply McpServedClient::Initialize(const RpcMessage& request) {
  const Json& wanted = MemberOf(request.params, "protocolVersion");
  if (!wanted.is_string())
    return ErrorReply(request.id, RpcCode::kInvalidParams, "\"protocolVersion\" is missing");
  Agreed agreed{wanted.get<std::string>(), ParseImplementation(MemberOf(request.params, "clientInfo")),
                ParseClientAbilities(MemberOf(request.params, "capabilities"))};
  // What is not known, and the revision that has no handshake, is answered with the newest that has one.
  if (!IsKnownRevision(agreed.revision) || IsStateless(agreed.revision))
    agreed.revision = kHandshakeRevisions[0];
  const std::string revision = agreed.revision;
  {
    const std::lock_guard lock(mutex_);
    if (agreed_ || scope_ == McpIdScope::kExchange)
      return ErrorReply(request.id, RpcCode::kInvalidRequest, "this connection is initialized already");
    agreed_ = std::move(agreed);
  }
  return {RpcResult(request.id, {{"protocolVersion", revision},
                                 {"capabilities", Capabilities()},
                                 {"serverInfo", service_.options().server.ToJson()},
                                 {"instructions", ServerInstructions(service_.options())}}),
          std::nullopt};
}

std::optional<McpRequestTerms> McpServedClient::HandshakeTerms(const RpcMessage& request) const {
  const std::lock_guard lock(mutex_);
  if (!agreed_) return std::nullopt;
  return McpRequestTerms{agreed_->revision, agreed_->client, agreed_->abilities, request.id,
                         ProgressTokenOf(request)};
}

void McpServedClient::HandleNotification(const RpcMessage& notification) {
  if (notification.method != "notifications/cancelled" || scope_ != McpIdScope::kConnection) return;
  Cancel cancel;
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(DumpJson(MemberOf(notification.params, "requestId")));
    if (found == running_.end()) return;  // over already, which the client could not know
    cancel = found->second;
    running_.erase(found);
  }
  cancel();
}

McpServedClient::Cancel McpServedClient::Dispatch(McpRequestTerms terms, const RpcMessage& request,
                                                  const std::shared_ptr<McpExchange>& exchange) {
  const McpImplementation& server = service_.options().server;
  const std::string& method = request.method;
  if (method == "tools/call") return CallTool(std::move(terms), request.params, exchange);
  if (method == "tools/list") {
    if (Member(request.params, "cursor") != nullptr) {
      exchange->Answer(terms.Error(RpcCode::kInvalidParams, "there is one page only: no cursor is valid"));
      return {};
    }
    Json result = {{"tools", service_.tool_definitions()}};
    if (terms.stateless()) result.update({{"ttlMs", kListTtlMs}, {"cacheScope", "public"}});
    exchange->Answer(terms.Result(std::move(result), server));
  } else if (method == "server/discover" && terms.stateless()) {
    exchange->Answer(terms.Result({{"supportedVersions", KnownRevisions()},
                                   {"capabilities", Capabilities()},
                                   {"instructions", ServerInstructions(service_.options())},
                                   {"ttlMs", kListTtlMs},
                                   {"cacheScope", "public"}},
                                  server));
  } else if (method == "subscriptions/listen" && terms.stateless()) {
    return Listen(terms, exchange);
  } else {
    exchange->Answer(terms.Error(RpcCode::kMethodNotFound,
                                 fmt::format("there is no method \"{}\" here", CleanLine(method, 100))));
  }
  return {};
}

// Nothing ever changes that could be listened to: the stream is acknowledged, with nothing, and stays open.
McpServedClient::Cancel McpServedClient::Listen(const McpRequestTerms& terms,
                                                const std::shared_ptr<McpExchange>& exchange) {
  auto room = std::make_shared<Share>(Share::Take(subscriptions_, limits_.subscriptions));
  if (!*room) {
    exchange->Answer(terms.Error(RpcCode::kInternalError, "too many subscriptions are open"));
    return {};
  }
  // The share goes with the last who knows of the stream.
  const Cancel end = [exchange, room] { exchange->EndUnanswered(); };
  const std::string key = Register(terms.id, end);
  if (key.empty()) {
    exchange->Answer(terms.Error(RpcCode::kInvalidRequest, "this id is in use"));
    return {};
  }
  exchange->Send(
      RpcNotification("notifications/subscriptions/acknowledged",
                      {{"_meta", {{kMetaSubscription, terms.id}}}, {"notifications", Json::object()}}));
  return [weak = weak_from_this(), key, end] {
    if (const auto self = weak.lock()) {
      Tag tag{key, "", false};
      self->Forget(tag);
    }
    end();
  };
}

// ---- tools ----

McpServedClient::Cancel McpServedClient::CallTool(McpRequestTerms terms, const Json& params,
                                                  const std::shared_ptr<McpExchange>& exchange) {
  const std::string name = TextOf(params, "name");
  const Json& arguments = MemberOf(params, "arguments");
  if (!arguments.is_null() && !arguments.is_object()) {
    exchange->Answer(terms.Error(RpcCode::kInvalidParams, "\"arguments\" must be an object"));
    return {};
  }
  if (name == kExecutePython) return Execute(std::move(terms), params, exchange);
  if (name == kResetSession)
    return RunBeside(std::move(terms), exchange, [this, arguments] { return Reset(arguments); });
  if (name == kListTools)
    return RunBeside(std::move(terms), exchange, [this, arguments] { return ListFunctions(arguments); });
  exchange->Answer(
      terms.Error(RpcCode::kInvalidParams, fmt::format("unknown tool \"{}\"", CleanLine(name, 100))));
  return {};
}

McpServedClient::Cancel McpServedClient::RunBeside(McpRequestTerms terms,
                                                   const std::shared_ptr<McpExchange>& exchange,
                                                   std::function<Json()> work) {
  const McpImplementation& server = service_.options().server;
  auto share = std::make_shared<Share>(service_.TakeCall());
  const bool posted = *share && PostTask([terms, exchange, work = std::move(work), share, &server] {
    try {
      exchange->Answer(terms.Result(work(), server));
    } catch (const std::exception&) {
      exchange->Answer(terms.Error(RpcCode::kInternalError, "the server could not answer"));
    }
  });
  if (!posted) exchange->Answer(terms.Result(ErrorResult(TooManyCalls()), server));
  return {};
}

Json McpServedClient::Reset(const Json& arguments) {
  const auto read = ReadResetArguments(arguments);
  if (!read) return ErrorResult(read.error());
  const bool close = read->what == ResetArguments::What::kClose;
  const Status done = close ? shelf_.Close(read->session) : shelf_.Reset(read->session);
  if (!done) return ErrorResult(done.error());
  return ResetResult(close ? std::nullopt : std::optional<std::string_view>(read->session), shelf_.size());
}

Json McpServedClient::ListFunctions(const Json& arguments) {
  if (const Status none = CheckNoArguments(arguments); !none) return ErrorResult(none.error());
  const auto tools = service_.VisibleTools();
  return tools ? ToolListResult(*tools) : ErrorResult(tools.error());
}

// ---- execute_python ----

McpServedClient::Cancel McpServedClient::Execute(McpRequestTerms terms, const Json& params,
                                                 const std::shared_ptr<McpExchange>& exchange) {
  const McpImplementation& server = service_.options().server;
  const auto refuse = [&](const Error& error) {
    exchange->Answer(terms.Result(NotRunResult(error, std::nullopt), server));
    return Cancel();
  };
  if (terms.stateless() && Member(params, "requestState") != nullptr)
    return ResumeCall(std::move(terms), params, exchange);
  auto arguments = ReadExecuteArguments(MemberOf(params, "arguments"));
  if (!arguments) return refuse(arguments.error());
  Turn turn;
  if (arguments->session) {
    // On the reader's thread: calls in one session run in the order in which they came.
    auto session = shelf_.Find(*arguments->session);
    if (!session) return refuse(session.error());
    turn = {*session, (*session)->Join()};
  }
  auto own = std::make_shared<Share>(Share::Take(calls_, limits_.calls));
  auto share = std::make_shared<Share>(service_.TakeCall());
  if (!*own || !*share) return refuse(TooManyCalls());

  const auto tag = std::make_shared<Tag>();
  tag->digest = DigestOf(*arguments);
  const auto call =
      std::make_shared<McpCellCall>(terms, exchange, WaysOf(tag), server, service_.limits().max_progress);
  const Cancel cancel = [call] { call->Cancel(); };
  tag->key = Register(terms.id, cancel);
  if (tag->key.empty()) {
    exchange->Answer(terms.Error(RpcCode::kInvalidRequest, "this id is in use"));
    return {};
  }
  const auto place = std::make_shared<Turn>(std::move(turn));
  const bool posted = PostTask([this, call, tag, own, share, place, arguments = std::move(*arguments)] {
    Json result;
    try {
      result = RunCell(call, arguments, std::move(*place));
    } catch (const std::exception&) {
      result = NotRunResult({ErrorCode::kInternal, "the server could not answer", ""}, std::nullopt);
    }
    *place = Turn();
    Forget(*tag);
    *own = Share();
    *share = Share();
    call->Finish(std::move(result));
  });
  if (!posted) {
    Forget(*tag);
    return refuse(TooManyCalls());
  }
  return cancel;
}

Json McpServedClient::RunCell(const std::shared_ptr<McpCellCall>& call, const ExecuteArguments& arguments,
                              Turn turn) {
  if (!turn.session) {
    auto opened = shelf_.Open();
    if (!opened) return NotRunResult(opened.error(), std::nullopt);
    turn = {*opened, (*opened)->Join()};
  }
  const std::string& handle = turn.session->handle();
  RunOptions options;
  options.timeout = TimeoutOf(arguments);
  const auto result = turn.session->Run(arguments.code, options, call, *turn.place);
  // Nobody learns the handle of a session that was opened for a call that came to nothing.
  const bool lost = !arguments.session && (!result || call->stop().stop_requested());
  if (lost) (void)shelf_.Close(handle);
  // It may have been reset or ended while this ran.
  const bool gone = lost || turn.session->closed();
  if (result)
    return CellCallResult(*result, arguments.code, gone ? "" : handle, service_.limits(),
                          service_.redactor());
  return NotRunResult(result.error(), gone ? std::nullopt : std::optional<std::string_view>(handle));
}

// ---- questions to the user ----

McpCellCall::Ways McpServedClient::WaysOf(std::shared_ptr<Tag> tag) {
  // The task of the call holds this client until the call is over.
  return {[this](McpExchange* own, std::uint64_t approval, Json params, std::function<void(Json)> answer) {
            return questions_.Ask(own, approval, std::move(params), std::move(answer));
          },
          [this](McpExchange* own, std::uint64_t approval) { questions_.Withdraw(own, approval); },
          [this, tag](std::shared_ptr<McpCellCall> call) { return Park(std::move(call), tag); }};
}

std::string McpServedClient::Park(std::shared_ptr<McpCellCall> call, const std::shared_ptr<Tag>& tag) {
  auto state = RandomHandle();
  if (!state) return "";
  const auto now = std::chrono::steady_clock::now();
  std::vector<Parked> over;  // goes without the lock
  const std::lock_guard lock(mutex_);
  for (auto at = parked_.begin(); at != parked_.end();) {
    const bool stale =
        now - at->second.since > service_.options().policy.limits.approval + service_.limits().parked_time;
    if (stale) over.push_back(std::move(at->second));
    at = stale ? parked_.erase(at) : std::next(at);
  }
  if (closed_ || parked_.size() >= limits_.calls) return "";
  running_.erase(std::exchange(tag->key, ""));
  parked_.emplace(*state, Parked{std::move(call), tag, now});
  return std::move(*state);
}

McpServedClient::Cancel McpServedClient::ResumeCall(McpRequestTerms terms, const Json& params,
                                                    const std::shared_ptr<McpExchange>& exchange) {
  const auto arguments = ReadExecuteArguments(MemberOf(params, "arguments"));
  const std::string digest = arguments ? DigestOf(*arguments) : "";
  Parked parked;
  {
    const std::lock_guard lock(mutex_);
    const auto found = parked_.find(TextOf(params, "requestState"));
    // The state is worth one call, and that with the arguments for which it was given.
    if (found != parked_.end() && found->second.tag->digest == digest) {
      parked = std::move(found->second);
      parked_.erase(found);
    }
  }
  if (!parked.call) {
    exchange->Answer(
        terms.Error(RpcCode::kInvalidParams,
                    "\"requestState\" is none that waits for this call: it is unknown, was used, or "
                    "belongs to other arguments"));
    return {};
  }
  const Cancel cancel = [call = parked.call] { call->Cancel(); };
  std::string key = Register(terms.id, cancel);
  if (key.empty()) {
    exchange->Answer(terms.Error(RpcCode::kInvalidRequest, "this id is in use"));
    parked.call->Cancel();
    return {};
  }
  {
    const std::lock_guard lock(mutex_);
    if (parked.tag->over) {
      running_.erase(key);
    } else {
      parked.tag->key = std::move(key);
    }
  }
  parked.call->Resume(std::move(terms), exchange, MemberOf(params, "inputResponses"));
  return cancel;
}

}  // namespace gloveport
