#include "gloveport/core/cli/agents_option.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/model/factory.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/presets.h"
#include "gloveport/tools/builtin/config_object.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxFileBytes = 1u << 20;
constexpr std::size_t kMaxAgents = 50;

// A preset's name, or a file beside this one.
Result<Policy> PolicyNamed(const std::string& name, const std::filesystem::path& folder) {
  if (auto preset = PresetPolicy(name)) return std::move(*preset);
  return LoadPolicy((folder / name).string());
}

// A true or false that may be absent.
Status Flag(ConfigObject& object, std::string_view name, bool& out) {
  const Json* given = object.Take(name);
  if (given == nullptr) return {};
  if (!given->is_boolean())
    return Fail(ErrorCode::kInvalidArgument, object.PlaceOf(name) + " must be true or false");
  out = given->get<bool>();
  return {};
}

Result<NamedAgent> ReadAgent(const std::string& name, const Json& json, const Policy& policy,
                             const std::filesystem::path& folder) {
  NamedAgent agent;
  AgentToolOptions& options = agent.options;
  ASSIGN_OR_RETURN(ConfigObject object, ConfigObject::Of(json, name));
  options.name = name;
  RETURN_IF_ERROR(object.Text("description", options.description));
  if (options.description.empty())
    return Fail(ErrorCode::kInvalidArgument, object.PlaceOf("description") + " is missing",
                "say what the agent is good at: the model that may call it reads that");
  std::string model;
  std::string policy_name;
  RETURN_IF_ERROR(object.Text("model", model));
  RETURN_IF_ERROR(object.Text("policy", policy_name));
  RETURN_IF_ERROR(object.Texts("tools", agent.tools));
  RETURN_IF_ERROR(object.Text("instructions", options.agent.instructions));
  RETURN_IF_ERROR(object.Count("max_steps", options.agent.max_steps));
  std::chrono::milliseconds timeout{0};
  RETURN_IF_ERROR(object.Seconds("timeout_s", timeout));
  if (timeout.count() > 0) options.agent.timeout = timeout;
  if (const Json* schema = object.Take("schema")) options.agent.schema = FromPlainJson(*schema);
  RETURN_IF_ERROR(Flag(object, "async", options.is_async));
  RETURN_IF_ERROR(object.Finish());
  options.session.policy = policy;
  if (!policy_name.empty()) {
    ASSIGN_OR_RETURN(options.session.policy,
                     AtOption(object.PlaceOf("policy"), PolicyNamed(policy_name, folder)));
  }
  if (!model.empty()) {
    ASSIGN_OR_RETURN(agent.model, AtOption(object.PlaceOf("model"), MakeModel(model)));
  }
  return agent;
}

Result<std::vector<NamedAgent>> ReadFileOfAgents(const std::string& file, const Policy& policy) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxFileBytes));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, {.allow_comments = true}));
  if (!json.is_object())
    return Fail(ErrorCode::kInvalidArgument, "the file must hold one object: the agents by their names");
  if (json.size() > kMaxAgents)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("there are more than {} agents", kMaxAgents));
  std::vector<NamedAgent> agents;
  for (const auto& [name, each] : json.items()) {
    ASSIGN_OR_RETURN(NamedAgent agent,
                     ReadAgent(name, each, policy, std::filesystem::path(file).parent_path()));
    agents.push_back(std::move(agent));
  }
  return agents;
}

Result<std::shared_ptr<const ToolRegistry>> ToolsOf(const NamedAgent& agent, const ToolRegistry* all) {
  auto tools = std::make_shared<ToolRegistry>();
  for (const std::string& name : agent.tools) {
    const auto tool = all != nullptr ? all->Find(name) : nullptr;
    if (!tool) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}.tools: the run has no tool {}", agent.options.name, name),
                  "an agent gets tools that --tools, --builtin or --mcp give to the run");
    }
    RETURN_IF_ERROR(tools->Add(tool));
  }
  return tools;
}

}  // namespace

const char* const kAgentsHelp =
    "File with agents that code can call as tools: {NAME: {\"description\", \"model\"?, \"policy\"?,\n"
    "\"tools\"?, \"instructions\"?, \"max_steps\"?, \"timeout_s\"?, \"schema\"?, \"async\"?}}";

Result<std::vector<NamedAgent>> ReadAgents(const std::string& file, const Policy& policy) {
  auto agents = AtOption("--agents " + file, ReadFileOfAgents(file, policy));
  if (!agents) agents.error().code = ErrorCode::kInvalidArgument;  // however the command was called
  return agents;
}

Result<std::shared_ptr<const ToolRegistry>> AddAgents(const std::vector<NamedAgent>& agents,
                                                      const AgentCaller& caller) {
  const auto& own = caller.session.tools;
  auto all = std::make_shared<ToolRegistry>();
  if (own) RETURN_IF_ERROR(all->AddAll(*own));
  for (const NamedAgent& agent : agents) {
    AgentToolOptions options = agent.options;
    ASSIGN_OR_RETURN(options.session.tools, AtOption("--agents", ToolsOf(agent, own.get())));
    if (options.agent.schema) {
      // Any value does: what counts is whether the schema is one.
      const std::string place = "--agents: " + options.name + ".schema";
      RETURN_IF_ERROR(AtOption(place, caller.runtime.Validate(Value(), *options.agent.schema)));
    }
    options.session.approver = caller.session.approver;
    options.agent.budget = caller.options.budget;
    options.agent.cost_of = caller.options.cost_of;
    options.agent.currency = caller.options.currency;
    options.agent.check = caller.options.check;
    options.agent.output = caller.options.output;
    if (caller.listen) {
      options.on_call = [listen = caller.listen, name = options.name](const CallContext& call) {
        return listen(name, call);
      };
    }
    Model& model = agent.model ? *agent.model : caller.model;
    RETURN_IF_ERROR(AtOption(
        "--agents", all->Add(std::make_shared<AgentTool>(caller.runtime, model, std::move(options)))));
  }
  return all;
}

}  // namespace gloveport
