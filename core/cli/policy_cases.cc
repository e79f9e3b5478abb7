// `gloveport policy test`: cases of code and of tool calls with the decision that the policy should come to.
//
// One JSON object a line:
//   {"name", "code", "expect": "allow"|"deny"|"escalate", "rule"?, "line"?, "mentions"?, "tools"?}
//   {"name", "tool", "args": {...}, "expect": "allow"|"ask"|"deny", "rule"?: number of the rule that decides}
// or, for code, as tests/cases/policies.jsonl has it: "id" for "name", "expect" an object with these keys or
// with "decision_any", and "policy" with "imports_add", "imports_remove" and "tools".
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/policy_command.h"
#include "gloveport/core/cli/policy_tools.h"
#include "gloveport/core/host/policy_argument.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/tool_rules.h"

namespace gloveport {
namespace {

struct PolicyCase {
  std::string name;
  std::optional<std::string> code;
  std::string tool;
  Json args = Json::object();
  std::vector<std::string> decisions;  // any of these is right
  std::string rule;
  int line = 0;  // 0: not asked for
  std::vector<std::string> mentions;
  std::vector<std::string> tools, imports_add, imports_remove;
};

struct CaseResult {
  std::string got;      // the decision, and what decided
  std::string problem;  // empty: as expected
};

std::string TextOr(const Json& json, std::string_view key, std::string fallback = "") {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : fallback;
}

std::vector<std::string> Texts(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  const auto found = json.find(key);
  if (found == json.end()) return texts;
  if (found->is_string()) return {found->get<std::string>()};
  for (const Json& item : *found) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

void ReadExpectation(const Json& json, PolicyCase& read) {
  read.decisions = Texts(json, "decision");
  if (read.decisions.empty()) read.decisions = Texts(json, "decision_any");
}

void ReadDetails(const Json& json, PolicyCase& read) {
  const auto rule = json.find("rule");
  if (rule != json.end()) read.rule = rule->is_string() ? rule->get<std::string>() : DumpJson(*rule);
  const auto line = json.find("line");
  if (line != json.end() && line->is_number_integer()) read.line = line->get<int>();
  read.mentions = Texts(json, "mentions");
}

Result<PolicyCase> ReadCase(const Json& json, std::string_view place) {
  const auto fault = [place](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", place, what),
                "a case is {\"name\", \"code\", \"expect\": \"allow\", \"deny\" or \"escalate\"} or "
                "{\"name\", \"tool\", \"args\", \"expect\": \"allow\", \"ask\" or \"deny\"}");
  };
  if (!json.is_object()) return fault("a case must be an object");
  PolicyCase read;
  read.name = TextOr(json, "name", TextOr(json, "id", std::string(place)));
  if (json.contains("code")) read.code = TextOr(json, "code");
  read.tool = TextOr(json, "tool");
  if (read.code.has_value() == !read.tool.empty()) return fault("a case has either \"code\" or \"tool\"");
  if (json.contains("args")) read.args = json["args"];
  if (!read.args.is_object()) return fault("\"args\" must be an object");
  const auto expect = json.find("expect");
  if (expect == json.end()) return fault("a case needs \"expect\"");
  if (expect->is_object()) {
    ReadExpectation(*expect, read);
    ReadDetails(*expect, read);
  } else {
    read.decisions = Texts(json, "expect");
    ReadDetails(json, read);
  }
  const bool known =
      !read.decisions.empty() && std::ranges::all_of(read.decisions, [](const std::string& word) {
        return word == "allow" || word == "ask" || word == "escalate" || word == "deny";
      });
  if (!known) return fault("\"expect\" must be \"allow\", \"ask\", \"escalate\" or \"deny\"");
  const Json policy = json.contains("policy") && json["policy"].is_object() ? json["policy"] : Json::object();
  read.imports_add = Texts(policy, "imports_add");
  read.imports_remove = Texts(policy, "imports_remove");
  for (const Json* holder : {&json, &policy}) {
    for (std::string& tool : Texts(*holder, "tools")) read.tools.push_back(std::move(tool));
  }
  return read;
}

Result<std::vector<PolicyCase>> ReadCases(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<PolicyCase> cases;
  int number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const std::string_view content = Trim(line);
    if (content.empty() || content.starts_with("//") || content.starts_with("#")) continue;
    const std::string place = fmt::format("{}:{}", file, number);
    const auto json = ParseJson(content);
    if (!json) return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", place, json.error().message));
    ASSIGN_OR_RETURN(PolicyCase read, ReadCase(*json, place));
    cases.push_back(std::move(read));
  }
  if (cases.empty()) return Fail(ErrorCode::kInvalidArgument, fmt::format("{} has no cases", file));
  return cases;
}

Policy PolicyFor(const PolicyCase& asked, const Policy& policy) {
  Policy changed = policy;
  ImportRules& imports = changed.imports;
  for (const std::string& name : asked.imports_add) {
    imports.allow.push_back(name);
    std::erase(imports.ask, name);
    std::erase(imports.deny, name);
  }
  for (const std::string& name : asked.imports_remove) std::erase(imports.allow, name);
  return changed;
}

bool IsExpected(const PolicyCase& asked, std::string_view decision) {
  const auto plain = [](std::string_view word) { return word == "escalate" ? "ask" : word; };
  return std::ranges::any_of(asked.decisions,
                             [&](const std::string& word) { return plain(word) == plain(decision); });
}

std::string Expected(const PolicyCase& asked) {
  return fmt::format("{}", fmt::join(asked.decisions, " or "));
}

std::string ShownFinding(const Verdict& verdict) {
  if (verdict.findings.empty()) return "";
  const Finding& first = verdict.findings.front();
  return fmt::format(": line {}: [{}] {}", first.line, first.rule, first.message);
}

std::string ProblemOf(const PolicyCase& asked, const Verdict& verdict) {
  if (!IsExpected(asked, DecisionName(verdict.decision)))
    return fmt::format("expected {}, is {}{}", Expected(asked), DecisionName(verdict.decision),
                       ShownFinding(verdict));
  if (verdict.decision == Decision::kAllow) return "";
  const auto any = [&verdict](auto condition) { return std::ranges::any_of(verdict.findings, condition); };
  const auto soft = [](std::string_view rule) { return rule == "dunder" ? "attribute" : rule; };
  if (!asked.rule.empty() && !any([&](const Finding& f) { return soft(f.rule) == soft(asked.rule); }))
    return fmt::format("expected the rule {}{}", asked.rule, ShownFinding(verdict));
  if (asked.line > 0 && !any([&](const Finding& f) { return f.line == asked.line; }))
    return fmt::format("expected line {}{}", asked.line, ShownFinding(verdict));
  for (const std::string& word : asked.mentions) {
    if (!any([&](const Finding& f) { return f.message.find(word) != std::string::npos; }))
      return fmt::format("expected a message with \"{}\"{}", word, ShownFinding(verdict));
  }
  return "";
}

class CaseRunner {
 public:
  static Result<CaseRunner> Make(const Program& program, const PolicyOptions& options) {
    CaseRunner runner;
    ASSIGN_OR_RETURN(runner.policy_, LoadPolicy(options.file));
    ASSIGN_OR_RETURN(runner.gate_, ToolGate::Compile(runner.policy_.tools));
    ASSIGN_OR_RETURN(const std::vector<KnownTool> tools,
                     AtOption("--tools", LoadKnownTools(program, options.tools)));
    runner.tools_ = ToolNames(tools, runner.policy_);
    return runner;
  }

