// `gloveport mcp` and `gloveport serve --mcp`: Python sessions as tools of MCP clients, over stdio and over
// HTTP.
#ifndef GLOVEPORT_CORE_CLI_MCP_SERVER_COMMAND_H_
#define GLOVEPORT_CORE_CLI_MCP_SERVER_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "gloveport/core/cli/audit_option.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"

namespace CLI {
class App;
}

namespace gloveport {

// What both have: clients choose none of it.
struct McpServerFlags {
  std::string policy = "default";  // a preset's name or a path
  std::vector<std::string> tools;  // names out of the program's registry
  std::size_t max_sessions = 8;    // of one client
  std::size_t max_sessions_total = 64;
  double idle_timeout_s = 1800;
  AuditFile audit;
  std::string hook;     // as MakeHook reads it
  std::string builtin;  // as WithBuiltinTools reads it
  McpFlags mcp;         // servers whose tools exist inside the code
};

struct ServeFlags {
  McpServerFlags server;
  std::vector<std::string> mcp;  // "" for the flag alone, else as McpFlags::servers
  std::string listen = "127.0.0.1:8931";
  std::string path = "/mcp";
  std::string token_file;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
};

// Declare the options of their own. The flags must outlive the parsing.
void AddMcpServerFlags(CLI::App& command, McpServerFlags& flags);
void AddServeFlags(CLI::App& command, ServeFlags& flags);

ExitCode RunMcpServer(const Program& program, const McpServerFlags& flags, Console& console);
ExitCode RunServe(const Program& program, const ServeFlags& flags, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_MCP_SERVER_COMMAND_H_
