#include "gloveport/core/host/inspector.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/policy/environment.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kAnswerTime{10};
constexpr std::size_t kMaxFindings = 200;

// The inspector's own policy: small, and the same whatever it judges. A policy that names the degraded mode
// lets the inspector run in it too.
TemplateOptions OptionsFor(InspectorTask task, bool own_root) {
  TemplateOptions options;
  options.inspector = true;
  options.own_root = own_root;
  options.policy.name = "inspector";
  options.policy.preload = {"_gloveport.inspector", "_gloveport.requests", "_gloveport.streams"};
  // Most runs never ask for it, and it takes half of the start.
  if (task == InspectorTask::kValidate)
    options.policy.preload.insert(options.policy.preload.end(),
                                  {"jsonschema", "_gloveport.inspector_schema"});
  options.policy.limits.memory_mib = 512;
  options.policy.limits.disk_mib = 1;
  options.policy.limits.threads = 1;
  return options;
}

Value TextList(const std::vector<std::string>& texts) {
  Value::List list;
  for (const auto& text : texts) list.emplace_back(text);
  return Value(std::move(list));
}

Value CostOf(const CostRules& cost) {
  Value::Map prices;
  for (const auto& [tool, price] : cost.prices) {
    prices.emplace_back(
        Value(tool), Value::Object({{"per_call", Value(price.per_call)}, {"per_kib", Value(price.per_kib)}}));
  }
  const auto limit = [](const std::optional<double>& amount) { return amount ? Value(*amount) : Value(); };
  return Value::Object({{"escalate_above", limit(cost.escalate_above)},
                        {"deny_above", limit(cost.deny_above)},
                        {"prices", Value(std::move(prices))}});
}

Value RulesOf(const Policy& policy, const std::vector<std::string>& tools) {
  return Value::Object({{"imports", Value::Object({{"allow", TextList(policy.imports.allow)},
                                                   {"deny", TextList(policy.imports.deny)},
                                                   {"ask", TextList(policy.imports.ask)}})},
                        {"builtins", Value::Object({{"allow", TextList(policy.builtins.allow)}})},
                        {"attributes", Value::Object({{"allow", TextList(policy.attributes.allow)},
                                                      {"deny", TextList(policy.attributes.deny)}})},
                        {"cost", CostOf(policy.cost)},
                        {"tools", TextList(tools)},
                        {"work_folder", kWorkFolder},
                        {"read", TextList(policy.files.read)}});
}

Finding ReadFinding(const Value& map) {
  Finding finding;
  finding.rule = map.TextOr("rule", "");
  finding.line = static_cast<int>(std::clamp<std::int64_t>(map.IntOr("line", 0), 0, 1 << 30));
  finding.column = static_cast<int>(std::clamp<std::int64_t>(map.IntOr("column", 0), 0, 1 << 30));
  finding.message = map.TextOr("message", "");
  finding.hint = map.TextOr("hint", "");
  return finding;
}

std::vector<CodeArgument> ReadArguments(const Value& use) {
  std::vector<CodeArgument> arguments;
  const Value* list = use.Find("arguments");
  if (list == nullptr || !list->is_list()) return arguments;
  for (const Value& item : list->as_list()) {
    CodeArgument argument;
    argument.name = item.TextOr("name", "");
    argument.position = static_cast<int>(std::clamp<std::int64_t>(item.IntOr("position", -1), -1, 1 << 20));
    if (item.Find("json") != nullptr) argument.json = item.TextOr("json", "");
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

CodeUse ReadUse(const Value& map) {
  const Finding place = ReadFinding(map);
  CodeUse use;
  use.kind = map.TextOr("kind", "");
  use.name = map.TextOr("name", "");
  use.line = place.line;
  use.column = place.column;
  use.count = std::max<std::int64_t>(0, map.IntOr("count", 1));
  use.exact = map.BoolOr("exact", true);
  if (const Value* amount = map.Find("amount"); amount != nullptr && amount->is_double()) {
    use.amount = amount->as_double();
  }
  use.arguments = ReadArguments(map);
  if (const Value* notes = map.Find("notes"); notes != nullptr && notes->is_list()) {
    for (const Value& note : notes->as_list()) {
      if (note.is_text()) use.notes.push_back(note.as_text());
    }
  }
  return use;
}

// What cannot be read is a denial.
Result<Verdict> ReadVerdict(const Value& answer) {
  const std::string decision = answer.TextOr("decision", "");
  Verdict verdict;
  if (decision == "allow") {
    verdict.decision = Decision::kAllow;
  } else if (decision == "escalate") {
    verdict.decision = Decision::kEscalate;
  } else if (decision == "deny") {
    verdict.decision = Decision::kDeny;
  } else {
    return Fail(ErrorCode::kProtocol, "the inspector gave no verdict");
  }
  if (const Value* findings = answer.Find("findings"); findings && findings->is_list()) {
    for (const Value& finding : findings->as_list()) {
      if (verdict.findings.size() < kMaxFindings) verdict.findings.push_back(ReadFinding(finding));
    }
  }
  return verdict;
}

}  // namespace

Status Inspector::MakeScratchFolder() {
  const std::lock_guard lock(mutex_);
  if (scratch_) return {};
  ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Make());
  scratch_.emplace(std::move(folder));
  return {};
}

