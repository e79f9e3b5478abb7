// McpSignature: a tool of an MCP server as a Python function, and the way of its arguments back. Pure.
#ifndef GLOVEPORT_CORE_MCP_TOOL_SIGNATURE_H_
#define GLOVEPORT_CORE_MCP_TOOL_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/mcp/tool_list.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct McpSignature {
  struct Sent {
    std::string python;      // name of the parameter
    std::string original;    // as the server calls it
    bool omit_none = false;  // optional without a default: None means that it is not sent
  };

  ToolSpec spec;
  std::vector<Sent> sent;  // one for each plain parameter
  std::string rest;        // the parameter that takes all further keywords; empty: none
};

// Required parameters first, then those with the defaults that the schema names, and None for the others.
// Where the schema says nothing of parameters but takes some, all are taken by keyword (**arguments).
McpSignature MakeSignature(const McpToolInfo& tool, std::string_view python_name, const McpLimits& limits);

// What `tools/call` sends. kInvalidArgument for values that JSON has no form for. Dates, decimals, UUIDs and
// paths go as text, bytes as base64, tuples and sets as lists, dataclasses as objects.
Result<Json> ArgumentsJson(const McpSignature& signature, const Arguments& arguments);

// The same for one value; `place` is for messages: "argument 'when'".
Result<Json> PlainJsonOf(const Value& value, const std::string& place);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_TOOL_SIGNATURE_H_
