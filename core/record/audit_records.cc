#include "gloveport/core/record/audit_records.h"

#include <sys/utsname.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/record/kept_value.h"
#include "gloveport/core/record/tool_spec_json.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

constexpr int kFormat = 1;

Json FileJson(const RuntimeFile& file) {
  return {{"name", file.name}, {"path", file.path}, {"sha256", file.sha256}};
}

Json FilesJson(const std::vector<RuntimeFile>& files) {
  Json list = Json::array();
  for (const RuntimeFile& file : files) list.push_back(FileJson(file));
  return list;
}

Json HostJson() {
  utsname names{};
  ::uname(&names);
  return {{"system", names.sysname}, {"release", names.release}, {"machine", names.machine}};
}

Json ErrorJson(const Keeping& keeping, const PythonError& error) {
  return {{"type", error.type},
          {"message", KeptText(keeping.redactor, error.message, keeping.max_text_bytes)},
          {"line", error.line},
          {"cell", error.cell}};
}

Json CodeJson(const Keeping& keeping, std::string_view code) {
  std::string text = keeping.redactor.Apply(code);
  Json json = {{"sha256", Sha256Hex(code)}};
  if (text != code) json["redacted"] = true;
  json["code"] = std::move(text);
  return json;
}

Json SubjectJson(const Keeping& keeping, const ApprovalRequest& request) {
  Json json = {
      {"approval", request.id}, {"sha256", request.sha256}, {"grant", keeping.redactor.Apply(request.grant)}};
  if (request.subject == ApprovalSubject::kToolCall) {
    json["tool"] = request.tool;
    json["args"] = KeptValue(keeping.redactor, request.arguments, keeping.max_value_bytes);
  } else {
    json["subject"] = "cell";
  }
  return json;
}

}  // namespace

void OutputDigest::Add(std::string_view text, std::size_t max_text_bytes) {
  hash_.Add(text);
  bytes_ += text.size();
  // More than is kept, so that a secret at the cut is whole when it is looked for.
  const std::size_t room = max_text_bytes * 2 - std::min(text_.size(), max_text_bytes * 2);
  text_ += text.substr(0, room);
}

Json OutputDigest::Take(const Keeping& keeping) {
  Json json = {{"bytes", bytes_}, {"sha256", hash_.TakeHex()}};
  if (bytes_ > text_.size())
    json["text"] = KeptBeginning(keeping.redactor, text_, keeping.max_text_bytes);
  else if (!text_.empty())
    json["text"] = KeptText(keeping.redactor, text_, keeping.max_text_bytes);
  *this = OutputDigest();
  return json;
}

Json SessionRecord(const SessionFacts& facts) {
  Json tools = Json::array();
  for (const ToolSpec& tool : facts.tools) tools.push_back(ToJson(tool));
  const std::string policy = PolicyToJson(facts.policy);
  Json json = {{"format", kFormat},
               {"gloveport", GLOVEPORT_VERSION},
               {"host", HostJson()},
               {"policy", Json::parse(policy)},
               {"policy_sha256", Sha256Hex(policy)},
               {"layers", ToJson(facts.layers)},
               {"python", facts.python_version},
               {"image", FilesJson(facts.image)},
               {"tools", std::move(tools)}};
  if (facts.seed) json["seed"] = *facts.seed;
  if (facts.workdir) json["workdir"] = *facts.workdir;
  if (!facts.branch_of.empty()) json["branch_of"] = facts.branch_of;
  json["modules"] = FilesJson(facts.modules);
  return json;
}

Json VerdictRecord(const Keeping& keeping, const Verdict& verdict) {
  return Redacted(keeping.redactor, ToJson(verdict));
}

Json CellRecord(const Keeping& keeping, std::string_view code) { return CodeJson(keeping, code); }

Json AskedRecord(const Keeping& keeping, const ApprovalRequest& request) {
  Json json = SubjectJson(keeping, request);
  json["reason"] = KeptText(keeping.redactor, request.reason, keeping.max_text_bytes);
  return json;
}

