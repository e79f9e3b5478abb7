#include "gloveport/core/cli/mcp_option.h"

#include <fmt/core.h>

#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/version.h"
#include "gloveport/core/net/proxy.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxConfigBytes = 1u << 20;

class ConsoleObserver : public McpObserver {
 public:
  explicit ConsoleObserver(Console& console) : console_(console) {}
  void OnNote(const std::string& server, const std::string& text) override {
    console_.Note(Console::Safe(fmt::format("mcp {}: {}", server, text)), Style::kWarning);
  }
  void OnLog(const std::string& server, const std::string& level, const std::string& text) override {
    console_.Note(Console::Safe(fmt::format("mcp {}: {}: {}", server, level, text)), Style::kDim);
  }

 private:
  Console& console_;
};

Result<std::vector<McpServerConfig>> ReadServers(const McpFlags& flags) {
  std::vector<McpServerConfig> servers;
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(const std::string text,
                     AtOption("--mcp-config", ReadFile(flags.config, kMaxConfigBytes)));
    auto parsed = ParseMcpConfig(text, ProcessEnvironment());
    if (!parsed)
      return Fail(parsed.error().code,
                  fmt::format("--mcp-config {}: {}", flags.config, parsed.error().message),
                  parsed.error().hint);
    servers = std::move(*parsed);
  }
  for (const std::string& text : flags.servers) {
    ASSIGN_OR_RETURN(McpServerConfig server, AtOption("--mcp", ParseMcpServer(text)));
    servers.push_back(std::move(server));
  }
  return servers;
}

SchemaValidator ValidatorOf(Runtime* runtime) {
  if (runtime == nullptr) return {};
  return [runtime](const Value& value, const Value& schema) -> Result<std::vector<std::string>> {
    ASSIGN_OR_RETURN(const auto errors, runtime->Validate(value, schema));
    std::vector<std::string> problems;
    for (const SchemaError& error : errors)
      problems.push_back(error.path.empty() ? error.message : error.path + ": " + error.message);
    return problems;
  };
}

}  // namespace

Result<std::shared_ptr<McpClient>> OpenMcp(const McpFlags& flags, Runtime* runtime,
                                           std::shared_ptr<Approver> approver, Console& console) {
  if (!flags.any()) return nullptr;
  ASSIGN_OR_RETURN(std::vector<McpServerConfig> servers, ReadServers(flags));
  const EnvLookup environment = ProcessEnvironment();
  McpClientOptions options;
  options.connection.client.version = kVersion;
  options.connection.approver = std::move(approver);
  options.connection.observer = std::make_shared<ConsoleObserver>(console);
  options.connection.http.proxies = ProxyRules::FromEnvironment(environment);
  options.connection.http.ca_file = environment("SSL_CERT_FILE").value_or("");
  options.validate = ValidatorOf(runtime);
  ASSIGN_OR_RETURN(auto client, McpClient::Connect(std::move(servers), std::move(options)));
  return std::shared_ptr<McpClient>(std::move(client));
}

Result<std::shared_ptr<const ToolRegistry>> AddMcpTools(const std::shared_ptr<McpClient>& client,
                                                        std::shared_ptr<const ToolRegistry> own,
                                                        Console& console) {
  if (!client) return own;
  ASSIGN_OR_RETURN(McpTools tools, client->WithTools(own.get()));
  for (const std::string& note : tools.notes) console.Note(Console::Safe("mcp: " + note), Style::kDim);
  return std::move(tools.registry);
}

std::string DescribeServers(const McpClient& client) {
  std::string text;
  for (const McpClient::Server& server : client.servers()) {
    text += fmt::format("{}{:<7} {}: {} {}, revision {}, {} tools", text.empty() ? "" : "\n", "MCP",
                        server.connection->name(), server.facts.server.name, server.facts.server.version,
                        server.facts.revision, server.tools.size());
  }
  return Console::Safe(text);
}

}  // namespace gloveport
