// How client and server find the revision that both speak.
#ifndef GLOVEPORT_CORE_MCP_HANDSHAKE_H_
#define GLOVEPORT_CORE_MCP_HANDSHAKE_H_

#include <chrono>
#include <stop_token>
#include <string>

#include "gloveport/core/mcp/peer.h"
#include "gloveport/core/mcp/protocol.h"

namespace gloveport {

struct HandshakeOptions {
  std::string revision;  // the only one to try; empty: the newest that both know
  McpImplementation client;
  McpClientAbilities abilities;
  McpLimits limits;
  Deadline deadline = Deadline::Never();
  std::stop_token stop;
  // How long a server over stdio may be silent upon `server/discover` before `initialize` is tried besides:
  // servers of earlier revisions need not answer what they do not know.
  std::chrono::milliseconds probe_time{3'000};
};

// Asks for `server/discover` and, where the server is of an earlier kind, goes through `initialize`.
// Afterwards the peer's transport knows the revision. kProtocol where there is no common one; the errors of
// McpPeer::Call.
Result<McpServerFacts> Negotiate(McpPeer& peer, const HandshakeOptions& options);

// An answer as a result: a server's error becomes kProtocol with its code and text.
Result<Json> ResultOf(const RpcMessage& answer, std::string_view what, const McpLimits& limits);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_HANDSHAKE_H_
