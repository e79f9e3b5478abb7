// Tools of sessions that an MCP server carries out. Thread-safe, as every Tool.
#ifndef GLOVEPORT_CORE_MCP_MCP_TOOL_H_
#define GLOVEPORT_CORE_MCP_MCP_TOOL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/mcp/connection.h"
#include "gloveport/core/mcp/tool_result.h"
#include "gloveport/core/mcp/tool_signature.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// A tool that the server lists.
class McpTool : public Tool {
 public:
  McpTool(std::shared_ptr<McpConnection> connection, McpToolInfo info, std::string_view python_name,
          SchemaValidator validate, const McpLimits& limits);

  const ToolSpec& spec() const override { return signature_.spec; }
  Result<Value> Call(const Arguments& arguments, CallContext& context) override;

 private:
  const std::shared_ptr<McpConnection> connection_;
  const McpToolInfo info_;
  const McpSignature signature_;
  const SchemaValidator validate_;
  const McpLimits limits_;
};

// Of a server with resources: what there is, and the content of one.
inline constexpr std::string_view kListResourcesName = "list_resources";
inline constexpr std::string_view kReadResourceName = "read_resource";
std::shared_ptr<Tool> MakeListResources(std::shared_ptr<McpConnection> connection,
                                        std::string_view python_name);
std::shared_ptr<Tool> MakeReadResource(std::shared_ptr<McpConnection> connection,
                                       std::string_view python_name);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_MCP_TOOL_H_
