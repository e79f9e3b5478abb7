#include "gloveport/core/mcp/client.h"

#include <fmt/core.h>

#include <functional>
#include <set>
#include <thread>
#include <utility>

#include "gloveport/core/mcp/mcp_tool.h"
#include "gloveport/core/mcp/python_names.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxTold = 10'000;

// A tool that waits for its name.
struct Offer {
  ServerTool from;
  std::function<std::shared_ptr<Tool>(const std::string& name)> make;
};

void OfferTools(const McpClient::Server& server, const McpClientOptions& options,
                std::vector<Offer>& offers) {
  for (const McpToolInfo& tool : server.tools) {
    offers.push_back({{server.connection->name(), tool.name},
                      [&server, &tool, &options](const std::string& name) -> std::shared_ptr<Tool> {
                        return std::make_shared<McpTool>(server.connection, tool, name, options.validate,
                                                         options.connection.limits);
                      }});
  }
  if (!server.facts.resources) return;
  const std::string prefix = server.connection->name() + "_";
  offers.push_back(
      {{server.connection->name(), prefix + std::string(kListResourcesName)},
       [&server](const std::string& name) { return MakeListResources(server.connection, name); }});
  offers.push_back(
      {{server.connection->name(), prefix + std::string(kReadResourceName)},
       [&server](const std::string& name) { return MakeReadResource(server.connection, name); }});
}

}  // namespace

Status McpClient::Fill(Server& server) {
  ASSIGN_OR_RETURN(server.facts, server.connection->Connect());
  ASSIGN_OR_RETURN(server.tools, server.connection->ListTools());
  return {};
}

Result<std::unique_ptr<McpClient>> McpClient::Connect(std::vector<McpServerConfig> configs,
                                                      McpClientOptions options) {
  std::vector<Server> servers;
  std::set<std::string> names;
  for (McpServerConfig& config : configs) {
    if (!names.insert(config.name).second)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("there are two MCP servers named {}", config.name));
    servers.push_back({std::make_shared<McpConnection>(std::move(config), options.connection), {}, {}});
  }
  std::vector<Status> filled(servers.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < servers.size(); ++i)
      threads.emplace_back([&, i] { filled[i] = Fill(servers[i]); });
  }
  for (const Status& status : filled) RETURN_IF_ERROR(status);
  return std::unique_ptr<McpClient>(new McpClient(std::move(options), std::move(servers)));
}

void McpClient::Refresh(std::vector<std::string>& notes) {
  for (Server& server : servers_) {
    if (!server.connection->tools_changed()) continue;
    auto tools = server.connection->ListTools();
    if (tools) {
      server.tools = std::move(*tools);
    } else {
      notes.push_back("the list of tools could not be read again: " + tools.error().message);
    }
  }
}

Result<McpTools> McpClient::WithTools(const ToolRegistry* own) {
  const std::lock_guard lock(mutex_);
  McpTools result;
  Refresh(result.notes);
  auto registry = std::make_shared<ToolRegistry>();
  std::set<std::string> taken;
  if (own != nullptr) {
    for (const auto& tool : own->tools()) {
      RETURN_IF_ERROR(registry->Add(tool));
      taken.insert(tool->spec().name);
    }
  }
  std::vector<Offer> offers;
  for (const Server& server : servers_) OfferTools(server, options_, offers);
  std::vector<ServerTool> origins;
  for (const Offer& offer : offers) origins.push_back(offer.from);
  ChosenNames chosen = ChooseNames(origins, taken);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const Status added = registry->Add(offers[i].make(chosen.names[i]));
    if (!added) result.notes.push_back("a tool was not taken: " + added.error().message);
  }
  std::move(chosen.notes.begin(), chosen.notes.end(), std::back_inserter(result.notes));
  std::erase_if(result.notes, [this](const std::string& note) { return !told_.insert(note).second; });
  if (told_.size() > kMaxTold) told_.clear();
  result.registry = std::move(registry);
  return result;
}

std::vector<McpClient::Server> McpClient::servers() const {
  const std::lock_guard lock(mutex_);
  return servers_;
}

}  // namespace gloveport
