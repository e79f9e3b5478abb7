// McpLimits: how much of an MCP peer is taken in. Whatever a peer sends is hostile; a breach ends the
// message, or the connection where nothing that follows could be trusted. A plain value.
#ifndef GLOVEPORT_CORE_MCP_LIMITS_H_
#define GLOVEPORT_CORE_MCP_LIMITS_H_

#include <cstddef>

namespace gloveport {

struct McpLimits {
  // Of each JSON-RPC message.
  std::size_t max_message_bytes = 16u << 20;
  std::size_t max_depth = 64;
  std::size_t max_items = 500'000;  // values and members
  std::size_t max_batch = 100;      // messages of one batch (revision 2025-03-26)
  // What is no message, or answers nothing that was asked, is skipped; beyond so many the peer is given up.
  std::size_t max_bad_messages = 100;
  std::size_t max_in_flight = 256;  // requests that wait for answers

  // Of a server's lists.
  std::size_t max_tools = 1000;
  std::size_t max_pages = 100;
  std::size_t max_parameters = 64;  // of one tool; those of a tool with more come as **arguments
  std::size_t max_schema_bytes = 64u << 10;
  std::size_t max_description_bytes = 4096;
  std::size_t max_error_bytes = 8192;  // of an error's text
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_LIMITS_H_