Json DecidedRecord(const Keeping& keeping, const ApprovalRequest& request, const ApprovalDecision& decision) {
  Json json = {{"approval", request.id},
               {"sha256", request.sha256},
               {"allowed", decision.allowed},
               {"always", decision.always},
               {"by", keeping.redactor.Apply(decision.by)},
               {"reason", KeptText(keeping.redactor, decision.reason, keeping.max_text_bytes)},
               {"grant", keeping.redactor.Apply(request.grant)}};
  if (decision.code) json["edited"] = CodeJson(keeping, *decision.code);
  if (decision.arguments)
    json["edited"] = KeptValue(keeping.redactor, Value(*decision.arguments), keeping.max_input_bytes);
  return json;
}

Json ToolCallBody(const Keeping& keeping, std::uint64_t call, std::string_view tool, const Value& arguments) {
  return {{"call", call},
          {"tool", tool},
          {"args", KeptValue(keeping.redactor, arguments, keeping.max_value_bytes)}};
}

Json ToolResultBody(const Keeping& keeping, const ToolCallRecord& call) {
  Json json = {{"call", call.call}, {"tool", call.name}, {"ok", call.ok}};
  if (call.ok) {
    json["result"] = KeptValue(keeping.redactor, call.result, keeping.max_input_bytes);
    for (const Value& display : call.displays)
      json["displays"].push_back(KeptValue(keeping.redactor, display, keeping.max_input_bytes));
  } else {
    json["error"] = KeptText(keeping.redactor, call.error, keeping.max_text_bytes);
    json["error_type"] = call.error_type;
  }
  json["duration_s"] = std::chrono::duration<double>(call.duration).count();
  return json;
}

Json DisplayRecord(const Keeping& keeping, const Value& bundle) {
  Json parts = Json::object();
  for (const auto& [type, content] : bundle.as_map()) {
    if (!type.is_text()) continue;
    const Json kept = KeptValue(keeping.redactor, content, content.is_text() ? keeping.max_text_bytes : 0);
    parts[keeping.redactor.Apply(ToValidUtf8(type.as_text()))] = kept;
  }
  return {{"parts", std::move(parts)}};
}

Json RefusalRecord(const Keeping& keeping, const Refusal& refusal) {
  return {{"source", refusal.source},
          {"rule", refusal.rule},
          {"what", keeping.redactor.Apply(refusal.what)},
          {"message", KeptText(keeping.redactor, refusal.message, keeping.max_text_bytes)}};
}

Json CellEndRecord(const Keeping& keeping, const CellResult& result) {
  Json json = {{"outcome", OutcomeName(result.outcome)}, {"state", SessionStateName(result.state)}};
  if (!result.type.empty()) {
    json["value"] = KeptValue(keeping.redactor, result.value, keeping.max_value_bytes);
    json["value"]["type"] = result.type;
    json["value"]["repr"] = KeptText(keeping.redactor, result.repr, keeping.max_text_bytes);
  }
  if (result.error) json["error"] = ErrorJson(keeping, *result.error);
  if (result.final_answer) {
    json["final_answer"] = KeptValue(keeping.redactor, result.final_answer->value, keeping.max_value_bytes);
    json["final_answer"]["explanation"] =
        KeptText(keeping.redactor, result.final_answer->explanation, keeping.max_text_bytes);
  }
  if (result.limit) json["limit"] = Redacted(keeping.redactor, ToJson(*result.limit));
  if (result.clock_offset) json["clock_offset_ns"] = result.clock_offset->count();
  json["usage"] = Redacted(keeping.redactor, ToJson(result.usage));
  json["usage"].erase("denied");  // each has a record of its own
  return json;
}

Json FileRecord(const Keeping& keeping, std::string_view path, std::span<const std::byte> data) {
  Json json = {
      {"path", keeping.redactor.Apply(path)}, {"bytes", data.size()}, {"sha256", Sha256Hex(AsText(data))}};
  if (keeping.redactor.Finds(AsText(data))) {
    json["redacted"] = true;
  } else if (data.size() <= keeping.max_input_bytes) {
    json["data"] = EncodeBase64(data);
  }
  return json;
}

}  // namespace gloveport
