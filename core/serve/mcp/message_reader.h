// One message of a client, or the error reply to what is none. Pure.
#ifndef GLOVEPORT_CORE_SERVE_MCP_MESSAGE_READER_H_
#define GLOVEPORT_CORE_SERVE_MCP_MESSAGE_READER_H_

#include <string_view>

#include "gloveport/core/serve/mcp/request_terms.h"

namespace gloveport {

// What is meant as an answer and is none becomes an error without a code: it is never replied to. A batch is
// refused, of whatever size: only revision 2025-03-26 has any.
tl::expected<RpcMessage, McpReply> ReadMcpMessage(std::string_view text, const McpLimits& limits);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_MESSAGE_READER_H_
