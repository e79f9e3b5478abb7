// McpService: what all clients of one MCP server share: the runtime, the tools, the room for sessions and
// calls. Thread-safe. Outlives its clients.
#ifndef GLOVEPORT_CORE_SERVE_MCP_SERVICE_H_
#define GLOVEPORT_CORE_SERVE_MCP_SERVICE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "gloveport/core/host/run_threads.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/mcp/server_options.h"
#include "gloveport/policy/redaction.h"
#include "gloveport/policy/tool_rules.h"

namespace gloveport {

// A part of what there is only so much of, given back when it goes.
class Share {
 public:
  Share() = default;
  // Empty where `most` are taken.
  static Share Take(std::atomic<std::size_t>& taken, std::size_t most);
  Share(Share&& other) noexcept : taken_(std::exchange(other.taken_, nullptr)) {}
  Share& operator=(Share&& other) noexcept {
    std::swap(taken_, other.taken_);
    return *this;
  }
  ~Share() {
    if (taken_ != nullptr) --*taken_;
  }
  explicit operator bool() const { return taken_ != nullptr; }

 private:
  explicit Share(std::atomic<std::size_t>* taken) : taken_(taken) {}
  std::atomic<std::size_t>* taken_ = nullptr;
};

class McpService {
 public:
  // `runtime` must outlive it. kInvalidArgument for a policy that cannot be compiled.
  static Result<std::unique_ptr<McpService>> Create(Runtime& runtime, McpServerOptions options);

  Runtime& runtime() { return runtime_; }
  const McpServerOptions& options() const { return options_; }
  const McpServerLimits& limits() const { return options_.limits; }
  const Json& tool_definitions() const { return tool_definitions_; }
  const Redactor& redactor() const { return redactor_; }
  RunThreads& threads() { return threads_; }

  Share TakeSession() { return Share::Take(sessions_, options_.limits.max_sessions); }
  Share TakeCall() { return Share::Take(calls_, options_.limits.max_calls); }

  // The tools that exist for the code of a session that is opened now: those that the policy hides are left
  // out.
  Result<std::vector<ToolSpec>> VisibleTools() const;

 private:
  McpService(Runtime& runtime, McpServerOptions options, Redactor redactor, ToolGate gate);

  Runtime& runtime_;
  const McpServerOptions options_;
  const Redactor redactor_;
  const ToolGate gate_;
  const Json tool_definitions_;
  std::atomic<std::size_t> sessions_{0};
  std::atomic<std::size_t> calls_{0};
  RunThreads threads_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_SERVICE_H_
