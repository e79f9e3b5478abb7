// McpServerConfig: how one MCP server is reached, and the usual file that names several:
//
//   {"mcpServers": {"files": {"command": "npx", "args": ["-y", "..."], "env": {"KEY": "${KEY}"}, "cwd":
//   "/data"},
//                   "wiki":  {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer
//                   ${TOKEN}"}}}}
//
// "${NAME}" in any text is the variable NAME of our environment, "${NAME:-text}" has a text for where it is
// not set. Further keys: "type" ("stdio", "http", "streamable-http"), "disabled", "timeout_s" (of one call),
// and "revision" (of the protocol, instead of the newest that both sides know).
#ifndef GLOVEPORT_CORE_MCP_SERVER_CONFIG_H_
#define GLOVEPORT_CORE_MCP_SERVER_CONFIG_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/mcp/server_process.h"
#include "gloveport/core/net/http_message.h"
#include "gloveport/core/net/proxy.h"

namespace gloveport {

struct McpServerConfig {
  std::string name;       // letters, digits, "_", "-" and "."
  ServerCommand command;  // either this has a program,
  std::string url;        // or this is set
  HttpHeaders headers;
  std::optional<std::chrono::milliseconds> call_time;
  std::string revision;
};

// kInvalidArgument names the server and the key: unknown keys, a server with both or neither of "command" and
// "url", a variable that is not set. Servers that are disabled are left out.
Result<std::vector<McpServerConfig>> ParseMcpConfig(std::string_view text, const EnvLookup& environment);

// "NAME=COMMAND ARG 'AN ARG'", or "NAME=https://...": words are separated by spaces, quotes and backslashes
// keep them together as in a shell; nothing else is special.
Result<McpServerConfig> ParseMcpServer(std::string_view text);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_SERVER_CONFIG_H_
