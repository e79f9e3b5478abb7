#include "gloveport/policy/tool_rules_codec.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "gloveport/policy/constraint.h"
#include "gloveport/policy/lexical_path.h"
#include "gloveport/policy/policy_names.h"
#include "gloveport/policy/url_host.h"

namespace gloveport {
namespace {

using Node = JsonNode;
using std::literals::string_view_literals::operator""sv;

constexpr std::size_t kMaxRules = 10'000;

class ToolRulesDecoder {
 public:
  ToolRulesDecoder(const JsonFields& fields, std::vector<PolicyWarning>* warnings)
      : fields_(fields), warnings_(warnings) {}

  Status Decode(const Node& node, ToolRules& rules) {
    std::vector<ToolRule> own;
    RETURN_IF_ERROR(fields_.Object(
        node, "tools",
        {{"default", [&](const Node& n) { return ReadEffect(n, "tools.default", rules.default_effect); }},
         {"rules", [&](const Node& n) { return Rules(n, own); }}}));
    own.insert(own.end(), rules.rules.begin(), rules.rules.end());
    rules.rules = std::move(own);
    return {};
  }

 private:
  Status ReadEffect(const Node& node, std::string_view what, Effect& out) {
    static constexpr std::array kWords = {"allow"sv, "ask"sv, "deny"sv};
    static constexpr std::array kEffects = {Effect::kAllow, Effect::kAsk, Effect::kDeny};
    ASSIGN_OR_RETURN(const std::size_t word, fields_.Word(node, what, kWords));
    out = kEffects[word];
    return {};
  }

  Status Rules(const Node& node, std::vector<ToolRule>& rules) {
    if (node.items.size() > kMaxRules) {
      return fields_.Fault(node.at, fmt::format("tools.rules has more than {} rules", kMaxRules));
    }
    return fields_.List(node, "tools.rules", [&](const Node& item) -> Status {
      ToolRule rule;
      RETURN_IF_ERROR(Rule(item, rule));
      WarnIfContradictory(item, rule);
      WarnIfUnreachable(item, rule, rules);
      rules.push_back(std::move(rule));
      return {};
    });
  }

  Status Rule(const Node& node, ToolRule& rule) {
    RETURN_IF_ERROR(
        fields_.Object(node, "a tool rule",
                       {{"tool", [&](const Node& n) { return Tool(n, rule.tool); }},
                        {"effect", [&](const Node& n) { return ReadEffect(n, "effect", rule.effect); }},
                        {"where", [&](const Node& n) { return Where(n, rule); }}}));
    for (const std::string_view key : {"tool"sv, "effect"sv}) {
      if (node.Find(key) != nullptr) continue;
      return fields_.Fault(
          node.at, fmt::format("this tool rule has no \"{}\"", key),
          "a rule is {\"tool\": NAME or \"*\", \"effect\": \"allow\", \"ask\" or \"deny\"}, and \"where\" "
          "for demands on arguments");
    }
    return {};
  }

  Status Tool(const Node& node, std::string& out) {
    RETURN_IF_ERROR(fields_.Text(node, "tool", out));
    if (out == "*" || IsIdentifier(out)) return {};
    return fields_.Fault(node.at, fmt::format("{} is no name of a tool", QuoteJson(out)),
                         "write one tool's name, or \"*\" for every tool");
  }

  Status Where(const Node& node, ToolRule& rule) {
    RETURN_IF_ERROR(fields_.Expect(node, Node::Kind::kObject, "where"));
    for (const JsonMember& member : node.members) {
      if (!IsIdentifier(member.key)) {
        return fields_.Fault(member.at, fmt::format("{} is no name of a parameter", QuoteJson(member.key)));
      }
      RETURN_IF_ERROR(Constrain(member.value, rule.where[member.key]));
    }
    return {};
  }

  Status Constrain(const Node& node, ArgumentConstraint& out) {
    RETURN_IF_ERROR(
        fields_.Object(node, "a constraint on an argument",
                       {{"matches", [&](const Node& n) { return Pattern(n, out); }},
                        {"one_of", [&](const Node& n) { return OneOf(n, out); }},
                        {"minimum", [&](const Node& n) { return Bound(n, "minimum", out.minimum); }},
                        {"maximum", [&](const Node& n) { return Bound(n, "maximum", out.maximum); }},
                        {"path_prefix", [&](const Node& n) { return PathPrefix(n, out); }},
                        {"hosts", [&](const Node& n) { return Hosts(n, out); }}}));
    if (node.members.empty()) {
      return fields_.Fault(
          node.at, "this constraint demands nothing",
          "use matches, one_of, minimum, maximum, path_prefix or hosts, or leave the parameter out");
    }
    if (out.minimum && out.maximum && *out.minimum > *out.maximum) {
      return fields_.Fault(node.at, "minimum is more than maximum: this can never match");
    }
    return {};
  }

  Status Pattern(const Node& node, ArgumentConstraint& out) {
    RETURN_IF_ERROR(fields_.Text(node, "matches", out.matches.emplace()));
    if (const Status checked = CheckPattern(*out.matches); !checked) {
      return fields_.Fault(node.at, checked.error().message, checked.error().hint);
    }
    return {};
  }