void Inspector::WarmUp() {
  const std::lock_guard lock(warm_mutex_);
  if (auto process = pool_.Take(OptionsFor(InspectorTask::kJudge, true), std::nullopt))
    warm_ = std::move(*process);
}

std::unique_ptr<SessionProcess> Inspector::TakeWarm() {
  const std::lock_guard lock(warm_mutex_);
  if (warm_ && warm_->HasEnded()) warm_.reset();
  return std::move(warm_);
}

Result<std::unique_ptr<SessionProcess>> Inspector::TakeProcess(InspectorTask task) {
  if (task == InspectorTask::kJudge) {
    if (auto warm = TakeWarm()) return warm;
  }
  auto process = pool_.Take(OptionsFor(task, true), std::nullopt);
  if (process || process.error().code != ErrorCode::kConfinementUnavailable) return process;
  RETURN_IF_ERROR(MakeScratchFolder());
  TemplateOptions degraded = OptionsFor(task, false);
  degraded.workdir = scratch_->path();
  degraded.scratch = true;
  return pool_.Take(degraded, std::nullopt);
}

Result<Value> Inspector::Ask(InspectorTask task, const std::string& operation, const Value& args) {
  ASSIGN_OR_RETURN(auto process, TakeProcess(task));
  auto reply = process->Ask(operation, args, Deadline::After(kAnswerTime));
  pool_.Discard(std::move(process));  // its end takes longer than the answer
  if (!reply)
    return Fail(reply.error().code, fmt::format("the inspector did not answer: {}", reply.error().message));
  if (!reply->ok) return Fail(ErrorCode::kInvalidArgument, reply->error_message);
  return DecodeValue(reply->value);
}

Result<Verdict> Inspector::Check(const Policy& policy, std::string_view code,
                                 const std::vector<std::string>& tools) {
  ASSIGN_OR_RETURN(const Value answer,
                   Ask(InspectorTask::kJudge, "check",
                       Value::Object({{"code", code}, {"rules", RulesOf(policy, tools)}})));
  return ReadVerdict(answer);
}

Result<Explanation> Inspector::Explain(const Policy& policy, std::string_view code,
                                       const std::vector<std::string>& tools) {
  ASSIGN_OR_RETURN(const Value answer,
                   Ask(InspectorTask::kJudge, "explain",
                       Value::Object({{"code", code}, {"rules", RulesOf(policy, tools)}})));
  Explanation explanation;
  ASSIGN_OR_RETURN(explanation.verdict, ReadVerdict(answer));
  const Value* uses = answer.Find("uses");
  if (uses == nullptr || !uses->is_list()) return explanation;
  for (const Value& use : uses->as_list()) {
    if (explanation.uses.size() < kMaxFindings) explanation.uses.push_back(ReadUse(use));
  }
  return explanation;
}

Result<SyntaxInfo> Inspector::Syntax(std::string_view code) {
  ASSIGN_OR_RETURN(const Value answer, Ask(InspectorTask::kJudge, "syntax", Value::Object({{"code", code}})));
  SyntaxInfo info;
  info.complete = answer.BoolOr("complete", false);
  info.incomplete = answer.BoolOr("incomplete", false);
  info.has_action = answer.BoolOr("has_action", false);
  info.message = answer.TextOr("message", "");
  info.line = static_cast<int>(std::clamp<std::int64_t>(answer.IntOr("line", 0), 0, 1 << 30));
  return info;
}

Result<std::vector<SchemaError>> Inspector::Validate(const Value& value, const Value& schema) {
  ASSIGN_OR_RETURN(const Value answer, Ask(InspectorTask::kValidate, "validate",
                                           Value::Object({{"value", value}, {"schema", schema}})));
  if (!answer.is_list())
    return Fail(ErrorCode::kProtocol, "the inspector did not answer with a list of errors");
  std::vector<SchemaError> errors;
  for (const Value& error : answer.as_list()) {
    if (errors.size() < kMaxFindings)
      errors.push_back({error.TextOr("path", ""), error.TextOr("message", "")});
  }
  return errors;
}

}  // namespace gloveport
