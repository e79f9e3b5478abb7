// Claude Code's permissions: rules "Tool" or "Tool(specifier)"; deny is looked at first, then ask, then
// allow, and the first that matches decides. What none matches is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gloveport/policy/permission_patterns.h"
#include "gloveport/policy/policy_import.h"
#include "gloveport/policy/policy_names.h"
#include "gloveport/policy/url_host.h"

namespace gloveport {
namespace {

using std::literals::string_view_literals::operator""sv;

struct Target {
  std::string_view tool;
  std::string_view parameter;
};
// Whom a rule about a file is for. Rules that allow are for the tool that they name.
constexpr std::array kReaders = {Target{"Read", "file_path"}, Target{"Grep", "path"}, Target{"Glob", "path"}};
constexpr std::array kEditors = {Target{"Edit", "file_path"}, Target{"Write", "file_path"},
                                 Target{"MultiEdit", "file_path"}, Target{"NotebookEdit", "notebook_path"}};

std::string ConstraintJson(const ArgumentConstraint& constraint) {
  std::vector<std::string> members;
  if (constraint.matches) members.push_back(fmt::format("\"matches\": {}", QuoteJson(*constraint.matches)));
  if (constraint.path_prefix)
    members.push_back(fmt::format("\"path_prefix\": {}", QuoteJson(*constraint.path_prefix)));
  if (constraint.hosts) {
    std::vector<std::string> hosts;
    for (const std::string& host : *constraint.hosts) hosts.push_back(QuoteJson(host));
    members.push_back(fmt::format("\"hosts\": [{}]", fmt::join(hosts, ", ")));
  }
  return members.empty() ? "" : fmt::format("{{{}}}", fmt::join(members, ", "));
}

class PermissionsImport {
 public:
  PermissionsImport(std::string_view origin, const ImportOptions& options, PolicyDraft& draft)
      : origin_(origin), options_(options), draft_(draft) {}

  Status Import(const JsonNode& node) {
    if (node.kind != JsonNode::Kind::kObject)
      return JsonFault(origin_, node.at, "permissions must be an object");
    draft_.default_effect = "ask";
    ReadMode(node);
    FindClosedServers(node);
    for (const Effect effect : {Effect::kDeny, Effect::kAsk, Effect::kAllow}) {
      const JsonNode* list = node.Find(EffectName(effect));
      if (list == nullptr) continue;
      if (list->kind != JsonNode::Kind::kArray)
        return JsonFault(origin_, list->at, fmt::format("{} must be a list", EffectName(effect)));
      for (const JsonNode& item : list->items) {
        if (item.kind != JsonNode::Kind::kText)
          return JsonFault(origin_, item.at, "a permission must be a string");
        Rule(item, effect);
      }
    }
    for (const JsonMember& member : node.members) {
      static constexpr std::array kTaken = {"allow"sv, "ask"sv, "deny"sv, "defaultMode"sv};
      if (std::find(kTaken.begin(), kTaken.end(), member.key) != kTaken.end()) continue;
      draft_.Note(member.at, ImportOutcome::kLeftOut,
                  fmt::format("permissions.{} has no counterpart in a policy", member.key));
    }
    return {};
  }

 private:
  void ReadMode(const JsonNode& node) {
    const JsonNode* mode = node.Find("defaultMode");
    if (mode == nullptr || mode->text == "default") return;
    if (mode->text == "dontAsk" || mode->text == "plan") {
      draft_.default_effect = "deny";
      draft_.Note(mode->at, ImportOutcome::kStricter,
                  fmt::format("{}: what no rule names is denied", QuoteJson(mode->text)));
      return;
    }
    draft_.Note(mode->at, ImportOutcome::kStricter,
                fmt::format("{}: what no rule names is asked for", QuoteJson(mode->text)));
  }

  // "mcp__server" in deny or ask stands for tools that cannot be listed: they are left to the default.
  void FindClosedServers(const JsonNode& node) {
    for (const std::string_view key : {"deny"sv, "ask"sv}) {
      const JsonNode* list = node.Find(key);
      if (list == nullptr) continue;
      for (const JsonNode& item : list->items) {
        if (const auto server = ServerOf(item.text)) {
          closed_.push_back(*server);
          if (key == "deny") draft_.default_effect = "deny";
        }
      }
    }
  }

  // "server" for "mcp__server" and "mcp__server__*"; "" for "mcp__*".
  static std::optional<std::string> ServerOf(std::string_view rule) {
    if (!rule.starts_with("mcp__")) return std::nullopt;
    rule.remove_prefix(5);
    if (rule.ends_with("__*")) return std::string(rule.substr(0, rule.size() - 3));
    if (rule.ends_with("*")) return "";  // whatever begins so: every server may be meant
    return rule.find("__") == std::string_view::npos ? std::optional(std::string(rule)) : std::nullopt;
  }

  bool IsClosed(std::string_view tool) const {
    return std::any_of(closed_.begin(), closed_.end(), [tool](const std::string& server) {
      return server.empty() ? tool.starts_with("mcp__") : tool.starts_with("mcp__" + server + "__");
    });
  }

  void Rule(const JsonNode& item, Effect effect) {
    const std::string_view text = item.text;
    const std::size_t open = text.find('(');
    const bool has_specifier = open != std::string_view::npos && text.ends_with(')');
    const std::string_view tool = has_specifier ? text.substr(0, open) : text;
    if (ServerOf(text)) return Server(item, effect);
    if (tool != "*" && !IsIdentifier(tool)) return Nameless(item, effect);
    if (effect == Effect::kAllow && IsClosed(tool)) {
      return Leave(item, "its server is in deny or ask, which this policy leaves to its default");
    }
    if (!has_specifier) return Whole(item, tool, effect);
    Specified(item, tool, text.substr(open + 1, text.size() - open - 2), effect);
  }

