// PolicyToJson: the canonical form, in which a template gets its policy and a record shows it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "gloveport/policy/codec.h"
#include "gloveport/policy/constraint.h"
#include "gloveport/policy/instant.h"
#include "gloveport/policy/json_reader.h"

namespace gloveport {
namespace {

using Members = std::vector<std::pair<std::string_view, std::string>>;

std::string Object(const Members& members) {
  std::string out;
  for (const auto& [key, value] : members)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", QuoteJson(key), value);
  return fmt::format("{{{}}}", out);
}

std::string Array(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string Texts(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  std::transform(texts.begin(), texts.end(), std::back_inserter(quoted), QuoteJson);
  return Array(quoted);
}

// Seconds with as many decimals as the milliseconds need.
std::string Seconds(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  std::string text = fmt::format("{}.{:03}", ms / 1000, ms % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string Constrained(const ArgumentConstraint& constraint) {
  Members members;
  if (constraint.matches) members.emplace_back("matches", QuoteJson(*constraint.matches));
  if (constraint.one_of) members.emplace_back("one_of", Array(*constraint.one_of));
  if (constraint.minimum) members.emplace_back("minimum", CanonicalNumber(*constraint.minimum));
  if (constraint.maximum) members.emplace_back("maximum", CanonicalNumber(*constraint.maximum));
  if (constraint.path_prefix) members.emplace_back("path_prefix", QuoteJson(*constraint.path_prefix));
  if (constraint.hosts) members.emplace_back("hosts", Texts(*constraint.hosts));
  return Object(members);
}

std::string Rule(const ToolRule& rule) {
  Members where;
  for (const auto& [parameter, constraint] : rule.where)
    where.emplace_back(parameter, Constrained(constraint));
  return Object({{"tool", QuoteJson(rule.tool)},
                 {"effect", QuoteJson(EffectName(rule.effect))},
                 {"where", Object(where)}});
}

std::string Tools(const ToolRules& tools) {
  std::vector<std::string> rules;
  std::transform(tools.rules.begin(), tools.rules.end(), std::back_inserter(rules), Rule);
  return Object({{"default", QuoteJson(EffectName(tools.default_effect))}, {"rules", Array(rules)}});
}

std::string Cost(const CostRules& cost) {
  Members members;
  if (cost.escalate_above) members.emplace_back("escalate_above", CanonicalNumber(*cost.escalate_above));
  if (cost.deny_above) members.emplace_back("deny_above", CanonicalNumber(*cost.deny_above));
  Members prices;
  for (const auto& [tool, price] : cost.prices) {
    prices.emplace_back(tool, Object({{"per_call", CanonicalNumber(price.per_call)},
                                      {"per_kib", CanonicalNumber(price.per_kib)}}));
  }
  members.emplace_back("prices", Object(prices));
  return Object(members);
}

std::string Redactions(const std::vector<RedactionPattern>& redactions) {
  std::vector<std::string> items;
  for (const RedactionPattern& redaction : redactions) {
    items.push_back(Object({{"name", QuoteJson(redaction.name)}, {"pattern", QuoteJson(redaction.pattern)}}));
  }
  return Array(items);
}

std::string_view CheckpointsName(Checkpoints checkpoints) {
  switch (checkpoints) {
    case Checkpoints::kAuto:
      return "auto";
    case Checkpoints::kOff:
      return "off";
    case Checkpoints::kEachCell:
      return "each_cell";
  }
  return "";
}

std::string_view SourceName(EvidenceSource source) {
  return source == EvidenceSource::kKernel ? "kernel" : "interpreter";
}

std::string LimitsText(const Limits& limits) {
  return Object({{"wall_s", Seconds(limits.wall)},
                 {"cpu_s", Seconds(limits.cpu)},
                 {"memory_mib", std::to_string(limits.memory_mib)},
                 {"output_kib", std::to_string(limits.output_kib)},
                 {"open_files", std::to_string(limits.open_files)},
                 {"threads", std::to_string(limits.threads)},
                 {"disk_mib", std::to_string(limits.disk_mib)},
                 {"tool_calls", std::to_string(limits.tool_calls)},
                 {"tool_calls_per_s", std::to_string(limits.tool_calls_per_s)},
                 {"tool_call_kib", std::to_string(limits.tool_call_kib)},
                 {"result_mib", std::to_string(limits.result_mib)},
                 {"total_cpu_s", Seconds(limits.total_cpu)},
                 {"total_output_mib", std::to_string(limits.total_output_mib)},
                 {"total_tool_calls", std::to_string(limits.total_tool_calls)},
                 {"copies", std::to_string(limits.copies)},
                 {"approval_s", Seconds(limits.approval)}});
}

}  // namespace

std::string PolicyToJson(const Policy& policy) {
  const ImportRules& imports = policy.imports;
  Members members = {
      {"name", QuoteJson(policy.name)},
      {"imports",
       Object({{"allow", Texts(imports.allow)}, {"deny", Texts(imports.deny)}, {"ask", Texts(imports.ask)}})},
      {"builtins", Object({{"allow", Texts(policy.builtins.allow)}})},
      {"attributes",
       Object({{"allow", Texts(policy.attributes.allow)}, {"deny", Texts(policy.attributes.deny)}})},
      {"tools", Tools(policy.tools)},
      {"cost", Cost(policy.cost)},
      {"limits", LimitsText(policy.limits)},
      {"files", Object({{"read", Texts(policy.files.read)}})},
      {"packages", Texts(policy.packages)},
      {"preload", Texts(policy.preload)},
      {"network", "\"off\""},
      {"inspection", policy.inspection == Inspection::kRequired ? "\"required\"" : "\"optional\""},
      {"checkpoint", QuoteJson(CheckpointsName(policy.checkpoints))},
      {"redact", Redactions(policy.redact)},
      {"redact_secrets", policy.redact_secrets ? "true" : "false"},
      {"evidence", Object({{"opens", QuoteJson(SourceName(policy.evidence.opens))}})},
      {"clock", QuoteJson(policy.clock ? FormatInstant(*policy.clock) : "real")},
      {"layers", Object({{"require", Texts(policy.required_layers)}})}};
  if (policy.seed) members.emplace_back("seed", std::to_string(*policy.seed));
  return Object(members);
}

}  // namespace gloveport
