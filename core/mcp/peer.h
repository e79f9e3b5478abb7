// McpPeer: one connection to an MCP server, from its opening to its loss: pairs requests with answers, hands
// out what the server sends on its own, sends what nobody waits for. Thread-safe.
#ifndef GLOVEPORT_CORE_MCP_PEER_H_
#define GLOVEPORT_CORE_MCP_PEER_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/mcp/pending_requests.h"
#include "gloveport/core/mcp/transport.h"

namespace gloveport {

struct McpCallOptions {
  Deadline deadline = Deadline::Never();
  std::stop_token stop;
  HttpHeaders headers;                      // over HTTP
  PendingRequests::OnProgress on_progress;  // if set, progress is asked for
};

// Called on threads of the transport; must not wait for the server, nor close the peer.
struct McpPeerHandlers {
  std::function<void(const RpcMessage& notification)> on_notification;
  // A request of the server, which is to be answered with Reply or Refuse, now or later. kMethodNotFound is
  // the answer where this is empty. `ping` is answered by the peer itself.
  std::function<void(const RpcMessage& request)> on_request;
  std::function<void(const Error& error)> on_lost;  // once
};

class McpPeer {
 public:
  McpPeer(std::unique_ptr<McpTransport> transport, const McpLimits& limits, McpPeerHandlers handlers);
  ~McpPeer();  // Close()
  McpPeer(const McpPeer&) = delete;
  McpPeer& operator=(const McpPeer&) = delete;

  Status Open();

  // A result, or the server's error. An Error where no answer came: kDeadlineExceeded or kClosed (stopped),
  // upon which the server is told that nobody waits any more; the reason of the loss; those of
  // McpTransport::Send. A request is sent once.
  Result<RpcMessage> Call(std::string_view method, Json params, const McpCallOptions& options);

  // The two halves of Call, for a handshake that has two requests in flight.
  Result<std::int64_t> Begin(std::string_view method, Json params, const McpCallOptions& options);
  PendingRequests& pending() { return pending_; }

  // Each is sent by a thread of the peer's own, in order. Dropped where the connection is lost or too many
  // wait.
  void Notify(std::string_view method, Json params);
  void Reply(const Json& id, Json result);
  void Refuse(const Json& id, RpcCode code, std::string_view message);

  McpTransport& transport() { return *transport_; }
  // Says the revision to the transport, and how calls are cancelled from now on.
  void Agreed(std::string_view revision);
  bool lost() const { return lost_; }
  Error reason() const;  // why it was lost
  // The same error, saying how the server ended, and with its last words as a hint where there is none.
  Error WithEnding(Error error) const;
  void Close();

 private:
  void Receive(std::string_view text);
  void Handle(RpcMessage message);
  void CountBad(std::string_view what);
  void Lose(const Error& error);
  void Post(std::string text);
  void SendPosted(const std::stop_token& stop);
  void Cancel(std::int64_t id, std::string_view reason);

  const McpLimits limits_;
  const std::unique_ptr<McpTransport> transport_;
  const McpPeerHandlers handlers_;
  PendingRequests pending_;
  std::atomic<std::size_t> bad_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> closing_{false};
  std::atomic<bool> cancels_by_message_{true};
  mutable std::mutex mutex_;
  std::condition_variable_any posted_;
  std::deque<std::string> outbox_;
  std::optional<Error> reason_;
  std::jthread sender_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_PEER_H_
