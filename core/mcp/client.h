// McpClient: several MCP servers, whose tools become tools of sessions. Thread-safe.
//
//   auto servers = ParseMcpConfig(text, ProcessEnvironment());
//   auto client = McpClient::Connect(*servers, {});
//   auto tools = (*client)->WithTools(own_registry.get());
//   runtime->Open({.tools = tools->registry});
//
// The client may go before the sessions: their tools keep what they need, and its servers end with the last
// of both.
#ifndef GLOVEPORT_CORE_MCP_CLIENT_H_
#define GLOVEPORT_CORE_MCP_CLIENT_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gloveport/core/mcp/connection.h"
#include "gloveport/core/mcp/server_config.h"
#include "gloveport/core/mcp/tool_result.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

struct McpClientOptions {
  McpConnectionOptions connection;
  SchemaValidator validate;  // of structured results, where ToolResultValue needs it
};

struct McpTools {
  std::shared_ptr<const ToolRegistry> registry;
  // Tools whose names are others than one would expect, and why; each is told once in a client's life.
  std::vector<std::string> notes;
};

class McpClient {
 public:
  // Starts and asks all servers, beside each other. kInvalidArgument for two servers of one name; else the
  // error of the first, in their order, that could not be reached or gave no list.
  static Result<std::unique_ptr<McpClient>> Connect(std::vector<McpServerConfig> servers,
                                                    McpClientOptions options);

  // The tools of `own` (may be null) and then those of all servers, by names that are nobody else's
  // (ChooseNames). Lists that have changed are read again; where that fails, the old list stands and a note
  // says so. A session keeps the tools that it was opened with.
  Result<McpTools> WithTools(const ToolRegistry* own);

  struct Server {
    std::shared_ptr<McpConnection> connection;
    McpServerFacts facts;
    std::vector<McpToolInfo> tools;
  };
  std::vector<Server> servers() const;

 private:
  McpClient(McpClientOptions options, std::vector<Server> servers)
      : options_(std::move(options)), servers_(std::move(servers)) {}
  static Status Fill(Server& server);
  void Refresh(std::vector<std::string>& notes);

  const McpClientOptions options_;
  mutable std::mutex mutex_;
  std::vector<Server> servers_;
  std::set<std::string> told_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_CLIENT_H_
