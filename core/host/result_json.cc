#include "gloveport/core/host/result_json.h"

#include <chrono>
#include <cstdint>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// A value's repr and type are absent together; null says so, "" would look like the repr of something.
Json TextOrNull(const std::string& text, bool present) { return present ? Json(text) : Json(); }

Json ToJson(const PythonError& error) {
  return {{"type", error.type},
          {"message", error.message},
          {"line", error.line > 0 ? Json(error.line) : Json()},
          {"cell", error.cell},
          {"traceback", error.traceback}};
}

Json ToJson(const FinalAnswerValue& answer) {
  return {{"value", ToJson(answer.value)}, {"repr", answer.repr}, {"explanation", answer.explanation}};
}

Json ToJson(const ToolCallRecord& call) {
  Json json = {{"name", call.name}, {"args", ToJson(call.args)}, {"ok", call.ok}};
  if (call.ok) {
    json["value"] = ToJson(call.result);
  } else {
    json["error"] = call.error;
  }
  json["duration_s"] = Seconds(call.duration);
  return json;
}

Json ToJson(const Refusal& refusal) {
  return {{"source", refusal.source},
          {"rule", refusal.rule},
          {"what", refusal.what},
          {"message", refusal.message}};
}

Json ToJson(const Finding& finding) {
  Json json = {{"rule", finding.rule},
               {"line", finding.line},
               {"column", finding.column},
               {"message", finding.message}};
  if (!finding.hint.empty()) json["hint"] = finding.hint;
  return json;
}

template <typename Items>
Json ListOf(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(ToJson(item));
  return list;
}

}  // namespace

Json ToJson(const Verdict& verdict) {
  return {{"decision", DecisionName(verdict.decision)}, {"findings", ListOf(verdict.findings)}};
}

Json ToJson(const Usage& usage) {
  Json json = {{"wall_s", Seconds(usage.wall)},
               {"cpu_user_s", Seconds(usage.cpu_user)},
               {"cpu_system_s", Seconds(usage.cpu_system)},
               {"max_rss_bytes", usage.max_rss_bytes},
               {"output_bytes", usage.output_bytes},
               {"files_read", usage.files_read},
               {"files_written", usage.files_written},
               {"tool_calls", usage.tool_calls},
               {"denied", ListOf(usage.denied)}};
  const auto add = [&](const char* name, const std::optional<std::uint64_t>& count) {
    if (count) json[name] = *count;
  };
  add("minor_faults", usage.minor_faults);
  add("major_faults", usage.major_faults);
  add("voluntary_switches", usage.voluntary_switches);
  add("involuntary_switches", usage.involuntary_switches);
  add("bytes_read", usage.bytes_read);
  add("bytes_written", usage.bytes_written);
  if (usage.opens_not_listed > 0) json["opens_not_listed"] = usage.opens_not_listed;
  return json;
}

Json ToJson(const LimitHit& limit) {
  return {{"limit", limit.limit},
          {"message", limit.message},
          {"value", limit.value},
          {"used", limit.used},
          {"unit", limit.unit}};
}

Json ToJson(const Error& error) {
  Json json = {{"code", ErrorCodeName(error.code)}, {"message", error.message}};
  if (!error.hint.empty()) json["hint"] = error.hint;
  return json;
}

Json ToJson(const std::vector<LayerStatus>& layers) {
  Json json = Json::object();
  for (const LayerStatus& layer : layers) {
    Json& entry = json[layer.name];
    entry = {{"active", layer.active}, {"detail", layer.detail}};
    if (!layer.remedy.empty()) entry["remedy"] = layer.remedy;
  }
  return json;
}

Json ToJson(const CellResult& result) {
  const bool has_value = !result.type.empty();
  Json json = {{"outcome", OutcomeName(result.outcome)},
               {"state", SessionStateName(result.state)},
               {"cell", result.cell},
               {"value", ToJson(result.value)},
               {"repr", TextOrNull(result.repr, has_value)},
               {"type", TextOrNull(result.type, has_value)},
               {"stdout", ToValidUtf8(result.out)},
               {"stderr", ToValidUtf8(result.err)},
               {"truncated",
                {{"stdout_bytes", result.truncated_out_bytes}, {"stderr_bytes", result.truncated_err_bytes}}},
               {"error", result.error ? ToJson(*result.error) : Json()},
               {"final_answer", result.final_answer ? ToJson(*result.final_answer) : Json()},
               {"displays", ListOf(result.displays)},
               {"tool_calls", ListOf(result.tool_calls)},
               {"usage", ToJson(result.usage)}};
  if (result.clock_offset) json["clock_offset_s"] = Seconds(*result.clock_offset);
  if (result.verdict) json["verdict"] = ToJson(*result.verdict);
  if (result.limit) json["limit"] = ToJson(*result.limit);
  return json;
}

}  // namespace gloveport
