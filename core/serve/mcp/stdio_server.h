// The MCP server over standard input and output (`gloveport mcp`): one client, a line of JSON each way.
#ifndef GLOVEPORT_CORE_SERVE_MCP_STDIO_SERVER_H_
#define GLOVEPORT_CORE_SERVE_MCP_STDIO_SERVER_H_

#include <chrono>

#include "gloveport/core/serve/mcp/service.h"

namespace gloveport {

struct McpStdioOptions {
  int input_fd = 0;  // borrowed, as are the others
  int output_fd = 1;
  int stop_fd =
      -1;  // an eventfd; readable: as if the input had ended. -1: none. Written where the output breaks
  // How long calls may go on after the input has ended, while somebody still reads the output.
  std::chrono::milliseconds linger{1'000};
};

// Serves until the input ends or the reader of the output goes away; then all sessions have been closed. What
// is no message is answered with an error and does not end it. SIGPIPE must be ignored by the program. kIo
// when the input cannot be read.
Status ServeMcpStdio(McpService& service, const McpStdioOptions& options = {});

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_STDIO_SERVER_H_
