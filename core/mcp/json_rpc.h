// JSON-RPC 2.0 messages as MCP uses them: requests, notifications, results and errors. Plain values, shared
// by client and server. Everything here is pure.
#ifndef GLOVEPORT_CORE_MCP_JSON_RPC_H_
#define GLOVEPORT_CORE_MCP_JSON_RPC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// Codes of JSON-RPC itself and those that MCP adds.
enum class RpcCode : std::int64_t {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kResourceNotFound = -32002,  // until 2025-11-25
  kHeaderMismatch = -32020,    // these three since 2026-07-28: a peer that sends one speaks it
  kMissingClientCapability = -32021,
  kUnsupportedProtocolVersion = -32022,
};

struct RpcError {
  std::int64_t code = 0;
  std::string message;  // as the peer sent it
  Json data;            // null without one

  bool Is(RpcCode which) const { return code == static_cast<std::int64_t>(which); }
};

struct RpcMessage {
  enum class Kind { kRequest, kNotification, kResult, kError };

  Kind kind = Kind::kNotification;
  Json id;  // an integer or text; null for notifications, and for errors that answer nothing readable
  std::string method;  // of requests and notifications
  Json params;         // of the same: an object, or null
  Json result;         // kResult: an object
  RpcError error;      // kError

  bool is_answer() const { return kind == Kind::kResult || kind == Kind::kError; }
};

// Reads one message, or a batch of them (which revision 2025-03-26 allows). kInvalidArgument, with what is
// wrong, for what is no such message; kResourceExhausted beyond the limits.
Result<std::vector<RpcMessage>> ParseRpc(std::string_view text, const McpLimits& limits);

// Each is one line of JSON without a line end.
std::string RpcRequest(const Json& id, std::string_view method, Json params);
std::string RpcNotification(std::string_view method, Json params);
std::string RpcResult(const Json& id, Json result);
std::string RpcErrorReply(const Json& id, RpcCode code, std::string_view message, Json data = nullptr);

// What a peer sent as plain JSON, as a value: no $-forms are read, but integers beyond 64 bits stay exact.
Value ValueOfPlainJson(const Json& json);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_JSON_RPC_H_
