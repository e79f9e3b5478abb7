// What an MCP server serves, and how much of it. Plain values.
#ifndef GLOVEPORT_CORE_SERVE_MCP_SERVER_OPTIONS_H_
#define GLOVEPORT_CORE_SERVE_MCP_SERVER_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "gloveport/core/agent/observation.h"
#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/policy/policy.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

struct McpServerLimits {
  McpLimits messages;
  std::size_t max_sessions = 64;  // of Python, of all clients
  std::size_t max_sessions_per_client = 8;
  std::size_t max_calls = 64;  // that run or wait, of all clients
  std::size_t max_calls_per_client = 16;
  std::size_t max_subscriptions_per_client = 4;
  std::size_t max_progress = 10'000;            // notifications of one call; later ones are left out
  std::size_t max_value_bytes = 256u << 10;     // of a value as JSON; beyond it is told by its repr alone
  std::size_t max_image_bytes = 8u << 20;       // of all images of a call, as they are
  std::size_t max_structured_text = 64u << 10;  // of stdout, stderr, repr, ..., each
  ObservationLimits text = {20'000, 5'000, 10'000, 4'000, 4'000, 10};  // of what a model reads
  std::chrono::milliseconds idle_timeout{30 * 60'000};                 // of a session that nobody uses
  std::chrono::milliseconds parked_time{60'000};  // that a result waits for a client that was asked something
};

struct McpServerOptions {
  McpImplementation server{"gloveport", "0"};
  Policy policy;
  // The tools of a session that is being opened. Called on several threads. Empty: none.
  std::function<Result<std::shared_ptr<const ToolRegistry>>()> tools;
  McpServerLimits limits;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_SERVER_OPTIONS_H_
