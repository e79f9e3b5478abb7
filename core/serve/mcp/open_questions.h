// McpOpenQuestions: what one client of the MCP server is asked and has not answered (elicitation), and where
// what belongs to none of its requests goes. Thread-safe; calls no answer with its lock held.
#ifndef GLOVEPORT_CORE_SERVE_MCP_OPEN_QUESTIONS_H_
#define GLOVEPORT_CORE_SERVE_MCP_OPEN_QUESTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gloveport/core/mcp/json_rpc.h"
#include "gloveport/core/serve/mcp/exchange.h"

namespace gloveport {

class McpOpenQuestions {
 public:
  using Answer = std::function<void(Json)>;  // the result, an empty object for an error, null for no answer

  void SetOwnWay(std::shared_ptr<McpExchange> way);
  // Nobody reads this exchange any more: what was asked on it is asked on the client's own way, or has no
  // answer.
  void LoseExchange(const McpExchange* exchange);
  // Asks no more; who still waits is told nothing.
  void Close();

  // Over `own`, or where nobody reads that, the client's own way. False where nobody reads either.
  bool Ask(McpExchange* own, std::uint64_t approval, Json params, Answer answer);
  void Withdraw(McpExchange* own, std::uint64_t approval);
  // What the client sent as an answer to something.
  void Take(const RpcMessage& answer);

 private:
  struct Question {
    std::uint64_t approval = 0;
    Answer answer;
    const McpExchange* on = nullptr;  // where it was sent
    std::string text;                 // the request, to be sent again
  };

  // Where it was sent: null where nobody reads.
  const McpExchange* Send(McpExchange* own, const std::string& text);

  std::mutex mutex_;
  std::shared_ptr<McpExchange> own_way_;
  std::map<std::string, Question> questions_;  // by ids that no client makes up for itself
  std::int64_t next_ = 1;
  bool closed_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_OPEN_QUESTIONS_H_
