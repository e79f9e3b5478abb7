// McpConnection: an MCP server by its name: connected when it is needed, and again, with growing pauses, when
// it was lost. Thread-safe; shared by the tools that come from it.
//
// A request is sent once. When the connection is lost while one is under way, it fails with kClosed and says
// that it is not known whether it was carried out; the next one connects anew. (Only what a server has
// refused without carrying it out, because it did not know the session, is sent again in the new session.)
#ifndef GLOVEPORT_CORE_MCP_CONNECTION_H_
#define GLOVEPORT_CORE_MCP_CONNECTION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gloveport/core/mcp/peer.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/mcp/server_config.h"
#include "gloveport/core/mcp/server_events.h"
#include "gloveport/core/mcp/tool_list.h"
#include "gloveport/core/mcp/turn_gate.h"
#include "gloveport/core/net/http_client.h"

namespace gloveport {

struct McpConnectionOptions {
  McpImplementation client{"gloveport", "0"};
  McpLimits limits;
  std::shared_ptr<Approver> approver;     // of elicitations; null: they are not offered to servers
  std::shared_ptr<McpObserver> observer;  // may be null
  HttpClientOptions http;
  std::chrono::milliseconds start_time{
      60'000};  // for a server to start and shake hands; npx may download first
  std::chrono::milliseconds probe_time{3'000};  // as HandshakeOptions
  std::chrono::milliseconds first_pause{200};   // between attempts to connect; doubled each time
  std::chrono::milliseconds longest_pause{30'000};
  std::chrono::milliseconds grace{2'000};        // as StdioTransportOptions
  std::chrono::milliseconds call_time{300'000};  // of a call that has no deadline of its own
};

// As CallContext::Ask: asks the person and waits; no time of the call passes meanwhile.
using OnAsk = std::function<ApprovalDecision(std::string reason, Value details)>;

// One call of a tool, as the connection sends it.
struct McpToolCall {
  const McpToolInfo& tool;
  Json arguments;
  Deadline deadline = Deadline::Never();
  std::stop_token stop;
  // Besides the observer. May be called by other threads, and a moment longer than the call lasts.
  PendingRequests::OnProgress on_progress;
  // Answers what the server asks the person, in the stateless revision, where each call says whether it can;
  // on the thread of the call. Empty: the approver is asked.
  OnAsk on_ask;
};

class McpConnection {
 public:
  McpConnection(McpServerConfig config, McpConnectionOptions options);
  ~McpConnection();  // Close()
  McpConnection(const McpConnection&) = delete;
  McpConnection& operator=(const McpConnection&) = delete;

  const std::string& name() const { return config_.name; }
  std::optional<std::chrono::milliseconds> call_time() const { return config_.call_time; }

  // What the server said of itself; connects where it is not connected. Errors of every function here name
  // the server.
  Result<McpServerFacts> Connect(Deadline deadline = Deadline::Never(), std::stop_token stop = {});

  // All pages. A list that changes meanwhile is read again, a few times. What was rejected goes to the
  // observer.
  Result<std::vector<McpToolInfo>> ListTools(Deadline deadline = Deadline::Never());
  // Whether the server said that its list has changed since it was read last.
  bool tools_changed() const { return events_->tools_changed(); }

  // The result of `tools/call`. What the server asks for meanwhile goes to the approver; a request for
  // anything but an elicitation is refused.
  Result<Json> CallTool(const McpToolCall& call);
  Result<Json> ReadResource(std::string_view uri, Deadline deadline, std::stop_token stop);
  Result<std::vector<Json>> ListResources(Deadline deadline, std::stop_token stop);
  Status Ping(Deadline deadline);

  // Ends the connection for good.
  void Close();

 private:
  // One link to the server and what was agreed over it.
  struct Link {
    std::shared_ptr<McpPeer> peer;
    McpServerFacts facts;
  };

  std::optional<Link> Present() const;
  Result<Link> Use(Deadline deadline, const std::stop_token& stop);
  Status AwaitTurn(Deadline deadline, const std::stop_token& stop) const;
  Result<Link> Open(Deadline deadline, const std::stop_token& stop);
  std::unique_ptr<McpTransport> MakeTransport() const;
  void Forget(const std::shared_ptr<McpPeer>& peer);

  // A request whose result is complete, over the present link or a new one.
  Result<Json> Request(std::string_view method, Json params, McpCallOptions options,
                       std::string_view name = "", const OnAsk& on_ask = {});
  Result<Json> RequestOnce(const Link& link, std::string_view method, Json params, McpCallOptions options,
                           std::string_view name, const McpClientAbilities& abilities);
  Result<std::vector<Json>> RequestPages(std::string_view method, const McpCallOptions& options);
  // Answers to what a result asks for ("input_required").
  Result<Json> InputResponses(const Json& result, const OnAsk& on_ask, McpCallOptions& options);

  void Subscribe(const Link& link);
  tl::unexpected<Error> Named(const Error& error) const;

  const McpServerConfig config_;
  const McpConnectionOptions options_;
  const std::shared_ptr<ServerEvents> events_;

  TurnGate connecting_;
  mutable std::mutex mutex_;
  std::optional<Link> link_;
  std::jthread subscriber_;
  bool closed_ = false;
  int failures_ = 0;  // in a row
  std::chrono::steady_clock::time_point not_before_{};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_CONNECTION_H_