  Result<CaseResult> Run(const PolicyCase& asked) { return asked.code ? RunCode(asked) : RunCall(asked); }

 private:
  Result<CaseResult> RunCode(const PolicyCase& asked) {
    if (!runtime_) {
      ASSIGN_OR_RETURN(runtime_, Runtime::Create());
    }
    std::vector<std::string> tools = tools_;
    tools.insert(tools.end(), asked.tools.begin(), asked.tools.end());
    ASSIGN_OR_RETURN(const Verdict verdict, runtime_->Check(PolicyFor(asked, policy_), *asked.code, tools));
    std::string got(DecisionName(verdict.decision));
    if (!verdict.findings.empty()) got += fmt::format(" [{}]", verdict.findings.front().rule);
    return CaseResult{std::move(got), ProblemOf(asked, verdict)};
  }

  Result<CaseResult> RunCall(const PolicyCase& asked) {
    ASSIGN_OR_RETURN(const Value args, FromJson(asked.args));
    const ToolDecision decision =
        gate_.Decide(asked.tool, [&args](std::string_view name) -> std::optional<PolicyArgument> {
          const Value* value = args.Find(name);
          if (value == nullptr) return std::nullopt;
          return ToPolicyArgument(*value);
        });
    const std::string_view effect = EffectName(decision.effect);
    const std::string rule = decision.rule ? std::to_string(*decision.rule + 1) : "default";
    CaseResult result{fmt::format("{} [{}]", effect, decision.rule ? "rule " + rule : rule), ""};
    if (!IsExpected(asked, effect)) {
      result.problem = fmt::format("expected {}, is {}: {}", Expected(asked), effect, decision.reason);
    } else if (!asked.rule.empty() && asked.rule != rule) {
      result.problem = fmt::format("expected the rule {}: {}", asked.rule, decision.reason);
    }
    return result;
  }

  Policy policy_;
  ToolGate gate_;
  std::vector<std::string> tools_;
  std::unique_ptr<Runtime> runtime_;  // once there is code to judge
};

Result<ExitCode> RunCases(const Program& program, const PolicyOptions& options, Console& console) {
  ASSIGN_OR_RETURN(CaseRunner runner, CaseRunner::Make(program, options));
  ASSIGN_OR_RETURN(const std::vector<PolicyCase> cases, ReadCases(options.cases));
  std::size_t width = 0;
  for (const PolicyCase& asked : cases) width = std::max(width, std::min<std::size_t>(48, asked.name.size()));
  std::size_t failed = 0;
  Json rows = Json::array();
  for (const PolicyCase& asked : cases) {
    ASSIGN_OR_RETURN(const CaseResult result, runner.Run(asked));
    const bool good = result.problem.empty();
    failed += good ? 0 : 1;
    rows.push_back({{"name", asked.name}, {"ok", good}, {"got", result.got}, {"problem", result.problem}});
    if (options.json) continue;
    console.Data(fmt::format(
        "  {} {:<{}}  {}\n", console.PaintData(good ? "ok    " : "FAILED", good ? Style::kGood : Style::kBad),
        Console::Safe(asked.name), width, Console::Safe(good ? result.got : result.problem)));
  }
  if (options.json) {
    console.Data(DumpJson(Json{{"passed", cases.size() - failed}, {"failed", failed}, {"cases", rows}}) +
                 "\n");
  } else {
    console.Data(fmt::format("{} passed, {} failed\n", cases.size() - failed, failed));
  }
  return failed == 0 ? kExitOk : kExitProgramFailed;
}

}  // namespace

ExitCode RunPolicyTest(const Program& program, const PolicyOptions& options, Console& console) {
  const auto done = RunCases(program, options, console);
  if (done) return *done;
  return ReportInputFailure(program, "policy test", done.error(), FailureForm::kText, console);
}

}  // namespace gloveport