  Status OneOf(const Node& node, ArgumentConstraint& out) {
    out.one_of.emplace();
    RETURN_IF_ERROR(fields_.List(node, "one_of", [&](const Node& item) -> Status {
      if (item.kind == Node::Kind::kArray || item.kind == Node::Kind::kObject) {
        return fields_.Fault(item.at, "one_of holds texts, numbers, true, false and null only");
      }
      out.one_of->push_back(CanonicalScalar(item));
      return {};
    }));
    if (!node.items.empty()) return {};
    return fields_.Fault(node.at, "one_of is empty: this can never match");
  }

  static std::string CanonicalScalar(const Node& node) {
    if (node.kind == Node::Kind::kText) return QuoteJson(node.text);
    if (node.kind == Node::Kind::kBool) return node.boolean ? "true" : "false";
    if (node.kind == Node::Kind::kNull) return "null";
    return node.is_integer() && node.text != "-0" ? node.text : CanonicalNumber(node.number);
  }

  Status Bound(const Node& node, std::string_view what, std::optional<double>& out) {
    return fields_.Number(node, what, out.emplace());
  }

  Status PathPrefix(const Node& node, ArgumentConstraint& out) {
    RETURN_IF_ERROR(fields_.Text(node, "path_prefix", out.path_prefix.emplace()));
    auto normal = NormalPath(*out.path_prefix);
    if (!normal) {
      return fields_.Fault(node.at, fmt::format("{} is no path to begin with", QuoteJson(*out.path_prefix)));
    }
    out.path_prefix = std::move(normal);
    return {};
  }

  Status Hosts(const Node& node, ArgumentConstraint& out) {
    out.hosts.emplace();
    RETURN_IF_ERROR(fields_.List(node, "hosts", [&](const Node& item) { return Host(item, *out.hosts); }));
    if (!node.items.empty()) return {};
    return fields_.Fault(node.at, "hosts is empty: this can never match");
  }

  Status Host(const Node& item, std::vector<std::string>& out) {
    RETURN_IF_ERROR(fields_.Expect(item, Node::Kind::kText, "each entry of hosts"));
    auto normal = NormalHostPattern(item.text);
    if (!normal) {
      return fields_.Fault(item.at, fmt::format("{} is no host name", QuoteJson(item.text)),
                           "write a host such as \"example.org\", or \"*.example.org\" for all below it, "
                           "without scheme and port");
    }
    out.push_back(std::move(*normal));
    return {};
  }

  // An `allow` rule that demands the impossible of an argument is never the one that matches. (An `ask` or
  // `deny` rule still matches what cannot be judged.)
  void WarnIfContradictory(const Node& node, const ToolRule& rule) {
    if (warnings_ == nullptr || rule.effect != Effect::kAllow) return;
    for (const auto& [parameter, constraint] : rule.where) {
      const std::string why = WhyImpossible(constraint);
      if (why.empty()) continue;
      const Node* where = node.Find("where")->Find(parameter);
      warnings_->push_back({where->at.line, where->at.column,
                            fmt::format("this rule for {} can never match: {}", QuoteJson(rule.tool), why)});
    }
  }

  static std::string WhyImpossible(const ArgumentConstraint& constraint) {
    const bool of_text = constraint.matches || constraint.path_prefix || constraint.hosts;
    if (of_text && (constraint.minimum || constraint.maximum)) {
      return "no argument is a text and a number at once";
    }
    if (!constraint.one_of) return "";
    ArgumentConstraint rest = constraint;
    rest.one_of.reset();
    const auto judge = Constraint::Compile(rest);
    if (!judge) return "";
    for (const std::string& scalar : *constraint.one_of) {
      if (judge->Judge(ArgumentOf(scalar)) == Judgement::kHolds) return "";
    }
    return "none of one_of meets the other demands";
  }

  // The argument that an entry of one_of, a JSON text, stands for.
  static PolicyArgument ArgumentOf(const std::string& scalar) {
    const auto node = ReadJson(scalar, "one_of");
    if (!node) return {PolicyArgument::Opaque{}};
    if (node->kind == Node::Kind::kText) return {node->text};
    if (node->kind == Node::Kind::kNumber) return {node->number};
    if (node->kind == Node::Kind::kBool) return {node->boolean};
    return {};
  }

  void WarnIfUnreachable(const Node& node, const ToolRule& rule, const std::vector<ToolRule>& earlier) {
    if (warnings_ == nullptr) return;
    for (std::size_t i = 0; i < earlier.size(); ++i) {
      if (earlier[i].tool != "*" && earlier[i].tool != rule.tool) continue;
      if (!earlier[i].where.empty() && earlier[i].where != rule.where) continue;
      if (!earlier[i].where.empty() && earlier[i].effect == Effect::kAllow && rule.effect != Effect::kAllow)
        continue;
      warnings_->push_back({node.at.line, node.at.column,
                            fmt::format("this rule for {} can never match: rule {} matches whatever it would",
                                        QuoteJson(rule.tool), i + 1)});
      return;
    }
  }

  const JsonFields& fields_;
  std::vector<PolicyWarning>* warnings_;
};

}  // namespace

Status ReadToolRules(const JsonNode& node, const JsonFields& fields, ToolRules& rules,
                     std::vector<PolicyWarning>* warnings) {
  return ToolRulesDecoder(fields, warnings).Decode(node, rules);
}

}  // namespace gloveport
