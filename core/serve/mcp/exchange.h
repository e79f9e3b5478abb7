// McpExchange: the way back to who sent one request. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_EXCHANGE_H_
#define GLOVEPORT_CORE_SERVE_MCP_EXCHANGE_H_

#include <optional>
#include <string>

#include "gloveport/core/mcp/json_rpc.h"

namespace gloveport {

// A result or an error, as text; `code` where it is an error.
struct McpReply {
  std::string text;
  std::optional<RpcCode> code;
};

class McpExchange {
 public:
  virtual ~McpExchange() = default;

  // A notification or a request of the server's that belongs to it. False where nobody reads it any more.
  virtual bool Send(std::string text) = 0;

  // Ends it, one or the other, once; without a reply where it was cancelled.
  virtual void Answer(McpReply reply) = 0;
  virtual void EndUnanswered() = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_EXCHANGE_H_
