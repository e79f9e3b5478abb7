// What `tools/call` and `resources/read` brought, as values of a session. Pure.
//
//   the server says                      the cell gets
//   isError                              an exception with the text
//   structuredContent, with an           that, checked against the schema; images beside it are shown
//   output schema
//   one text, or several                 str, joined with line ends
//   an image                             an image (bytes with a MIME type that show themselves when
//   displayed) sound, an embedded resource, a link  dict with "type" and what belongs to it; binary data as
//   bytes several things of different kinds    a list of them, in order nothing None
#ifndef GLOVEPORT_CORE_MCP_TOOL_RESULT_H_
#define GLOVEPORT_CORE_MCP_TOOL_RESULT_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/mcp/tool_list.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

// What is wrong with a value by a JSON Schema, one line each; empty: it fits. An error where the schema is
// none.
using SchemaValidator =
    std::function<Result<std::vector<std::string>>(const Value& value, const Value& schema)>;

// An error whose text is the server's for `isError` (kIo); kProtocol for a result that is none, or does not
// fit its schema. The validator is asked about schemas that CheckPlainly cannot judge; without one those are
// not checked.
Result<Value> ToolResultValue(const Json& result, const McpToolInfo& tool, const SchemaValidator& validate,
                              const McpLimits& limits);

// The images of a result: MIME type and bytes. What is none is left out.
std::vector<std::pair<std::string, Value>> ImagesOf(const Json& result);

// Of `resources/read`: the text or the bytes of one resource, a list of dicts for several.
Result<Value> ResourceValue(const Json& result);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_TOOL_RESULT_H_
