#include "gloveport/core/cli/tool_forecast.h"

#include <algorithm>
#include <map>
#include <utility>

#include "gloveport/core/host/policy_argument.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/constraint.h"

namespace gloveport {
namespace {

struct KnownArguments {
  std::map<std::string, std::optional<PolicyArgument>> by_name;  // absent value: known at run time only

  const KnownTool* tool = nullptr;
};

std::optional<PolicyArgument> ValueOf(const CodeArgument& argument) {
  if (!argument.json) return std::nullopt;
  const auto json = ParseJson(*argument.json);
  if (!json) return std::nullopt;
  return ToPolicyArgument(FromPlainJson(*json));
}

KnownArguments Named(const CodeUse& call, const KnownTool* tool) {
  KnownArguments arguments;
  arguments.tool = tool;
  const bool listed = tool != nullptr && tool->parameters.has_value();
  for (const CodeArgument& argument : call.arguments) {
    const auto position = static_cast<std::size_t>(std::max(0, argument.position));
    if (!argument.name.empty() && !argument.name.starts_with('*')) {
      arguments.by_name[argument.name] = ValueOf(argument);
    } else if (argument.name.empty() && listed && position < tool->parameters->size()) {
      arguments.by_name[(*tool->parameters)[position]] = ValueOf(argument);
    }  // else it may be any parameter: all that are not named count as unknown anyway
  }
  return arguments;
}

Judgement JudgeKnown(const Constraint& constraint, const PolicyArgument& argument, Effect effect) {
  const Judgement judgement = constraint.Judge(argument);
  if (judgement != Judgement::kUnknown) return judgement;
  return effect == Effect::kAllow ? Judgement::kFails : Judgement::kHolds;  // as ToolGate has it
}

// kFails: never matches; kHolds with `unknown` empty: always.
Result<Judgement> JudgeRule(const ToolRule& rule, const KnownArguments& arguments,
                            std::vector<std::string>& unknown) {
  for (const auto& [parameter, demanded] : rule.where) {
    const auto given = arguments.by_name.find(parameter);
    if (given == arguments.by_name.end() || !given->second) {
      const bool exists = arguments.tool == nullptr || !arguments.tool->parameters ||
                          std::find(arguments.tool->parameters->begin(), arguments.tool->parameters->end(),
                                    parameter) != arguments.tool->parameters->end();
      if (!exists) return Judgement::kFails;
      unknown.push_back(parameter);
      continue;
    }
    ASSIGN_OR_RETURN(const Constraint constraint, Constraint::Compile(demanded));
    if (JudgeKnown(constraint, *given->second, rule.effect) == Judgement::kFails) return Judgement::kFails;
  }
  return Judgement::kHolds;
}

}  // namespace

Result<ToolForecast> ForecastToolCall(const ToolRules& rules, const CodeUse& call, const KnownTool* tool) {
  const KnownArguments arguments = Named(call, tool);
  ToolForecast forecast;
  forecast.effect = rules.default_effect;
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    const ToolRule& rule = rules.rules[i];
    if (rule.tool != "*" && rule.tool != call.name) continue;
    std::vector<std::string> unknown;
    ASSIGN_OR_RETURN(const Judgement judgement, JudgeRule(rule, arguments, unknown));
    if (judgement == Judgement::kFails) continue;
    if (unknown.empty()) {
      forecast.rule = i;
      forecast.effect = rule.effect;
      break;
    }
    forecast.possible.push_back({i, std::move(unknown)});
  }
  return forecast;
}

}  // namespace gloveport
