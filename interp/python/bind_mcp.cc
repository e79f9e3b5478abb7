#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/mcp/client.h"
#include "gloveport/core/net/proxy.h"
#include "gloveport/interp/python/bindings.h"
#include "gloveport/interp/python/python_tool.h"

namespace gloveport::python {
namespace {

// By the runtime, as long as there is one: tools must not keep it alive, for they belong to its sessions.
SchemaValidator ValidatorOf(const std::shared_ptr<BoundRuntime>& runtime) {
  return [weak = std::weak_ptr<BoundRuntime>(runtime)](
             const Value& value, const Value& schema) -> Result<std::vector<std::string>> {
    const auto held = weak.lock();
    if (!held) return Fail(ErrorCode::kClosed, "the runtime is closed");
    ASSIGN_OR_RETURN(const auto errors, held->get().Validate(value, schema));
    std::vector<std::string> problems;
    for (const SchemaError& error : errors)
      problems.push_back(error.path.empty() ? error.message : error.path + ": " + error.message);
    return problems;
  };
}

std::vector<McpServerConfig> Servers(const std::string& config, const std::vector<std::string>& servers) {
  std::vector<McpServerConfig> all;
  if (!config.empty())
    all = Unwrap(ParseMcpConfig(config, ProcessEnvironment()), "reading a list of MCP servers");
  for (const std::string& server : servers)
    all.push_back(Unwrap(ParseMcpServer(server), "naming an MCP server", server));
  return all;
}

// (capsules, notes): the tools of all servers, which run for as long as one of them is there.
py::tuple McpToolCapsules(const std::shared_ptr<BoundRuntime>& runtime, const std::string& config,
                          const std::vector<std::string>& servers, double start_s) {
  McpClientOptions options;
  options.connection.client.version = GLOVEPORT_VERSION;
  options.connection.start_time = std::chrono::milliseconds(std::llround(start_s * 1000));
  options.connection.http.proxies = ProxyRules::FromEnvironment(ProcessEnvironment());
  options.connection.http.ca_file = ProcessEnvironment()("SSL_CERT_FILE").value_or("");
  options.validate = ValidatorOf(runtime);
  auto all = Servers(config, servers);
  auto tools = Released([&]() -> Result<McpTools> {
    ASSIGN_OR_RETURN(const auto client, McpClient::Connect(std::move(all), std::move(options)));
    return client->WithTools(nullptr);
  });
  const McpTools found = Unwrap(std::move(tools), "connecting to MCP servers");
  py::list capsules;
  for (const std::shared_ptr<Tool>& tool : found.registry->tools()) capsules.append(CapsuleOf(tool));
  return py::make_tuple(capsules, found.notes);
}

}  // namespace

void BindMcp(py::module_& module) {
  module.def("mcp_tools", &McpToolCapsules, py::arg("runtime"), py::arg("config"), py::arg("servers"),
             py::arg("start_s"));
}

}  // namespace gloveport::python
