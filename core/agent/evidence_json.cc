#include <chrono>
#include <string>
#include <vector>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/result_json.h"

namespace gloveport {
namespace {

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

template <typename Items, typename Convert>
Json ListOf(const Items& items, Convert convert) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(convert(item));
  return list;
}

// As in the session protocol, but for what a record of a run has no use for.
Json CellJson(const CellResult& cell) {
  Json json = ToJson(cell);
  json.erase("displays");
  if (!cell.final_answer) json.erase("final_answer");
  return json;
}

Json TokensJson(const TokenUsage& tokens) {
  return {{"input", tokens.input_tokens}, {"output", tokens.output_tokens}};
}

Json ErrorJson(const SchemaError& error) {
  return {{"path", error.path}, {"message", ToValidUtf8(error.message)}};
}

Json StepJson(const AgentStep& step) {
  Json json = {{"step", step.number},
               {"reply", ToValidUtf8(step.reply)},
               {"finish_reason", step.finish_reason},
               {"thought", step.action.thought},
               {"code", step.action.code ? Json(*step.action.code) : Json()},
               {"parse_error", step.action.code ? Json() : Json(ActionErrorName(step.action.error))},
               {"result", step.result ? CellJson(*step.result) : Json()},
               {"validation_errors", ListOf(step.validation_errors, ErrorJson)},
               {"withheld", ListOf(step.withheld, ErrorJson)},
               {"observation", step.observation},
               {"tokens", TokensJson(step.tokens)},
               {"model_s", Seconds(step.model_time)}};
  if (!step.findings.empty()) json["findings"] = ToJson(Verdict{Decision::kDeny, step.findings})["findings"];
  if (step.check_error) json["check_error"] = ToJson(*step.check_error);
  if (!step.reasoning.empty()) json["reasoning"] = ToValidUtf8(step.reasoning);
  return json;
}

Json PlanJson(const AgentPlan& plan) {
  return {{"before_step", plan.before_step},
          {"text", ToValidUtf8(plan.text)},
          {"tokens", TokensJson(plan.tokens)},
          {"model_s", Seconds(plan.model_time)}};
}

}  // namespace

Json ToJson(const RecoveryRecord& recovery) {
  return {{"after_step", recovery.after_step},
          {"action", RecoveryActionName(recovery.action)},
          {"reason", StopReasonName(recovery.reason)},
          {"message", ToValidUtf8(recovery.message)}};
}

Json ToJson(const AgentResult& result) {
  return {{"goal", result.goal},
          {"stop_reason", StopReasonName(result.stop_reason)},
          {"stop_message", result.stop_message},
          {"answer", result.answer ? ToJson(*result.answer) : Json()},
          {"answer_repr", result.answer ? Json(result.answer_repr) : Json()},
          {"explanation", result.explanation},
          {"checked_by", result.checked_by},
          {"error", result.error ? ToJson(*result.error) : Json()},
          {"model",
           {{"name", result.model},
            {"scripted", result.scripted},
            {"tokens", TokensJson(result.tokens)},
            {"cost", result.cost ? Json(*result.cost) : Json()},
            {"currency", result.currency},
            {"wait_s", Seconds(result.model_time)}}},
          {"steps", ListOf(result.steps, StepJson)},
          {"plans", ListOf(result.plans, PlanJson)},
          {"recoveries", ListOf(result.recoveries, [](const RecoveryRecord& each) { return ToJson(each); })},
          {"evidence",
           {{"policy", result.policy},
            {"session", result.session},
            {"layers", ToJson(result.layers)},
            {"usage", ToJson(result.totals)},
            {"wall_s", Seconds(result.wall)}}}};
}

}  // namespace gloveport
