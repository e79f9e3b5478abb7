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
  options.policy.preload = {"_gloveport.inspector"};
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

Value RulesOf(const Policy& policy, const std::vector<std::string>& tools) {
  return Value::Object({{"imports", Value::Object({{"allow", TextList(policy.imports.allow)},
                                                   {"deny", TextList(policy.imports.deny)},
                                                   {"ask", TextList(policy.imports.ask)}})},
                        {"builtins", Value::Object({{"allow", TextList(policy.builtins.allow)}})},
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

void Inspector::WarmUp() { (void)pool_.templates().Get(OptionsFor(InspectorTask::kJudge, true)); }

Result<Value> Inspector::Ask(InspectorTask task, const std::string& operation, const Value& args) {
  auto process = pool_.Take(OptionsFor(task, true), std::nullopt);
  if (!process && process.error().code == ErrorCode::kConfinementUnavailable) {
    RETURN_IF_ERROR(MakeScratchFolder());
    TemplateOptions degraded = OptionsFor(task, false);
    degraded.workdir = scratch_->path();
    degraded.scratch = true;
    process = pool_.Take(degraded, std::nullopt);
  }
  if (!process) return tl::unexpected<Error>(process.error());
  auto reply = (*process)->Ask(operation, args, Deadline::After(kAnswerTime));
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
