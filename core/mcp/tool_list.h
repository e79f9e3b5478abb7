// What an MCP server says of its tools: read with limits, cleaned, nothing believed. Pure.
#ifndef GLOVEPORT_CORE_MCP_TOOL_LIST_H_
#define GLOVEPORT_CORE_MCP_TOOL_LIST_H_

#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// A parameter that goes into a header field besides (x-mcp-header, over HTTP since 2026-07-28).
struct McpHeaderParameter {
  std::string name;               // the part behind "Mcp-Param-"
  std::vector<std::string> path;  // through objects, from the arguments
};

struct McpToolInfo {
  std::string name;                   // as the server calls it
  std::string description;            // cleaned and cut; the title where there is no description
  Json input_schema;                  // an object
  std::optional<Json> output_schema;  // an object
  std::vector<McpHeaderParameter> headers;
};

struct McpToolPage {
  std::vector<McpToolInfo> tools;
  std::string next_cursor;            // empty: the last page
  std::vector<std::string> rejected;  // "NAME: why", cleaned
};

// The result of one `tools/list`. What is no tool is rejected, the others stay.
McpToolPage ParseToolPage(const Json& result, const McpLimits& limits);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_TOOL_LIST_H_
