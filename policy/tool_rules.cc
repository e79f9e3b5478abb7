#include "gloveport/policy/tool_rules.h"

#include <fmt/format.h>

#include <utility>

#include "gloveport/policy/json_reader.h"

namespace gloveport {
namespace {

bool Names(std::string_view rule_tool, std::string_view tool) {
  return rule_tool == "*" || rule_tool == tool;
}

}  // namespace

Result<ToolGate> ToolGate::Compile(const ToolRules& rules) {
  ToolGate gate;
  gate.default_effect_ = rules.default_effect;
  for (const ToolRule& rule : rules.rules) {
    CompiledRule compiled{rule.tool, rule.effect, {}};
    for (const auto& [parameter, constraint] : rule.where) {
      ASSIGN_OR_RETURN(Constraint judge, Constraint::Compile(constraint));
      compiled.where.emplace(parameter, std::move(judge));
    }
    gate.rules_.push_back(std::move(compiled));
  }
  return gate;
}

bool ToolGate::Matches(const CompiledRule& rule, const ArgumentLookup& argument) {
  for (const auto& [parameter, constraint] : rule.where) {
    const auto bound = argument(parameter);
    if (!bound) return false;
    const Judgement judgement = constraint.Judge(*bound);
    if (judgement == Judgement::kFails) return false;
    if (judgement == Judgement::kUnknown && rule.effect == Effect::kAllow) return false;
  }
  return true;
}

ToolDecision ToolGate::Decide(std::string_view tool, const ArgumentLookup& argument) const {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const CompiledRule& rule = rules_[i];
    if (!Names(rule.tool, tool) || !Matches(rule, argument)) continue;
    std::string where;
    for (const auto& [parameter, constraint] : rule.where) {
      where += fmt::format("{}{}", where.empty() ? " where " : " and ", QuoteJson(parameter));
    }
    return {rule.effect, i,
            fmt::format("tool rule {} ({} {}{})", i + 1, EffectName(rule.effect), rule.tool, where)};
  }
  return {default_effect_, std::nullopt,
          fmt::format("no tool rule matches {} and the default is {}", tool, EffectName(default_effect_))};
}

bool ToolGate::IsHidden(std::string_view tool) const {
  for (const CompiledRule& rule : rules_) {
    if (!Names(rule.tool, tool)) continue;
    if (rule.effect != Effect::kDeny) return false;
    if (rule.where.empty()) return true;
  }
  return default_effect_ == Effect::kDeny;
}

}  // namespace gloveport