  void Specified(const JsonNode& item, std::string_view tool, std::string_view specifier, Effect effect) {
    if (tool == "Bash") {
      const Target target{"Bash", "command"};
      return Constrained(item, {&target, 1}, TranslateCommand(specifier, effect), effect);
    }
    if (tool == "WebFetch" && specifier.starts_with("domain:"))
      return Domain(item, specifier.substr(7), effect);
    if (tool == "Read") return Path(item, kReaders, specifier, effect);
    if (tool == "Edit") return Path(item, kEditors, specifier, effect);
    for (const Target& target : kEditors) {
      if (tool != target.tool) continue;
      if (effect == Effect::kAllow) {
        return draft_.Note(
            item.at, ImportOutcome::kIgnored,
            fmt::format("{}: paths are looked up under Edit only, there too", QuoteJson(item.text)));
      }
      return Constrained(item, {&target, 1}, TranslatePath(specifier, effect, options_.root), effect);
    }
    Widened(item, tool, "what it says of the arguments cannot be said", effect);
  }

  void Path(const JsonNode& item, std::span<const Target> targets, std::string_view pattern, Effect effect) {
    if (effect == Effect::kAllow) targets = targets.first(1);
    Constrained(item, targets, TranslatePath(pattern, effect, options_.root), effect);
  }

  void Domain(const JsonNode& item, std::string_view domain, Effect effect) {
    auto host = NormalHostPattern(domain);
    TranslatedPattern translated;
    if (host) {
      translated.constraint.emplace().hosts = {std::move(*host)};
    } else {
      translated.note = "this is no host";
    }
    const Target target{"WebFetch", "url"};
    Constrained(item, {&target, 1}, translated, effect);
  }

  void Constrained(const JsonNode& item, std::span<const Target> targets, const TranslatedPattern& translated,
                   Effect effect) {
    if (!translated.constraint) {
      for (const Target& target : targets) Widened(item, target.tool, translated.note, effect);
      return;
    }
    const std::string constraint = ConstraintJson(*translated.constraint);
    for (const Target& target : targets) {
      const std::string where = constraint.empty() ? ""
                                                   : fmt::format(", \"where\": {{{}: {}}}",
                                                                 QuoteJson(target.parameter), constraint);
      Add(item, target.tool, effect, where);
    }
    if (!translated.note.empty()) {
      draft_.Note(item.at, ImportOutcome::kStricter,
                  fmt::format("{}: {}", QuoteJson(item.text), translated.note));
    }
  }

  void Whole(const JsonNode& item, std::string_view tool, Effect effect) {
    if (tool == "Read" || tool == "Edit") {
      const std::span<const Target> targets = tool == "Read" ? std::span<const Target>(kReaders) : kEditors;
      for (const Target& target : targets.first(effect == Effect::kAllow ? 1 : targets.size())) {
        Add(item, target.tool, effect, "");
      }
      return;
    }
    if (tool == "*" && effect == Effect::kAllow) return Leave(item, "allowing every tool is not taken over");
    Add(item, tool, effect, "");
  }

  // What is narrower than can be said: the whole tool is asked for or denied, or nothing of it is allowed.
  void Widened(const JsonNode& item, std::string_view tool, std::string_view why, Effect effect) {
    if (effect == Effect::kAllow) return Leave(item, why);
    Add(item, tool, effect, "");
    draft_.Note(item.at, ImportOutcome::kStricter,
                fmt::format("{}: {}, so it is every call of {}", QuoteJson(item.text), why, tool));
  }

  void Server(const JsonNode& item, Effect effect) {
    if (effect == Effect::kAllow) return Leave(item, "a policy names single tools, not those of a server");
    draft_.Note(
        item.at, ImportOutcome::kStricter,
        fmt::format("{}: a policy names single tools, so {} is the default for all that no rule names",
                    QuoteJson(item.text), draft_.default_effect));
  }

  void Nameless(const JsonNode& item, Effect effect) {
    if (effect == Effect::kAllow) return Leave(item, "this cannot be the name of a tool here");
    // A tool of that name does not exist here; what it might be called instead meets the default at best.
    if (effect == Effect::kDeny) draft_.default_effect = "deny";
    draft_.Note(
        item.at, ImportOutcome::kStricter,
        fmt::format("{}: this cannot be the name of a tool here; {} is the default for all that no rule "
                    "names",
                    QuoteJson(item.text), draft_.default_effect));
  }

  void Leave(const JsonNode& item, std::string_view why) {
    draft_.Note(item.at, ImportOutcome::kLeftOut, fmt::format("{}: {}", QuoteJson(item.text), why));
  }

  void Add(const JsonNode& item, std::string_view tool, Effect effect, const std::string& where) {
    draft_.rules.push_back({fmt::format("{{\"tool\": {}, \"effect\": {}{}}}", QuoteJson(tool),
                                        QuoteJson(EffectName(effect)), where),
                            fmt::format("line {}: {}", item.at.line, QuoteJson(item.text))});
  }

  std::string_view origin_;
  const ImportOptions& options_;
  PolicyDraft& draft_;
  std::vector<std::string> closed_;
};

}  // namespace

Status ImportPermissions(const JsonNode& permissions, std::string_view origin, const ImportOptions& options,
                         PolicyDraft& draft) {
  return PermissionsImport(origin, options, draft).Import(permissions);
}

}  // namespace gloveport
