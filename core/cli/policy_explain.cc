// `gloveport policy explain`: a policy in words, or what it says of a piece of code and which rule says so.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/policy_command.h"
#include "gloveport/core/cli/policy_page.h"
#include "gloveport/core/cli/policy_tools.h"
#include "gloveport/core/cli/tool_forecast.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxCodeBytes = 16u << 20;

// One line of the page: what the code uses, what becomes of it, and why.
struct Decided {
  int line = 0;
  int column = 0;
  std::string effect;  // "allow", "ask", "deny", or "depends"
  Style style = Style::kPlain;
  std::string what;
  std::vector<std::string> why;
};

struct Question {
  Policy policy;
  PolicySource source;
  std::vector<KnownTool> tools;
  std::string code;
};

Decided DecidedBy(const CodeUse& use, Effect effect, std::string what, std::string why) {
  return {use.line,        use.column,      std::string(EffectName(effect)),
          StyleOf(effect), std::move(what), {std::move(why)}};
}

Decided OfImport(const CodeUse& use, const Question& question) {
  const ImportDecision decision = question.policy.imports.Decide(use.name);
  std::string why = "no entry of imports names it, and what is not named is denied";
  if (!decision.list.empty()) {
    why = fmt::format("imports.{} has \"{}\" ({})", decision.list, decision.entry,
                      question.source.OfItem({"imports", decision.list}, decision.entry));
  }
  return DecidedBy(use, decision.effect, "import " + use.name, std::move(why));
}

Decided OfName(const CodeUse& use, const Question& question) {
  const bool builtin = use.kind == "builtin";
  const std::vector<std::string>& allowed =
      builtin ? question.policy.builtins.allow : question.policy.attributes.allow;
  const std::string_view key = builtin ? "builtins" : "attributes";
  const std::string what = (builtin ? "builtin " : "attribute .") + use.name;
  if (std::find(allowed.begin(), allowed.end(), use.name) == allowed.end()) {
    return DecidedBy(use, Effect::kDeny, what, fmt::format("{}.allow does not name it", key));
  }
  return DecidedBy(use, Effect::kAllow, what,
                   fmt::format("{}.allow has \"{}\" ({})", key, use.name,
                               question.source.OfItem({key, "allow"}, use.name)));
}

std::string RuleReason(const Question& question, std::size_t index) {
  const ToolRule& rule = question.policy.tools.rules[index];
  return fmt::format("rule {} ({})", index + 1, question.source.OfToolRule(index)) +
         fmt::format(": {} {}", EffectName(rule.effect), ToolRuleText(rule));
}

std::string HowOften(const CodeUse& use) {
  std::string text = use.exact && use.count == 1
                         ? ""
                         : fmt::format("called {}{} time{}", use.exact ? "" : "at least ", use.count,
                                       use.count == 1 ? "" : "s");
  if (!use.exact && !use.notes.empty()) text += fmt::format(" (not told: {})", fmt::join(use.notes, ", "));
  if (use.amount > 0) text += fmt::format("{}cost {:g}", text.empty() ? "" : ", ", use.amount);
  return text;
}

Result<Decided> OfTool(const CodeUse& use, const Question& question) {
  const auto tool = std::find_if(question.tools.begin(), question.tools.end(),
                                 [&use](const KnownTool& known) { return known.name == use.name; });
  ASSIGN_OR_RETURN(
      const ToolForecast forecast,
      ForecastToolCall(question.policy.tools, use, tool == question.tools.end() ? nullptr : &*tool));
  Decided decided = DecidedBy(use, forecast.effect, "tool " + use.name, "");
  decided.why.clear();
  const std::string otherwise =
      forecast.rule ? RuleReason(question, *forecast.rule)
                    : fmt::format("tools.default ({}): {}", question.source.Of({"tools", "default"}),
                                  EffectName(forecast.effect));
  bool same = true;
  for (const auto& possible : forecast.possible) {
    same = same && question.policy.tools.rules[possible.rule].effect == forecast.effect;
    decided.why.push_back(fmt::format("{}, if {} {} so at run time", RuleReason(question, possible.rule),
                                      fmt::join(possible.unknown, " and "),
                                      possible.unknown.size() == 1 ? "is" : "are"));
  }
  decided.why.push_back((forecast.possible.empty() ? "" : "else ") + otherwise);
  if (!same) {
    decided.effect = "depends";
    decided.style = Style::kWarning;
  }
  if (const std::string often = HowOften(use); !often.empty()) decided.why.push_back(often);
  return decided;
}

Result<std::vector<Decided>> DecideAll(const Explanation& explanation, const Question& question) {
  std::vector<Decided> all;
  for (const CodeUse& use : explanation.uses) {
    if (use.kind == "import") {
      all.push_back(OfImport(use, question));
    } else if (use.kind == "tool") {
      ASSIGN_OR_RETURN(Decided decided, OfTool(use, question));
      all.push_back(std::move(decided));
    } else {
      all.push_back(OfName(use, question));
    }
  }
  return all;
}

