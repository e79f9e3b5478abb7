#include "gloveport/core/mcp/peer.h"

#include <fmt/core.h>

#include <utility>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxPosted = 1000;
constexpr std::chrono::seconds kPostTime{30};
constexpr std::size_t kMaxProgressBytes = 500;

McpProgress ParseProgress(const Json& params) {
  McpProgress progress;
  progress.progress = NumberOf(params, "progress");
  if (MemberOf(params, "total").is_number()) progress.total = NumberOf(params, "total");
  progress.message = CleanLine(TextOf(params, "message"), kMaxProgressBytes);
  return progress;
}

}  // namespace

McpPeer::McpPeer(std::unique_ptr<McpTransport> transport, const McpLimits& limits, McpPeerHandlers handlers)
    : limits_(limits),
      transport_(std::move(transport)),
      handlers_(std::move(handlers)),
      pending_(limits.max_in_flight) {}

McpPeer::~McpPeer() { Close(); }

Status McpPeer::Open() {
  RETURN_IF_ERROR(transport_->Open(
      {[this](std::string_view text) { Receive(text); }, [this](const Error& error) { Lose(error); }}));
  sender_ = std::jthread([this](const std::stop_token& stop) { SendPosted(stop); });
  return {};
}

void McpPeer::Agreed(std::string_view revision) {
  // Over HTTP, the stateless revision takes the end of a stream for a cancellation.
  cancels_by_message_ = transport_->kind() == McpTransportKind::kStdio || !IsStateless(revision);
  transport_->Agreed(revision);
}

// ---- what arrives ----

void McpPeer::Receive(std::string_view text) {
  auto messages = ParseRpc(text, limits_);
  if (!messages) return CountBad(messages.error().message);
  for (RpcMessage& message : *messages) Handle(std::move(message));
}

void McpPeer::Handle(RpcMessage message) {
  switch (message.kind) {
    case RpcMessage::Kind::kResult:
    case RpcMessage::Kind::kError:
      // It could not read what it was sent; over HTTP the status says which request that was.
      if (message.id.is_null()) return;
      if (!pending_.Complete(std::move(message))) CountBad("an answer to nothing that was asked");
      return;
    case RpcMessage::Kind::kNotification:
      if (message.method == "notifications/progress") {
        pending_.Progress(MemberOf(message.params, "progressToken"), ParseProgress(message.params));
      } else if (handlers_.on_notification) {
        handlers_.on_notification(message);
      }
      return;
    case RpcMessage::Kind::kRequest:
      if (message.method == "ping") return Reply(message.id, Json::object());
      if (handlers_.on_request) return handlers_.on_request(message);
      return Refuse(message.id, RpcCode::kMethodNotFound, "this client offers no such method");
  }
}

void McpPeer::CountBad(std::string_view what) {
  if (++bad_ == limits_.max_bad_messages) {
    Lose({ErrorCode::kProtocol, fmt::format("the server sent {} messages that are none, the last one: {}",
                                            limits_.max_bad_messages, what)});
  }
}

// What the server wrote to its standard error is a hint for people: an exception in a session has only the
// message.
Error McpPeer::WithEnding(Error error) const {
  const std::string ending = transport_->Ending();
  const std::string words = transport_->LastWords();
  if (!ending.empty() && error.message.find(ending) == std::string::npos) error.message += "; " + ending;
  if (!words.empty() && error.hint.empty()) error.hint = "it last wrote: " + words;
  return error;
}

void McpPeer::Lose(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (reason_) return;
    reason_ = WithEnding(error);
  }
  lost_ = true;
  // Told before those who wait: they may close this at once.
  if (handlers_.on_lost && !closing_) handlers_.on_lost(reason());
  pending_.FailAll(reason());
}

Error McpPeer::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_.value_or(Error{ErrorCode::kClosed, "the connection is open"});
}

// ---- what is sent ----

Result<std::int64_t> McpPeer::Begin(std::string_view method, Json params, const McpCallOptions& options) {
  ASSIGN_OR_RETURN(const std::int64_t id, pending_.Add(options.on_progress));
  if (options.on_progress) {
    if (!params.is_object()) params = Json::object();
    params["_meta"]["progressToken"] = id;
  }
  const Status sent =
      transport_->Send({RpcRequest(id, method, std::move(params)), options.headers,
                        [this, id] { return pending_.IsAnswered(id); }, options.deadline, options.stop});
  // Refused without being carried out: that counts for more than that the connection is lost with it.
  const bool refused = !sent && sent.error().code == ErrorCode::kNotFound;
  if (!refused && (sent || pending_.IsAnswered(id))) return id;
  pending_.Drop(id);
  const bool given_up = options.stop.stop_requested() || options.deadline.passed();
  if (given_up && cancels_by_message_) Cancel(id, "the caller waits no longer");
  if (lost_ && sent.error().code == ErrorCode::kClosed) return tl::unexpected<Error>(reason());
  return tl::unexpected<Error>(sent.error());
}

Result<RpcMessage> McpPeer::Call(std::string_view method, Json params, const McpCallOptions& options) {
  ASSIGN_OR_RETURN(const std::int64_t id, Begin(method, std::move(params), options));
  auto answer = pending_.Wait(id, options.deadline, options.stop);
  const bool given_up = !answer && !lost_ && method != "initialize";
  if (given_up && cancels_by_message_)
    Cancel(id, options.stop.stop_requested() ? "the caller was stopped" : "the caller's time ran out");
  return answer;
}

void McpPeer::Cancel(std::int64_t id, std::string_view reason) {
  Notify("notifications/cancelled", {{"requestId", id}, {"reason", reason}});
}

void McpPeer::Notify(std::string_view method, Json params) {
  Post(RpcNotification(method, std::move(params)));
}

void McpPeer::Reply(const Json& id, Json result) { Post(RpcResult(id, std::move(result))); }

void McpPeer::Refuse(const Json& id, RpcCode code, std::string_view message) {
  Post(RpcErrorReply(id, code, message));
}

void McpPeer::Post(std::string text) {
  const std::lock_guard lock(mutex_);
  if (reason_ || outbox_.size() >= kMaxPosted) return;
  outbox_.push_back(std::move(text));
  posted_.notify_one();
}

void McpPeer::SendPosted(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "glove-mcp-send");
  std::unique_lock lock(mutex_);
  while (posted_.wait(lock, stop, [this] { return !outbox_.empty(); })) {
    const std::string text = std::move(outbox_.front());
    outbox_.pop_front();
    lock.unlock();
    // Nobody waits for it; whether the server took it shows with the next request.
    (void)transport_->Send({text, {}, nullptr, Deadline::After(kPostTime), stop});
    lock.lock();
  }
}

void McpPeer::Close() {
  if (closing_.exchange(true)) return;
  if (sender_.joinable()) {
    sender_.request_stop();
    sender_.join();
  }
  pending_.FailAll({ErrorCode::kClosed, "the connection to the server was closed"});
  transport_->Close();
}

}  // namespace gloveport
