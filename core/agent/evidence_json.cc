#include <chrono>
#include <string>
#include <vector>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

template <typename Items, typename Convert>
Json ListOf(const Items& items, Convert convert) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(convert(item));
  return list;
}

// The shapes of the session protocol, so that one reader does for both.

Json FindingJson(const Finding& finding) {
  Json json = {{"rule", finding.rule},
               {"line", finding.line},
               {"column", finding.column},
               {"message", finding.message}};
  if (!finding.hint.empty()) json["hint"] = finding.hint;
  return json;
}

Json RefusalJson(const Refusal& refusal) {
  return {{"source", refusal.source},
          {"rule", refusal.rule},
          {"what", refusal.what},
          {"message", refusal.message}};
}

Json UsageJson(const Usage& usage) {
  return {{"wall_s", Seconds(usage.wall)},
          {"cpu_user_s", Seconds(usage.cpu_user)},
          {"cpu_system_s", Seconds(usage.cpu_system)},
          {"max_rss_bytes", usage.max_rss_bytes},
          {"output_bytes", usage.output_bytes},
          {"files_read", usage.files_read},
          {"files_written", usage.files_written},
          {"tool_calls", usage.tool_calls},
          {"denied", ListOf(usage.denied, RefusalJson)}};
}

Json CallJson(const ToolCallRecord& call) {
  Json json = {{"name", call.name}, {"args", ToJson(call.args)}, {"ok", call.ok}};
  if (call.ok) {
    json["value"] = ToJson(call.result);
  } else {
    json["error"] = call.error;
  }
  json["duration_s"] = Seconds(call.duration);
  return json;
}

Json PythonErrorJson(const PythonError& error) {
  return {{"type", error.type},
          {"message", error.message},
          {"line", error.line > 0 ? Json(error.line) : Json()},
          {"cell", error.cell},
          {"traceback", error.traceback}};
}

Json CellJson(const CellResult& cell) {
  Json json = {
      {"outcome", OutcomeName(cell.outcome)},
      {"state", SessionStateName(cell.state)},
      {"cell", cell.cell},
      {"value", ToJson(cell.value)},
      {"repr", cell.type.empty() ? Json() : Json(cell.repr)},
      {"type", cell.type.empty() ? Json() : Json(cell.type)},
      {"stdout", ToValidUtf8(cell.out)},
      {"stderr", ToValidUtf8(cell.err)},
      {"truncated", {{"stdout_bytes", cell.truncated_out_bytes}, {"stderr_bytes", cell.truncated_err_bytes}}},
      {"error", cell.error ? PythonErrorJson(*cell.error) : Json()},
      {"tool_calls", ListOf(cell.tool_calls, CallJson)},
      {"usage", UsageJson(cell.usage)}};
  if (cell.final_answer) {
    json["final_answer"] = {{"value", ToJson(cell.final_answer->value)},
                            {"repr", cell.final_answer->repr},
                            {"explanation", cell.final_answer->explanation}};
  }
  if (cell.verdict) {
    json["verdict"] = {{"decision", DecisionName(cell.verdict->decision)},
                       {"findings", ListOf(cell.verdict->findings, FindingJson)}};
  }
  if (cell.limit) {
    json["limit"] = {{"limit", cell.limit->limit},
                     {"message", cell.limit->message},
                     {"value", cell.limit->value},
                     {"used", cell.limit->used},
                     {"unit", cell.limit->unit}};
  }
  return json;
}

Json TokensJson(const TokenUsage& tokens) {
  return {{"input", tokens.input_tokens}, {"output", tokens.output_tokens}};
}

Json StepJson(const AgentStep& step) {
  Json json = {{"step", step.number},
               {"reply", ToValidUtf8(step.reply)},
               {"finish_reason", step.finish_reason},
               {"thought", step.action.thought},
               {"code", step.action.code ? Json(*step.action.code) : Json()},
               {"parse_error", step.action.code ? Json() : Json(ActionErrorName(step.action.error))},
               {"result", step.result ? CellJson(*step.result) : Json()},
               {"validation_errors", ListOf(step.validation_errors,
                                            [](const SchemaError& error) -> Json {
                                              return {{"path", error.path}, {"message", error.message}};
                                            })},
               {"observation", step.observation},
               {"tokens", TokensJson(step.tokens)},
               {"model_s", Seconds(step.model_time)}};
  if (!step.reasoning.empty()) json["reasoning"] = ToValidUtf8(step.reasoning);
  return json;
}

Json LayersJson(const std::vector<LayerStatus>& layers) {
  Json json = Json::object();
  for (const LayerStatus& layer : layers) {
    json[layer.name] = {{"active", layer.active}, {"detail", layer.detail}};
    if (!layer.remedy.empty()) json[layer.name]["remedy"] = layer.remedy;
  }
  return json;
}

Json ErrorJson(const Error& error) {
  Json json = {{"code", ErrorCodeName(error.code)}, {"message", error.message}};
  if (!error.hint.empty()) json["hint"] = error.hint;
  return json;
}

}  // namespace

Json ToJson(const AgentResult& result) {
  return {{"stop_reason", StopReasonName(result.stop_reason)},
          {"stop_message", result.stop_message},
          {"answer", result.answer ? ToJson(*result.answer) : Json()},
          {"answer_repr", result.answer ? Json(result.answer_repr) : Json()},
          {"explanation", result.explanation},
          {"error", result.error ? ErrorJson(*result.error) : Json()},
          {"model",
           {{"name", result.model},
            {"scripted", result.scripted},
            {"tokens", TokensJson(result.tokens)},
            {"wait_s", Seconds(result.model_time)}}},
          {"steps", ListOf(result.steps, StepJson)},
          {"evidence",
           {{"policy", result.policy},
            {"session", result.session},
            {"layers", LayersJson(result.layers)},
            {"usage", UsageJson(result.totals)},
            {"wall_s", Seconds(result.wall)}}}};
}

}  // namespace gloveport
