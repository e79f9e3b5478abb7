// ServerEvents: what an MCP server sends on its own, over one connection after the other: log messages,
// changes of its list of tools, questions to the person. Owns no connection, so that the threads of a
// transport may hold it. Thread-safe.
#ifndef GLOVEPORT_CORE_MCP_SERVER_EVENTS_H_
#define GLOVEPORT_CORE_MCP_SERVER_EVENTS_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gloveport/core/mcp/elicitation.h"
#include "gloveport/core/mcp/peer.h"

namespace gloveport {

// Told of what happens with servers. Called on any thread, also on several at once; must not block for long
// nor call the client. All texts are cleaned and cut.
class McpObserver {
 public:
  virtual ~McpObserver() = default;
  // A connection was lost, or a server says something odd.
  virtual void OnNote(const std::string& /*server*/, const std::string& /*text*/) {}
  virtual void OnLog(const std::string& /*server*/, const std::string& /*level*/,
                     const std::string& /*text*/) {}
  virtual void OnProgress(const std::string& /*server*/, const std::string& /*tool*/, const McpProgress&) {}
  virtual void OnToolsChanged(const std::string& /*server*/) {}
};

class ServerEvents : public std::enable_shared_from_this<ServerEvents> {
 public:
  ServerEvents(std::string server, std::shared_ptr<Approver> approver, std::shared_ptr<McpObserver> observer);

  // For a new connection. `peer` is that connection's and is filled before it is opened, and not changed
  // later: its questions are answered to it, whichever connection is the present one.
  McpPeerHandlers MakeHandlers(std::shared_ptr<const std::weak_ptr<McpPeer>> peer);

  // While one lives, the server may ask the person; questions that are open when the last one goes are
  // withdrawn.
  class ActiveCall {
   public:
    ActiveCall(ServerEvents& events, Deadline deadline);
    ~ActiveCall();
    ActiveCall(const ActiveCall&) = delete;
    ActiveCall& operator=(const ActiveCall&) = delete;

   private:
    ServerEvents& events_;
    std::multiset<std::chrono::steady_clock::time_point>::iterator at_;
  };

  Elicitor& elicitor() { return *elicitor_; }
  McpObserver* observer() const { return observer_.get(); }
  void Note(const std::string& text) const;
  std::atomic<bool>& tools_changed() { return tools_changed_; }

 private:
  void OnNotification(const RpcMessage& notification);
  void OnRequest(const std::shared_ptr<McpPeer>& peer, const RpcMessage& request);
  void OnElicitation(const std::shared_ptr<McpPeer>& peer, const RpcMessage& request);
  Deadline LatestDeadline() const;  // of the calls that run; has passed where none does

  const std::string server_;
  const std::shared_ptr<Elicitor> elicitor_;
  const std::shared_ptr<McpObserver> observer_;
  mutable std::mutex mutex_;
  std::multiset<std::chrono::steady_clock::time_point> active_;  // deadlines
  std::atomic<std::size_t> logged_{0};
  std::atomic<bool> tools_changed_{false};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_SERVER_EVENTS_H_
