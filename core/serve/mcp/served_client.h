// McpServedClient: one client of the MCP server, in whichever revision it speaks: over stdio the whole
// connection, over HTTP one MCP session, or all stateless requests with one identity. Its Python sessions are
// nobody else's. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_SERVED_CLIENT_H_
#define GLOVEPORT_CORE_SERVE_MCP_SERVED_CLIENT_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/serve/mcp/cell_call.h"
#include "gloveport/core/serve/mcp/exchange.h"
#include "gloveport/core/serve/mcp/open_questions.h"
#include "gloveport/core/serve/mcp/service.h"
#include "gloveport/core/serve/mcp/session_shelf.h"
#include "gloveport/core/serve/mcp/tool_definitions.h"

namespace gloveport {

// Whose ids of requests are told apart.
enum class McpIdScope {
  kConnection,  // the client's own: `notifications/cancelled` and answers name them
  kExchange,    // each exchange is one: several programs may use the same ids at the same time
};

// Of one client.
struct McpClientLimits {
  std::size_t sessions = 0;
  std::size_t calls = 0;
  std::size_t subscriptions = 0;

  static McpClientLimits OfOne(const McpServerLimits& limits);
  // Of clients that cannot be told apart: as much as there is.
  static McpClientLimits OfAll(const McpServerLimits& limits);
};

class McpServedClient : public std::enable_shared_from_this<McpServedClient> {
 public:
  // `service` outlives the client. Over stdio and for MCP sessions a handshake may come first; a client of
  // scope kExchange speaks the stateless revision only.
  static std::shared_ptr<McpServedClient> Create(McpService& service, McpIdScope scope);
  static std::shared_ptr<McpServedClient> Create(McpService& service, McpIdScope scope,
                                                 const McpClientLimits& limits);
  ~McpServedClient();
  McpServedClient(const McpServedClient&) = delete;
  McpServedClient& operator=(const McpServedClient&) = delete;

  // Cancels a request; empty for what is answered already.
  using Cancel = std::function<void()>;

  // Takes a message. A request is answered over its exchange, now or later; `exchange` may be null for
  // others.
  Cancel Handle(RpcMessage message, const std::shared_ptr<McpExchange>& exchange);

  // Where what belongs to no request goes; null: nowhere. Over stdio the connection, over HTTP the GET
  // stream.
  void SetOwnWay(std::shared_ptr<McpExchange> way) { questions_.SetOwnWay(std::move(way)); }

  // Nobody reads this exchange any more: questions that were sent on it go the client's own way, or count as
  // unanswered.
  void LoseExchange(const McpExchange* exchange) { questions_.LoseExchange(exchange); }

  bool idle() const;  // nothing runs
  std::size_t open_sessions() { return shelf_.size(); }
  // False at the deadline.
  bool WaitUntilIdle(Deadline deadline) const;

  // Cancels what runs, closes the sessions and waits. Later requests are refused. To be called by whoever
  // made the client: what runs holds it meanwhile.
  void Close();

 private:
  // What identifies a call of execute_python: guarded by mutex_.
  struct Tag {
    std::string key;     // in running_; empty while no request waits for it
    std::string digest;  // of its arguments: a parked call is taken up by the same ones only
    bool over = false;   // its cell has ended
  };
  struct Parked {
    std::shared_ptr<McpCellCall> call;
    std::shared_ptr<Tag> tag;
    std::chrono::steady_clock::time_point since;
  };
  struct Agreed {
    std::string revision;
    McpImplementation client;
    McpClientAbilities abilities;
  };

  McpServedClient(McpService& service, McpIdScope scope, const McpClientLimits& limits);

  Cancel HandleRequest(const RpcMessage& request, const std::shared_ptr<McpExchange>& exchange);
  void HandleNotification(const RpcMessage& notification);
  McpReply Initialize(const RpcMessage& request);
  std::optional<McpRequestTerms> HandshakeTerms(const RpcMessage& request) const;

  Cancel Dispatch(McpRequestTerms terms, const RpcMessage& request,
                  const std::shared_ptr<McpExchange>& exchange);
  Cancel CallTool(McpRequestTerms terms, const Json& params, const std::shared_ptr<McpExchange>& exchange);
  Cancel Execute(McpRequestTerms terms, const Json& params, const std::shared_ptr<McpExchange>& exchange);
  // A session that a call names, and its place there.
  struct Turn {
    std::shared_ptr<McpPythonSession> session;
    std::shared_ptr<TurnQueue::Place> place;
  };
  Json RunCell(const std::shared_ptr<McpCellCall>& call, const ExecuteArguments& arguments, Turn turn);
  Cancel ResumeCall(McpRequestTerms terms, const Json& params, const std::shared_ptr<McpExchange>& exchange);
  Cancel RunBeside(McpRequestTerms terms, const std::shared_ptr<McpExchange>& exchange,
                   std::function<Json()> work);
  Json Reset(const Json& arguments);
  Json ListFunctions(const Json& arguments);
  Cancel Listen(const McpRequestTerms& terms, const std::shared_ptr<McpExchange>& exchange);

  McpCellCall::Ways WaysOf(std::shared_ptr<Tag> tag);
  std::string Park(std::shared_ptr<McpCellCall> call, const std::shared_ptr<Tag>& tag);

  bool PostTask(std::function<void()> task);
  // What runs, by its id: the key; empty where that id is in use, or the client is closed.
  std::string Register(const Json& id, Cancel cancel);
  void Forget(Tag& tag);  // and marks it as over

  McpService& service_;
  const McpIdScope scope_;
  const McpClientLimits limits_;
  McpSessionShelf shelf_;
  McpOpenQuestions questions_;
  std::atomic<std::size_t> calls_{0};
  std::atomic<std::size_t> subscriptions_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  std::optional<Agreed> agreed_;  // by the handshake
  std::map<std::string, Cancel> running_;
  std::size_t busy_ = 0;  // tasks on the service's threads
  std::map<std::string, Parked> parked_;
  std::uint64_t next_key_ = 1;
  bool closed_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_SERVED_CLIENT_H_
