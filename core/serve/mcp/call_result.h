// Results of `tools/call`: what a cell brought, as content for models and as structured content that fits the
// tool's output schema. Pure.
#ifndef GLOVEPORT_CORE_SERVE_MCP_CALL_RESULT_H_
#define GLOVEPORT_CORE_SERVE_MCP_CALL_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/host/outcome.h"
#include "gloveport/core/serve/mcp/server_options.h"
#include "gloveport/policy/redaction.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// {"content", "structuredContent", "isError"} of execute_python. `session` is empty where it was reset or
// ended meanwhile. Each cell that did not end with `ok` is an error. What the redactor finds is taken out; a
// value that has such a thing is told by its repr alone.
Json CellCallResult(const CellResult& result, std::string_view code, std::string_view session,
                    const McpServerLimits& limits, const Redactor& redactor = {});

// Nothing was run. `session` is the handle where there is one that can be used again.
Json NotRunResult(const Error& error, std::optional<std::string_view> session);

// Of reset_session. `session` is empty where it was ended.
Json ResetResult(std::optional<std::string_view> session, std::size_t open_sessions);

Json ToolListResult(const std::vector<ToolSpec>& tools);

// An error that is told to the model, of a tool without fields for it.
Json ErrorResult(const Error& error);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_CALL_RESULT_H_
