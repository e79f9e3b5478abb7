#include "gloveport/core/cli/jsonl_events.h"

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/result_json.h"

namespace gloveport {

void JsonlEvents::Write(std::string_view event, const Json& members) {
  Json line = {{"event", event}};
  line.update(of_);
  line.update(members);
  console_.JsonData(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void JsonlEvents::WriteOfCell(std::string_view event, std::uint32_t cell, const Json& members) {
  Json all = {{"cell", cell}};
  all.update(members);
  Write(event, all);
}

void JsonlEvents::OnState(AgentState state) { Write("state", {{"state", AgentStateName(state)}}); }

void JsonlEvents::OnStep(std::size_t number, std::size_t max_steps) {
  Write("step", {{"step", number}, {"max_steps", max_steps}});
}

void JsonlEvents::OnDelta(const ChatDelta& delta) {
  Write("delta", {{"kind", ChatDeltaKindName(delta.kind)}, {"text", delta.text}});
}

void JsonlEvents::OnModelReply(const ChatReply& reply) {
  Write("reply", {{"content", reply.content},
                  {"reasoning", reply.reasoning},
                  {"finish_reason", reply.finish_reason},
                  {"model", reply.model},
                  {"tokens", {{"input", reply.usage.input_tokens}, {"output", reply.usage.output_tokens}}}});
}

void JsonlEvents::OnPlan(const AgentPlan& plan) {
  Write("plan", {{"before_step", plan.before_step}, {"text", plan.text}});
}

void JsonlEvents::OnAction(const Action& action) {
  Write("action", {{"thought", action.thought},
                   {"code", action.code ? Json(*action.code) : Json()},
                   {"parse_error", action.code ? Json() : Json(ActionErrorName(action.error))}});
}

void JsonlEvents::OnCheck(const Result<std::vector<Finding>>& found) {
  Json json = {{"findings", Json::array()}};
  if (found) {
    json = {{"findings", ToJson(Verdict{Decision::kDeny, *found})["findings"]}};
  } else {
    json["error"] = ToJson(found.error());
  }
  Write("check", std::move(json));
}

void JsonlEvents::OnResult(const CellResult& result) { Write("result", ToJson(result)); }

void JsonlEvents::OnValidation(const std::vector<SchemaError>& errors) {
  Json list = Json::array();
  for (const SchemaError& error : errors) list.push_back({{"path", error.path}, {"message", error.message}});
  Write("validation", {{"errors", list}});
}

void JsonlEvents::OnObservation(std::string_view observation) {
  Write("observation", {{"text", observation}});
}

void JsonlEvents::OnRecovery(const RecoveryRecord& record) { Write("recovery", ToJson(record)); }

void JsonlEvents::OnStop(const AgentResult& result) { Write("end", {{"run", ToJson(result)}}); }

void JsonlEvents::OnVerdict(std::string_view, std::uint32_t cell, const Verdict& verdict) {
  WriteOfCell("verdict", cell, ToJson(verdict));
}

void JsonlEvents::OnOutput(std::string_view, std::uint32_t cell, Stream stream, std::string_view text) {
  WriteOfCell("output", cell,
              {{"stream", stream == Stream::kStdout ? "stdout" : "stderr"}, {"text", ToValidUtf8(text)}});
}

void JsonlEvents::OnApprovalAsked(std::string_view, std::uint32_t cell, const ApprovalRequest& request) {
  const bool is_cell = request.subject == ApprovalSubject::kCell;
  Json members = {{"approval", request.id},
                  {"subject", is_cell ? "cell" : "tool_call"},
                  {"reason", request.reason},
                  {"sha256", request.sha256}};
  if (is_cell) {
    members["code"] = request.code;
  } else {
    members["tool"] = request.tool;
    members["args"] = ToJson(request.arguments);
  }
  WriteOfCell("approval_asked", cell, members);
}

void JsonlEvents::OnApprovalDecided(std::string_view, std::uint32_t cell, const ApprovalRequest& request,
                                    const ApprovalDecision& decision) {
  WriteOfCell("approval_decided", cell,
              {{"approval", request.id},
               {"allowed", decision.allowed},
               {"always", decision.always},
               {"by", decision.by},
               {"reason", decision.reason}});
}

void JsonlEvents::OnToolStart(std::string_view, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                              const Value& arguments) {
  WriteOfCell("tool_start", cell, {{"call", call}, {"tool", tool}, {"args", ToJson(arguments)}});
}

void JsonlEvents::OnToolCall(std::string_view, std::uint32_t cell, const ToolCallRecord& call) {
  Json members = {{"call", call.call},
                  {"tool", call.name},
                  {"ok", call.ok},
                  {"duration_s", std::chrono::duration<double>(call.duration).count()}};
  if (call.ok) {
    members["result"] = ToJson(call.result);
  } else {
    members["error"] = {{"type", call.error_type}, {"message", call.error}};
  }
  WriteOfCell("tool_end", cell, members);
}

void JsonlEvents::OnRefusal(std::string_view, std::uint32_t cell, const Refusal& refusal) {
  WriteOfCell("refusal", cell,
              {{"source", refusal.source},
               {"rule", refusal.rule},
               {"what", refusal.what},
               {"message", refusal.message}});
}

}  // namespace gloveport
