#include "gloveport/core/mcp/server_events.h"

#include <utility>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxLogBytes = 500;
constexpr std::size_t kMaxLogged = 1000;

}  // namespace

ServerEvents::ActiveCall::ActiveCall(ServerEvents& events, Deadline deadline) : events_(events) {
  const std::lock_guard lock(events_.mutex_);
  at_ = events_.active_.insert(deadline.when());
}

ServerEvents::ActiveCall::~ActiveCall() {
  bool last;
  {
    const std::lock_guard lock(events_.mutex_);
    events_.active_.erase(at_);
    last = events_.active_.empty();
  }
  if (last) events_.elicitor_->WithdrawAll();
}

ServerEvents::ServerEvents(std::string server, std::shared_ptr<Approver> approver,
                           std::shared_ptr<McpObserver> observer)
    : server_(std::move(server)),
      elicitor_(std::make_shared<Elicitor>(std::move(approver), server_)),
      observer_(std::move(observer)) {}

McpPeerHandlers ServerEvents::MakeHandlers(std::shared_ptr<const std::weak_ptr<McpPeer>> peer) {
  McpPeerHandlers handlers;
  handlers.on_notification = [self = shared_from_this()](const RpcMessage& notification) {
    self->OnNotification(notification);
  };
  handlers.on_request = [self = shared_from_this(), peer = std::move(peer)](const RpcMessage& request) {
    if (const auto asking = peer->lock()) self->OnRequest(asking, request);
  };
  handlers.on_lost = [self = shared_from_this()](const Error& error) {
    self->Note("the connection was lost: " + error.message + (error.hint.empty() ? "" : "; " + error.hint));
  };
  return handlers;
}

void ServerEvents::Note(const std::string& text) const {
  if (observer_) observer_->OnNote(server_, text);
}

void ServerEvents::OnNotification(const RpcMessage& notification) {
  if (notification.method == "notifications/tools/list_changed") {
    tools_changed_ = true;
    if (observer_) observer_->OnToolsChanged(server_);
  } else if (notification.method == "notifications/message" && observer_ && ++logged_ <= kMaxLogged) {
    const Json& data = MemberOf(notification.params, "data");
    const std::string text = data.is_string() ? data.get<std::string>() : DumpJson(data);
    observer_->OnLog(server_, CleanLine(TextOf(notification.params, "level"), 16),
                     CleanLine(text, kMaxLogBytes));
  }
}

void ServerEvents::OnRequest(const std::shared_ptr<McpPeer>& peer, const RpcMessage& request) {
  if (request.method == "elicitation/create" && elicitor_->available()) return OnElicitation(peer, request);
  peer->Refuse(request.id, RpcCode::kMethodNotFound,
               request.method == "sampling/createMessage" ? "this client does not offer sampling"
                                                          : "this client offers no such method");
}

Deadline ServerEvents::LatestDeadline() const {
  const std::lock_guard lock(mutex_);
  return active_.empty() ? Deadline::At({}) : Deadline::At(*active_.rbegin());
}

void ServerEvents::OnElicitation(const std::shared_ptr<McpPeer>& peer, const RpcMessage& request) {
  const Deadline deadline = LatestDeadline();
  if (deadline.passed())
    return peer->Refuse(request.id, RpcCode::kInvalidRequest, "questions are answered during calls only");
  const auto form = ParseElicitation(request.params);
  if (!form) return peer->Refuse(request.id, RpcCode::kInvalidParams, form.error().message);
  elicitor_->Ask(*form, deadline, [weak = std::weak_ptr<McpPeer>(peer), id = request.id](Json result) {
    if (const auto asking = weak.lock()) asking->Reply(id, std::move(result));
  });
}

}  // namespace gloveport
