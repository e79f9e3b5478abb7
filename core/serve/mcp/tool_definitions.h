// The three tools of the MCP server: names, descriptions and JSON Schemas (2020-12), which models read. Pure.
#ifndef GLOVEPORT_CORE_SERVE_MCP_TOOL_DEFINITIONS_H_
#define GLOVEPORT_CORE_SERVE_MCP_TOOL_DEFINITIONS_H_

#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/serve/mcp/server_options.h"

namespace gloveport {

inline constexpr std::string_view kExecutePython = "execute_python";
inline constexpr std::string_view kResetSession = "reset_session";
inline constexpr std::string_view kListTools = "list_tools";

// The `tools` of `tools/list`, in a fixed order.
Json ToolDefinitions(const McpServerOptions& options);

// `instructions` of the server, for models.
std::string ServerInstructions(const McpServerOptions& options);

struct ExecuteArguments {
  std::string code;
  std::optional<std::string> session;
  std::optional<double> timeout_s;
};
// kInvalidArgument names what is wrong, for the model that called.
Result<ExecuteArguments> ReadExecuteArguments(const Json& arguments);

struct ResetArguments {
  std::string session;
  enum class What { kForget, kClose } what = What::kForget;
};
Result<ResetArguments> ReadResetArguments(const Json& arguments);

Status CheckNoArguments(const Json& arguments);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_TOOL_DEFINITIONS_H_