// Which key of the policy a finding goes back to.
std::string_view KeyOf(std::string_view rule) {
  if (rule == "import") return "imports";
  if (rule == "builtin") return "builtins.allow";
  if (rule == "dunder" || rule == "attribute") return "attributes and imports";
  if (rule == "path") return "files.read, and the work folder";
  if (rule == "network") return "network, which is always off";
  if (rule == "pickle") return "imports, for the module pickle";
  if (rule == "cost") return "cost";
  if (rule == "dynamic-code") return "the rules for the code that is in the text";
  return "none: it is no Python";
}

std::string UseLines(const Decided& decided, const Console& console) {
  const std::string place = fmt::format("{}:{}", decided.line, decided.column);
  std::string text = fmt::format("  {:<8} {} {:<28} ", place,
                                 console.PaintData(fmt::format("{:<7}", decided.effect), decided.style),
                                 Console::Safe(decided.what));
  for (std::size_t i = 0; i < decided.why.size(); ++i) {
    text += fmt::format("{}{}\n", i == 0 ? "" : std::string(48, ' '), Console::Safe(decided.why[i]));
  }
  return text;
}

std::string FindingLines(const Finding& finding, const Console& console) {
  std::string text =
      fmt::format("  {:<8} {}  {}\n", fmt::format("{}:{}", finding.line, finding.column),
                  console.PaintData(fmt::format("[{}]", Console::Safe(finding.rule)), Style::kBold),
                  Console::Safe(finding.message));
  text += fmt::format("{:11}decided by: {}\n", "", KeyOf(finding.rule));
  if (!finding.hint.empty()) text += fmt::format("{:11}hint: {}\n", "", Console::Safe(finding.hint));
  return text;
}

Style StyleOf(Decision decision) {
  if (decision == Decision::kAllow) return Style::kGood;
  return decision == Decision::kDeny ? Style::kBad : Style::kWarning;
}

std::string_view VerdictText(Decision decision) {
  if (decision == Decision::kAllow) return "allow: the code runs";
  return decision == Decision::kDeny ? "deny: nothing of it runs"
                                     : "escalate: a person decides before it runs";
}

std::string ExplanationPage(const Explanation& explanation, const std::vector<Decided>& all,
                            const Console& console) {
  std::string page;
  if (!all.empty()) {
    page += console.PaintData("What it uses", Style::kHeading) + "\n";
    for (const Decided& decided : all) page += UseLines(decided, console);
    page += "\n";
  }
  if (!explanation.verdict.findings.empty()) {
    page += console.PaintData("What was found", Style::kHeading) + "\n";
    for (const Finding& finding : explanation.verdict.findings) page += FindingLines(finding, console);
    page += "\n";
  }
  return page + fmt::format("Verdict: {}\n", console.PaintData(VerdictText(explanation.verdict.decision),
                                                               StyleOf(explanation.verdict.decision)));
}

Json ExplanationJson(const Explanation& explanation, const std::vector<Decided>& all) {
  Json uses = Json::array();
  for (const Decided& decided : all) {
    uses.push_back({{"line", decided.line},
                    {"column", decided.column},
                    {"what", decided.what},
                    {"decision", decided.effect},
                    {"why", decided.why}});
  }
  return {{"verdict", ToJson(explanation.verdict)}, {"uses", std::move(uses)}};
}

Result<Question> Prepare(const Program& program, const PolicyOptions& options) {
  Question question;
  ASSIGN_OR_RETURN(question.policy, LoadPolicy(options.file));
  ASSIGN_OR_RETURN(question.source, PolicySource::Load(options.file));
  ASSIGN_OR_RETURN(question.tools, AtOption("--tools", LoadKnownTools(program, options.tools)));
  if (options.code) {
    question.code = *options.code;
  } else if (!options.code_file.empty()) {
    ASSIGN_OR_RETURN(question.code,
                     ReadFile(options.code_file == "-" ? "/dev/stdin" : options.code_file, kMaxCodeBytes));
  }
  return question;
}

Result<ExitCode> Explain(const Program& program, const PolicyOptions& options, Console& console) {
  ASSIGN_OR_RETURN(const Question question, Prepare(program, options));
  if (!options.code && options.code_file.empty()) {
    console.Data(options.json ? PolicyToJson(question.policy) + "\n"
                              : PolicyPage(question.policy, question.source, console));
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime, Runtime::Create({.min_ready = 0}));
  ASSIGN_OR_RETURN(
      const Explanation explanation,
      runtime->Explain(question.policy, question.code, ToolNames(question.tools, question.policy)));
  ASSIGN_OR_RETURN(const std::vector<Decided> all, DecideAll(explanation, question));
  console.Data(options.json ? DumpJson(ExplanationJson(explanation, all)) + "\n"
                            : ExplanationPage(explanation, all, console));
  return explanation.verdict.decision == Decision::kDeny ? kExitDenied : kExitOk;
}

}  // namespace

ExitCode RunPolicyExplain(const Program& program, const PolicyOptions& options, Console& console) {
  const auto explained = Explain(program, options, console);
  if (explained) return *explained;
  return ReportInputFailure(program, "policy explain", explained.error(), FailureForm::kText, console);
}

}  // namespace gloveport
