// The words of the Model Context Protocol that client and server share: revisions, capabilities, what a
// request carries in `_meta`. Plain values and pure functions.
//
// Two kinds of revisions exist. Up to 2025-11-25 a connection begins with a handshake (`initialize`), has
// capabilities and, over HTTP, a session; the server may send requests. Since 2026-07-28 each request says
// all that is needed in its `_meta`, `server/discover` tells of a server, and what a server wants to know it
// asks for in a result ("input_required"), upon which the request is made again with the answer.
#ifndef GLOVEPORT_CORE_MCP_PROTOCOL_H_
#define GLOVEPORT_CORE_MCP_PROTOCOL_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/mcp/json_rpc.h"

namespace gloveport {

inline constexpr std::string_view kStatelessRevision = "2026-07-28";
// Newest first.
inline constexpr std::array<std::string_view, 4> kHandshakeRevisions = {"2025-11-25", "2025-06-18",
                                                                        "2025-03-26", "2024-11-05"};

inline bool IsStateless(std::string_view revision) { return revision == kStatelessRevision; }
bool IsKnownRevision(std::string_view revision);
std::vector<std::string> KnownRevisions();  // newest first
// The newest revision that we know among `offered`; nothing where there is none.
std::optional<std::string> NewestRevision(const std::vector<std::string>& offered);
// Of an UnsupportedProtocolVersion error: its data.supported.
std::vector<std::string> SupportedRevisions(const RpcError& error);
// An error that only a server of 2026-07-28 or later sends.
bool IsStatelessError(const RpcError& error);

// Who a peer says it is: for display only, nothing relies on it. Cleaned and cut.
struct McpImplementation {
  std::string name;
  std::string version;

  Json ToJson() const { return {{"name", name}, {"version", version}}; }
};
McpImplementation ParseImplementation(const Json& json);

// What a server says it can do.
struct McpServerFacts {
  std::string revision;  // that both sides speak
  McpImplementation server;
  bool tools = false;
  bool tools_list_changed = false;
  bool resources = false;
  bool prompts = false;
  bool logging = false;
  std::string instructions;  // for models; cleaned and cut
};
// From the result of `initialize` or `server/discover`; the revision is set by the caller.
McpServerFacts ParseServerFacts(const Json& result, const McpLimits& limits);

// What this client can do.
struct McpClientAbilities {
  bool elicitation = false;  // forms only

  Json ToJson() const;
};
// From `capabilities` as a client sent them.
McpClientAbilities ParseClientAbilities(const Json& capabilities);

// What a request of the stateless revision says in its `_meta`.
inline constexpr std::string_view kMetaRevision = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

// Adds to `params` what each request of the stateless revision carries.
void AddRequestMeta(Json& params, const McpImplementation& client, const McpClientAbilities& abilities);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_PROTOCOL_H_
