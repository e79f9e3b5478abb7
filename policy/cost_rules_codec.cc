#include "gloveport/policy/cost_rules_codec.h"

#include <fmt/format.h>

#include "gloveport/policy/policy_names.h"

namespace gloveport {
namespace {

using Node = JsonNode;

constexpr std::size_t kMaxPrices = 10'000;
constexpr double kMaxAmount = 1e15;

Status ReadAmount(const Node& node, const JsonFields& fields, std::string_view what, double& out) {
  RETURN_IF_ERROR(fields.Number(node, what, out));
  if (out >= 0 && out <= kMaxAmount) return {};
  return fields.Fault(node.at, fmt::format("{} must be a number from 0 to 1e15", what));
}

// A number is a price for each call.
Status ReadPrice(const Node& node, const JsonFields& fields, ToolPrice& price) {
  if (node.kind == Node::Kind::kNumber) return ReadAmount(node, fields, "a price", price.per_call);
  if (node.kind != Node::Kind::kObject) {
    return fields.Fault(node.at, "a price must be a number or an object",
                        "write 0.5, or {\"per_call\": 0.5, \"per_kib\": 0.1}");
  }
  return fields.Object(
      node, "a price",
      {{"per_call", [&](const Node& n) { return ReadAmount(n, fields, "per_call", price.per_call); }},
       {"per_kib", [&](const Node& n) { return ReadAmount(n, fields, "per_kib", price.per_kib); }}});
}

Status ReadPrices(const Node& node, const JsonFields& fields, CostRules& cost) {
  RETURN_IF_ERROR(fields.Expect(node, Node::Kind::kObject, "cost.prices"));
  if (node.members.size() > kMaxPrices) {
    return fields.Fault(node.at, fmt::format("cost.prices has more than {} entries", kMaxPrices));
  }
  for (const JsonMember& member : node.members) {
    if (member.key != "*" && !IsIdentifier(member.key)) {
      RETURN_IF_ERROR(fields.Keep(
          fields.Fault(member.at, fmt::format("{} is no name of a tool", QuoteJson(member.key)),
                       "write one tool's name, or \"*\" for every tool that has no price of its own")));
      continue;
    }
    ToolPrice price;
    RETURN_IF_ERROR(fields.Keep(ReadPrice(member.value, fields, price)));
    cost.prices[member.key] = price;
  }
  return {};
}

void WarnIfIdle(const Node& node, const CostRules& cost, std::vector<PolicyWarning>* warnings) {
  if (warnings == nullptr) return;
  const auto warn = [&](JsonPosition at, std::string message) {
    warnings->push_back({at.line, at.column, std::move(message)});
  };
  const bool has_limit = cost.escalate_above || cost.deny_above;
  if (cost.prices.empty() && has_limit) warn(node.at, "cost limits nothing: no tool has a price");
  if (!cost.prices.empty() && !has_limit) {
    warn(node.at, "prices limit nothing without escalate_above or deny_above");
  }
  const Node* escalate = node.Find("escalate_above");
  if (escalate != nullptr && cost.deny_above && *cost.escalate_above >= *cost.deny_above) {
    warn(escalate->at, "escalate_above has no effect: deny_above is not more than it");
  }
}

}  // namespace

Status ReadCostRules(const JsonNode& node, const JsonFields& fields, CostRules& cost,
                     std::vector<PolicyWarning>* warnings) {
  const auto threshold = [&fields](std::string_view what, std::optional<double>& out) {
    return [&fields, what, &out](const Node& n) { return ReadAmount(n, fields, what, out.emplace()); };
  };
  RETURN_IF_ERROR(fields.Object(node, "cost",
                                {{"escalate_above", threshold("escalate_above", cost.escalate_above)},
                                 {"deny_above", threshold("deny_above", cost.deny_above)},
                                 {"prices", [&](const Node& n) { return ReadPrices(n, fields, cost); }}}));
  WarnIfIdle(node, cost, warnings);
  return {};
}

}  // namespace gloveport
