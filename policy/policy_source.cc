#include "gloveport/policy/policy_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/lexical_path.h"
#include "gloveport/policy/presets.h"
#include "gloveport/policy/suggest.h"

namespace gloveport {
namespace {

const JsonNode* FindPath(const JsonNode& root, PolicySource::Path path) {
  const JsonNode* node = &root;
  for (const std::string_view key : path) {
    node = node->Find(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

// The codec normalises paths, so an entry may be written in another way than it is in the policy.
const JsonNode* FindItem(const JsonNode& root, PolicySource::Path list, std::string_view item) {
  const JsonNode* node = FindPath(root, list);
  if (node == nullptr) return nullptr;
  for (const JsonNode& entry : node->items) {
    if (entry.text == item || (item.starts_with('/') && NormalPath(entry.text) == item)) return &entry;
    if (const JsonNode* name = entry.Find("name"); name != nullptr && name->text == item) return &entry;
  }
  return nullptr;
}

std::vector<std::string_view> NamesOf(const std::vector<KnownTool>& tools) {
  std::vector<std::string_view> names;
  for (const KnownTool& tool : tools) names.push_back(tool.name);
  return names;
}

std::string Offered(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string_view near = Nearest(name, names);
  if (!near.empty()) return fmt::format("did you mean {}?", QuoteJson(near));
  return names.empty() ? "there is none" : fmt::format("there is: {}", fmt::join(names, ", "));
}

void WarnOfParameters(const JsonNode& where, const KnownTool& tool, std::vector<PolicyWarning>& warnings) {
  if (!tool.parameters) return;
  const std::vector<std::string_view> known(tool.parameters->begin(), tool.parameters->end());
  for (const JsonMember& member : where.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    warnings.push_back(
        {member.at.line, member.at.column,
         fmt::format("the tool {} has no parameter {}, so this rule can never match; {}",
                     QuoteJson(tool.name), QuoteJson(member.key), Offered(member.key, known))});
  }
}

}  // namespace

Result<PolicySource> PolicySource::OfText(std::string_view text, std::string name) {
  PolicySource source;
  source.text_ = text;
  ASSIGN_OR_RETURN(source.own_, ReadJson(text, name));
  source.name_ = std::move(name);
  const JsonNode* extends = source.own_.Find("extends");
  if (extends == nullptr) return source;
  const auto base = PresetText(extends->text);
  if (!base) return source;
  source.base_name_ = extends->text;
  ASSIGN_OR_RETURN(source.base_, ReadJson(*base, extends->text));
  return source;
}

Result<PolicySource> PolicySource::Load(std::string_view name_or_path) {
  if (const auto preset = PresetText(name_or_path)) {
    ASSIGN_OR_RETURN(PolicySource source, OfText(*preset, fmt::format("preset {}", name_or_path)));
    source.is_preset_ = true;
    return source;
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(std::string(name_or_path), kMaxPolicyBytes));
  return OfText(text, std::string(name_or_path));
}

std::string PolicySource::Place(const JsonNode& node) const {
  if (is_preset_) return name_;
  return fmt::format("{}:{}:{}", name_, node.at.line, node.at.column);
}

std::string PolicySource::Of(Path key) const {
  if (const JsonNode* node = FindPath(own_, key)) return Place(*node);
  if (FindPath(base_, key) != nullptr) return fmt::format("preset {}", base_name_);
  return "built in";
}

std::string PolicySource::OfItem(Path list, std::string_view item) const {
  if (const JsonNode* node = FindItem(own_, list, item)) return Place(*node);
  if (FindItem(base_, list, item) != nullptr) return fmt::format("preset {}", base_name_);
  return "built in";
}

std::string PolicySource::OfToolRule(std::size_t index) const {
  const JsonNode* rules = FindPath(own_, {"tools", "rules"});
  if (rules != nullptr && index < rules->items.size()) return Place(rules->items[index]);
  return base_name_.empty() ? "built in" : fmt::format("preset {}", base_name_);
}

std::vector<PolicyWarning> PolicySource::UnknownTools(const std::vector<KnownTool>& tools) const {
  std::vector<PolicyWarning> warnings;
  const std::vector<std::string_view> names = NamesOf(tools);
  const auto check = [&](const std::string& name, JsonPosition at, const JsonNode* where) {
    if (name == "*") return;
    const auto tool = std::find_if(tools.begin(), tools.end(),
                                   [&name](const KnownTool& known) { return known.name == name; });
    if (tool == tools.end()) {
      warnings.push_back({at.line, at.column,
                          fmt::format("there is no tool {}; {}", QuoteJson(name), Offered(name, names))});
    } else if (where != nullptr) {
      WarnOfParameters(*where, *tool, warnings);
    }
  };
  if (const JsonNode* rules = FindPath(own_, {"tools", "rules"})) {
    for (const JsonNode& rule : rules->items) {
      if (const JsonNode* tool = rule.Find("tool")) check(tool->text, tool->at, rule.Find("where"));
    }
  }
  if (const JsonNode* prices = FindPath(own_, {"cost", "prices"})) {
    for (const JsonMember& price : prices->members) check(price.key, price.at, nullptr);
  }
  return warnings;
}

}  // namespace gloveport
