#include "gloveport/core/cli/policy_tools.h"

#include <fmt/format.h>

#include <set>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/json_fields.h"
#include "gloveport/policy/json_reader.h"

namespace gloveport {
namespace {

// A text, or the "name" of an object.
Result<std::string> NameOf(const JsonNode& node, std::string_view what, std::string_view file) {
  const JsonNode* name = node.kind == JsonNode::Kind::kObject ? node.Find("name") : &node;
  if (name != nullptr && name->kind == JsonNode::Kind::kText && !name->text.empty()) return name->text;
  return JsonFault(file, node.at, fmt::format("{} must be a name, or an object with \"name\"", what));
}

Result<KnownTool> ReadTool(const JsonNode& node, std::string_view file) {
  KnownTool tool;
  ASSIGN_OR_RETURN(tool.name, NameOf(node, "a tool", file));
  const JsonNode* parameters = node.Find("parameters");
  if (parameters == nullptr) return tool;
  if (parameters->kind != JsonNode::Kind::kArray) {
    return JsonFault(file, parameters->at, "\"parameters\" must be a list");
  }
  tool.parameters.emplace();
  for (const JsonNode& parameter : parameters->items) {
    ASSIGN_OR_RETURN(std::string name, NameOf(parameter, "a parameter", file));
    tool.parameters->push_back(std::move(name));
  }
  return tool;
}

std::vector<KnownTool> ToolsOf(const Program& program) {
  std::vector<KnownTool> known;
  if (!program.tools) return known;
  for (const auto& tool : program.tools->tools()) {
    std::vector<std::string> parameters;
    for (const Parameter& parameter : tool->spec().parameters) parameters.push_back(parameter.name);
    known.push_back({tool->spec().name, std::move(parameters)});
  }
  return known;
}

}  // namespace

Result<std::vector<KnownTool>> LoadKnownTools(const Program& program, const std::string& file) {
  if (file.empty()) return ToolsOf(program);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxPolicyBytes));
  ASSIGN_OR_RETURN(const JsonNode root, ReadJson(text, file));
  if (root.kind != JsonNode::Kind::kArray) {
    return JsonFault(file, root.at, "tools are a list",
                     "write [\"search\", {\"name\": \"fetch\", \"parameters\": [\"url\"]}]");
  }
  std::vector<KnownTool> tools;
  for (const JsonNode& node : root.items) {
    ASSIGN_OR_RETURN(KnownTool tool, ReadTool(node, file));
    tools.push_back(std::move(tool));
  }
  return tools;
}

std::vector<std::string> ToolNames(const std::vector<KnownTool>& tools, const Policy& policy) {
  std::set<std::string> names;
  for (const KnownTool& tool : tools) names.insert(tool.name);
  for (const ToolRule& rule : policy.tools.rules) names.insert(rule.tool);
  for (const auto& [tool, price] : policy.cost.prices) names.insert(tool);
  names.erase("*");
  return {names.begin(), names.end()};
}

}  // namespace gloveport
