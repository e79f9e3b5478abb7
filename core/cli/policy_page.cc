#include "gloveport/core/cli/policy_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gloveport/policy/json_reader.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {
namespace {

using std::literals::string_view_literals::operator""sv;

constexpr std::size_t kLabelWidth = 22;
constexpr std::size_t kTextWidth = 52;

// Lines of at most `width` bytes, broken at blanks.
std::vector<std::string> Wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(word);
    at = end + 1;
  }
  return lines;
}

class Page {
 public:
  Page(const PolicySource& source, const Console& console) : source_(source), console_(console) {}

  void Heading(std::string_view title, std::string_view remark = "") {
    text_ += fmt::format("\n{}{}\n", console_.PaintData(title, Style::kHeading),
                         remark.empty() ? "" : "  " + console_.PaintData(remark, Style::kDim));
  }

  void Row(std::string_view label, std::string_view text, std::string_view from,
           Style style = Style::kPlain) {
    const std::string safe = Console::Safe(text);
    bool first = true;
    for (const std::string& line : Wrapped(safe, kTextWidth)) {
      const std::string shown_label = fmt::format("{:<{}}", first ? Console::Safe(label) : "", kLabelWidth);
      text_ += fmt::format("  {} {}", console_.PaintData(shown_label, style),
                           first ? fmt::format("{:<{}}", line, kTextWidth) : line);
      text_ += first ? "  " + console_.PaintData(Console::Safe(from), Style::kDim) + "\n" : "\n";
      first = false;
    }
  }

