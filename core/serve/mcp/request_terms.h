// McpRequestTerms: under which terms one request is answered: its revision, what the client can do, where
// progress goes. Plain values and pure functions.
#ifndef GLOVEPORT_CORE_SERVE_MCP_REQUEST_TERMS_H_
#define GLOVEPORT_CORE_SERVE_MCP_REQUEST_TERMS_H_

#include <string>
#include <string_view>

#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/serve/mcp/exchange.h"

namespace gloveport {

struct McpRequestTerms {
  std::string revision;
  McpImplementation client;
  McpClientAbilities abilities;
  Json id;              // of the request
  Json progress_token;  // null: no progress is wanted

  bool stateless() const { return IsStateless(revision); }
  // A result as this revision has it: the stateless one says of what type it is, and of whom.
  McpReply Result(Json result, const McpImplementation& server, std::string_view type = "complete") const;
  McpReply Error(RpcCode code, std::string_view message, Json data = nullptr) const;
};

// Of an error that answers `id`, null where none could be read.
McpReply ErrorReply(const Json& id, RpcCode code, std::string_view message, Json data = nullptr);

// Whether a request says its revision itself, as the stateless one has it.
bool SaysItsRevision(const RpcMessage& request);
// The terms of such a request; the error reply where they are none, or name a revision that is not served.
tl::expected<McpRequestTerms, McpReply> StatelessTerms(const RpcMessage& request);

// The reply for a revision that is not served.
McpReply UnsupportedRevision(const Json& id, std::string_view requested);

// The `progressToken` of a request, null where there is none that could be sent back.
Json ProgressTokenOf(const RpcMessage& request);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_REQUEST_TERMS_H_
