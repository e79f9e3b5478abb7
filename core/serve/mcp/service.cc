#include "gloveport/core/serve/mcp/service.h"

#include <algorithm>

#include "gloveport/core/serve/mcp/tool_definitions.h"

namespace gloveport {
namespace {

constexpr std::size_t kMoreThreads = 8;  // for resets and lists beside all calls

}  // namespace

Share Share::Take(std::atomic<std::size_t>& taken, std::size_t most) {
  std::size_t now = taken.load();
  while (now < most) {
    if (taken.compare_exchange_weak(now, now + 1)) return Share(&taken);
  }
  return {};
}

Result<std::unique_ptr<McpService>> McpService::Create(Runtime& runtime, McpServerOptions options) {
  ASSIGN_OR_RETURN(Redactor redactor, Redactor::Compile(options.policy));
  ASSIGN_OR_RETURN(ToolGate gate, ToolGate::Compile(options.policy.tools));
  return std::unique_ptr<McpService>(
      new McpService(runtime, std::move(options), std::move(redactor), std::move(gate)));
}

McpService::McpService(Runtime& runtime, McpServerOptions options, Redactor redactor, ToolGate gate)
    : runtime_(runtime),
      options_(std::move(options)),
      redactor_(std::move(redactor)),
      gate_(std::move(gate)),
      tool_definitions_(ToolDefinitions(options_)),
      threads_(options_.limits.max_calls + kMoreThreads) {}

Result<std::vector<ToolSpec>> McpService::VisibleTools() const {
  std::vector<ToolSpec> specs;
  if (!options_.tools) return specs;
  ASSIGN_OR_RETURN(const std::shared_ptr<const ToolRegistry> registry, options_.tools());
  if (!registry) return specs;
  for (const auto& tool : registry->tools()) {
    if (!gate_.IsHidden(tool->spec().name)) specs.push_back(tool->spec());
  }
  return specs;
}

}  // namespace gloveport
