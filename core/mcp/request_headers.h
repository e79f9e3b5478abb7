// Header fields that mirror a request over HTTP since 2026-07-28. Pure.
#ifndef GLOVEPORT_CORE_MCP_REQUEST_HEADERS_H_
#define GLOVEPORT_CORE_MCP_REQUEST_HEADERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/mcp/tool_list.h"
#include "gloveport/core/net/http_message.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// `value` itself, or "=?base64?...?=" where it could not stand in a header field.
std::string HeaderText(std::string_view value);
// The way back; nothing for a marked text that is not what HeaderText writes.
std::optional<std::string> FromHeaderText(std::string_view text);

// Mcp-Method, and Mcp-Name where `name` is not empty.
HttpHeaders MirrorHeaders(std::string_view method, std::string_view name);

// Mcp-Param-... for the annotated arguments that are there.
HttpHeaders ArgumentHeaders(const std::vector<McpHeaderParameter>& parameters, const Json& arguments);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_REQUEST_HEADERS_H_
