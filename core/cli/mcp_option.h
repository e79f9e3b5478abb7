// The options --mcp and --mcp-config: MCP servers whose tools exist in sessions besides the program's own.
#ifndef GLOVEPORT_CORE_CLI_MCP_OPTION_H_
#define GLOVEPORT_CORE_CLI_MCP_OPTION_H_

#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/mcp/client.h"
#include "gloveport/tools/approval.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

struct McpFlags {
  std::vector<std::string> servers;  // --mcp: "NAME=COMMAND" or "NAME=URL", as ParseMcpServer reads it
  std::string config;                // --mcp-config: a file, as ParseMcpConfig reads it

  bool any() const { return !servers.empty() || !config.empty(); }
};

// Starts the servers that the flags name; null where they name none. `runtime` checks results against unusual
// schemas and must outlive the client and its tools; without one they are not checked. `approver`, which may
// be null, answers what servers ask a person. What happens with servers is noted on the console, which must
// outlive them too.
Result<std::shared_ptr<McpClient>> OpenMcp(const McpFlags& flags, Runtime* runtime,
                                           std::shared_ptr<Approver> approver, Console& console);

// `own`, which may be null, and the tools of the client, which may be null too; notes which have other names.
Result<std::shared_ptr<const ToolRegistry>> AddMcpTools(const std::shared_ptr<McpClient>& client,
                                                        std::shared_ptr<const ToolRegistry> own,
                                                        Console& console);

// "MCP     files: secure-filesystem-server 0.2.0, 14 tools", a line for each server.
std::string DescribeServers(const McpClient& client);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_MCP_OPTION_H_