  // The entries of a list, together where they come from the same place: the file's lines, or the preset.
  void List(std::string_view label, const std::vector<std::string>& items, PolicySource::Path path,
            Style style = Style::kPlain) {
    std::vector<std::pair<std::string, std::string>> groups;  // where from, items
    for (const std::string& item : items) {
      std::string from = source_.OfItem(path, item);
      const std::string line = from.substr(0, from.rfind(':'));  // without the column
      if (line.find(':') != std::string::npos) from = line;
      if (groups.empty() || groups.back().first != from) {
        groups.emplace_back(std::move(from), item);
      } else {
        groups.back().second += ", " + item;
      }
    }
    for (const auto& [from, names] : groups) {
      Row(label, names, from, style);
      label = "";
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  const PolicySource& source_;
  const Console& console_;
  std::string text_;
};

std::string Seconds(std::chrono::milliseconds duration) {
  return fmt::format("{:g} s", static_cast<double>(duration.count()) / 1000);
}

std::string ConstraintText(const ArgumentConstraint& constraint) {
  std::vector<std::string> parts;
  if (constraint.matches) parts.push_back(fmt::format("matches {}", QuoteJson(*constraint.matches)));
  if (constraint.one_of) parts.push_back(fmt::format("is one of {}", fmt::join(*constraint.one_of, ", ")));
  if (constraint.minimum) parts.push_back(fmt::format("is at least {:g}", *constraint.minimum));
  if (constraint.maximum) parts.push_back(fmt::format("is at most {:g}", *constraint.maximum));
  if (constraint.path_prefix) parts.push_back(fmt::format("is at or below {}", *constraint.path_prefix));
  if (constraint.hosts) parts.push_back(fmt::format("has the host {}", fmt::join(*constraint.hosts, " or ")));
  return fmt::format("{}", fmt::join(parts, " and "));
}

void Imports(const Policy& policy, Page& page) {
  page.Heading("Imports", "deny beats ask beats allow; what is not named is denied");
  page.List("deny", policy.imports.deny, {"imports", "deny"}, StyleOf(Effect::kDeny));
  page.List("ask", policy.imports.ask, {"imports", "ask"}, StyleOf(Effect::kAsk));
  page.List("allow", policy.imports.allow, {"imports", "allow"}, StyleOf(Effect::kAllow));
  if (policy.imports.allow.empty()) page.Row("allow", "nothing", "built in");
}

void Names(const Policy& policy, const PolicySource& source, Page& page) {
  page.Heading("Builtins and attributes", "what leads out of ordinary code is refused before the run");
  page.List("builtins allowed", policy.builtins.allow, {"builtins", "allow"});
  if (policy.builtins.allow.empty()) page.Row("builtins allowed", "not eval, exec, compile", "built in");
  page.List("attributes allowed", policy.attributes.allow, {"attributes", "allow"});
  page.List("attributes denied", policy.attributes.deny, {"attributes", "deny"}, StyleOf(Effect::kDeny));
  page.Row("inspection",
           policy.inspection == Inspection::kRequired ? "required: every cell is judged"
                                                      : "optional: a client may go without",
           source.Of({"inspection"}));
}

void Tools(const Policy& policy, const PolicySource& source, Page& page) {
  page.Heading("Tools", "the first rule that matches decides");
  for (std::size_t i = 0; i < policy.tools.rules.size(); ++i) {
    const ToolRule& rule = policy.tools.rules[i];
    page.Row(fmt::format("{}. {}", i + 1, EffectName(rule.effect)), ToolRuleText(rule), source.OfToolRule(i),
             StyleOf(rule.effect));
  }
  const bool some = !policy.tools.rules.empty();
  page.Row(fmt::format("{}{}", some ? "else " : "", EffectName(policy.tools.default_effect)),
           some ? "every other call" : "every call", source.Of({"tools", "default"}),
           StyleOf(policy.tools.default_effect));
}

void Cost(const Policy& policy, const PolicySource& source, Page& page) {
  const CostRules& cost = policy.cost;
  if (cost.prices.empty() && !cost.escalate_above && !cost.deny_above) return;
  page.Heading("Cost", "estimated from a cell's text before it runs");
  for (const auto& [tool, price] : cost.prices) {
    std::string text = fmt::format("{:g} a call", price.per_call);
    if (price.per_kib > 0) text += fmt::format(", {:g} a KiB of constant arguments", price.per_kib);
    page.Row(tool == "*" ? "every other tool" : tool, text, source.Of({"cost", "prices", tool}));
  }
  if (cost.escalate_above) {
    page.Row("ask above", fmt::format("{:g}", *cost.escalate_above), source.Of({"cost", "escalate_above"}),
             StyleOf(Effect::kAsk));
  }
  if (cost.deny_above) {
    page.Row("deny above", fmt::format("{:g}", *cost.deny_above), source.Of({"cost", "deny_above"}),
             StyleOf(Effect::kDeny));
  }
}

void LimitRows(const Policy& policy, const PolicySource& source, Page& page) {
  const Limits& limits = policy.limits;
  page.Heading("Limits", "of a cell");
  const auto row = [&](std::string_view label, std::string text, std::string_view key) {
    page.Row(label, text, source.Of({"limits", key}));
  };
  row("wall time", Seconds(limits.wall), "wall_s");
  row("CPU time", Seconds(limits.cpu), "cpu_s");
  row("memory", fmt::format("{} MiB more than at the start", limits.memory_mib), "memory_mib");
  row("output kept", fmt::format("{} KiB of each stream", limits.output_kib), "output_kib");
  row("open files", fmt::format("{}", limits.open_files), "open_files");
  row("threads", fmt::format("{}", limits.threads), "threads");
  row("files written", fmt::format("{} MiB", limits.disk_mib), "disk_mib");
  row("tool calls", fmt::format("{}", limits.tool_calls), "tool_calls");
  row("tool calls a second", fmt::format("{}", limits.tool_calls_per_s), "tool_calls_per_s");
  row("one tool call", fmt::format("{} KiB of arguments, of result", limits.tool_call_kib), "tool_call_kib");
  row("result", fmt::format("{} MiB of the host's memory", limits.result_mib), "result_mib");
  row("approval", fmt::format("{} for a person's decision", Seconds(limits.approval)), "approval_s");
  page.Heading("Limits", "of a whole session");
  row("CPU time", Seconds(limits.total_cpu), "total_cpu_s");
  row("output", fmt::format("{} MiB", limits.total_output_mib), "total_output_mib");
  row("tool calls", fmt::format("{}", limits.total_tool_calls), "total_tool_calls");
  row("copies", fmt::format("{} at the same time", limits.copies), "copies");
}

void Surroundings(const Policy& policy, const PolicySource& source, Page& page) {
  static constexpr std::array kCheckpoints = {"auto: in the agent loop only"sv, "off"sv,
                                              "before each cell"sv};
  page.Heading("Files and surroundings");
  page.Row("work folder", "/workdir: read and write", "built in");
  page.List("read-only", policy.files.read, {"files", "read"});
  page.List("packages", policy.packages, {"packages"});
  page.List("preloaded", policy.preload, {"preload"});
  page.Row("network", "off", source.Of({"network"}));
  page.Row("checkpoints", kCheckpoints[static_cast<std::size_t>(policy.checkpoints)],
           source.Of({"checkpoint"}));
  const auto since_1970 = policy.clock.value_or(std::chrono::nanoseconds(0));
  page.Row("clock",
           policy.clock ? fmt::format("starts at {:.3f} s after 1970",
                                      std::chrono::duration<double>(since_1970).count())
                        : "real",
           source.Of({"clock"}));
  page.Row("random numbers", policy.seed ? fmt::format("from the seed {}", *policy.seed) : "not repeatable",
           source.Of({"seed"}));
  page.Row("layers required", fmt::format("{}", fmt::join(policy.required_layers, ", ")),
           source.Of({"layers", "require"}));
}

void Redactions(const Policy& policy, const PolicySource& source, Page& page) {
  page.Heading("Redacted", "in what reaches a log, a trace or a model");
  std::vector<std::string> names;
  for (const RedactionPattern& redaction : policy.redact) names.push_back(redaction.name);
  page.List("own patterns", names, {"redact"});
  std::string built_in = "nothing";
  if (policy.redact_secrets) {
    built_in.clear();
    for (const RedactionPattern& redaction : BuiltInRedactions())
      built_in += (built_in.empty() ? "" : ", ") + redaction.name;
  }
  page.Row("secrets", built_in, source.Of({"redact_secrets"}));
}

}  // namespace

Style StyleOf(Effect effect) {
  switch (effect) {
    case Effect::kAllow:
      return Style::kGood;
    case Effect::kAsk:
      return Style::kWarning;
    case Effect::kDeny:
      return Style::kBad;
  }
  return Style::kPlain;
}

std::string ToolRuleText(const ToolRule& rule) {
  std::string text = rule.tool == "*" ? "every tool" : rule.tool;
  std::string_view joint = " where ";
  for (const auto& [parameter, constraint] : rule.where) {
    text += fmt::format("{}{} {}", joint, parameter, ConstraintText(constraint));
    joint = " and ";
  }
  return text;
}

std::string PolicyPage(const Policy& policy, const PolicySource& source, const Console& console) {
  Page page(source, console);
  Imports(policy, page);
  Names(policy, source, page);
  Tools(policy, source, page);
  Cost(policy, source, page);
  LimitRows(policy, source, page);
  Surroundings(policy, source, page);
  Redactions(policy, source, page);
  return fmt::format("{}\n{}",
                     console.PaintData(fmt::format("Policy {}", Console::Safe(policy.name)), Style::kBold),
                     page.Take());
}

}  // namespace gloveport
