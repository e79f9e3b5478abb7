#include "gloveport/core/agent/trace_export.h"

#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/agent/prompts.h"
#include "gloveport/core/agent/run_store.h"
#include "gloveport/core/host/sha256.h"
#include "gloveport/core/record/kept_value.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

struct Labels {
  bool success = false;
  bool validated = false;
};

Labels LabelsOf(const Json& run) {
  Labels labels{.success = TextOf(run, "stop_reason") == "final_answer"};
  for (const Json& check : MemberOf(run, "checked_by"))
    labels.validated = labels.validated || (labels.success && TextOf(&check) != "output rules");
  return labels;
}

Json MetadataOf(const Json& file, const Json& run, const Labels& labels, std::size_t steps) {
  return {{"run", TextOf(file, "id")},
          {"model", TextOf(MemberOf(run, "model"), "name")},
          {"policy", TextOf(MemberOf(run, "evidence"), "policy")},
          {"stop_reason", TextOf(run, "stop_reason")},
          {"steps", steps},
          {"success", labels.success},
          {"validated", labels.validated}};
}

bool HasCode(const Json& step) { return MemberOf(step, "code").is_string(); }

bool EndedWell(const Json& step) {
  return HasCode(step) && TextOf(MemberOf(step, "result"), "outcome") == "ok" &&
         MemberOf(step, "validation_errors").empty();
}

std::vector<Json> StepsOf(const Json& run, const TraceOptions& options, const Labels& labels) {
  std::vector<Json> steps;
  for (const Json& step : MemberOf(run, "steps")) {
    if (!options.drop_failed_steps || !labels.success || EndedWell(step)) steps.push_back(step);
  }
  return steps;
}

std::string ReplyOf(const Json& step) {
  Action action;
  action.thought = TextOf(step, "thought");
  if (HasCode(step)) action.code = TextOf(step, "code");
  return CanonicalReply(action, TextOf(step, "reply"));
}

// {role, content} pairs: the prompt, then replies and what the model was told.
std::vector<std::pair<std::string, std::string>> Conversation(const Json& file,
                                                              const std::vector<Json>& steps) {
  std::vector<std::pair<std::string, std::string>> turns;
  for (const Json& message : MemberOf(file, "prompt"))
    turns.emplace_back(TextOf(message, "role"), TextOf(message, "content"));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    turns.emplace_back("assistant", ReplyOf(steps[i]));
    if (i + 1 < steps.size()) turns.emplace_back("user", TextOf(steps[i], "observation"));
  }
  return turns;
}

std::string ShareGptName(const std::string& role) {
  return role == "assistant" ? "gpt" : role == "user" ? "human" : "system";
}

Json ChatLine(const Json& file, const std::vector<Json>& steps) {
  Json messages = Json::array();
  for (const auto& [role, content] : Conversation(file, steps))
    messages.push_back({{"role", role}, {"content", content}});
  return {{"messages", messages}};
}

Json ShareGptLine(const Json& file, const std::vector<Json>& steps) {
  Json turns = Json::array();
  for (const auto& [role, content] : Conversation(file, steps))
    turns.push_back({{"from", ShareGptName(role)}, {"value", content}});
  return {{"id", TextOf(file, "id")}, {"conversations", turns}};
}

Json CodeActStep(const Json& step) {
  const Json& result = MemberOf(step, "result");
  const Json& calls = MemberOf(result, "tool_calls");
  return {{"thought", TextOf(step, "thought")},
          {"code", MemberOf(step, "code")},
          {"outcome", result.is_object() ? Json(TextOf(result, "outcome")) : Json()},
          {"observation", TextOf(step, "observation")},
          {"tool_calls", calls.is_array() ? calls : Json::array()}};
}

Json CodeActLine(const Json& file, const Json& run, const std::vector<Json>& steps) {
  Json list = Json::array();
  for (const Json& step : steps) list.push_back(CodeActStep(step));
  const Json& prompt = MemberOf(file, "prompt");
  return {{"id", TextOf(file, "id")},
          {"task", TextOf(run, "goal")},
          {"system", prompt.empty() ? "" : TextOf(prompt.front(), "content")},
          {"steps", list},
          {"answer", MemberOf(run, "answer")},
          {"explanation", TextOf(run, "explanation")}};
}

// By what a model would learn from it: another time, session or id makes no other example.
std::string HashOf(const Json& run, const std::vector<Json>& steps) {
  Json what = {{"task", TextOf(run, "goal")}, {"code", Json::array()}};
  for (const Json& step : steps) what["code"].push_back(MemberOf(step, "code"));
  return Sha256Hex(what.dump());
}

// ---- schemas ----

Json Text() { return {{"type", "string"}}; }

Json ObjectOf(Json properties) {
  Json required = Json::array();
  for (const auto& item : properties.items()) required.push_back(item.key());
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json ListOf(Json items, std::size_t least) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", least}};
}

Json Flag() { return {{"type", "boolean"}}; }

Json MetadataSchema() {
  return ObjectOf({{"run", Text()},
                   {"model", Text()},
                   {"policy", Text()},
                   {"stop_reason", Text()},
                   {"steps", {{"type", "integer"}, {"minimum", 1}}},
                   {"success", Flag()},
                   {"validated", Flag()}});
}

Json TurnSchema(const char* who, Json names, const char* what) {
  return ObjectOf({{who, {{"enum", std::move(names)}}}, {what, Text()}});
}

Json CodeActSchema() {
  const Json step = ObjectOf({{"thought", Text()},
                              {"code", {{"type", {"string", "null"}}}},
                              {"outcome", {{"type", {"string", "null"}}}},
                              {"observation", Text()},
                              {"tool_calls", {{"type", "array"}, {"items", {{"type", "object"}}}}}});
  return ObjectOf({{"id", Text()},
                   {"task", Text()},
                   {"system", Text()},
                   {"steps", ListOf(step, 1)},
                   {"answer", true},
                   {"explanation", Text()},
                   {"model", Text()},
                   {"policy", Text()},
                   {"stop_reason", Text()},
                   {"success", Flag()},
                   {"validated", Flag()}});
}

}  // namespace

std::string_view TraceFormatName(TraceFormat format) {
  switch (format) {
    case TraceFormat::kOpenAiChat:
      return "openai-chat";
    case TraceFormat::kShareGpt:
      return "sharegpt";
    case TraceFormat::kCodeAct:
      return "codeact";
  }
  return "openai-chat";
}

std::optional<TraceFormat> ParseTraceFormat(std::string_view name) {
  for (const TraceFormat format : {TraceFormat::kOpenAiChat, TraceFormat::kShareGpt, TraceFormat::kCodeAct}) {
    if (TraceFormatName(format) == name) return format;
  }
  return std::nullopt;
}

Json TraceSchema(TraceFormat format) {
  Json schema;
  switch (format) {
    case TraceFormat::kOpenAiChat:
      schema =
          ObjectOf({{"messages", ListOf(TurnSchema("role", {"system", "user", "assistant"}, "content"), 3)},
                    {"metadata", MetadataSchema()}});
      break;
    case TraceFormat::kShareGpt:
      schema =
          ObjectOf({{"id", Text()},
                    {"conversations", ListOf(TurnSchema("from", {"system", "human", "gpt"}, "value"), 3)},
                    {"metadata", MetadataSchema()}});
      break;
    case TraceFormat::kCodeAct:
      schema = CodeActSchema();
      break;
  }
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "gloveport trace, " + std::string(TraceFormatName(format));
  return schema;
}

Result<std::optional<Json>> TraceExporter::Line(const Json& run_file) {
  RETURN_IF_ERROR(CheckRunFile(run_file));
  const Json& run = MemberOf(run_file, "run");
  const Labels labels = LabelsOf(run);
  const auto steps = StepsOf(run, options_, labels);
  bool has_code = false;
  for (const Json& step : steps) has_code = has_code || HasCode(step);
  if (!has_code || (options_.only_successes && !labels.success) ||
      (options_.only_validated && !labels.validated)) {
    ++filtered_;
    return std::nullopt;
  }
  if (!given_.insert(HashOf(run, steps)).second && !options_.keep_duplicates) {
    ++duplicates_;
    return std::nullopt;
  }
  Json line;
  const Json metadata = MetadataOf(run_file, run, labels, steps.size());
  if (options_.format == TraceFormat::kCodeAct) {
    line = CodeActLine(run_file, run, steps);
    for (const char* label : {"model", "policy", "stop_reason", "success", "validated"})
      line[label] = metadata[label];
  } else {
    line = options_.format == TraceFormat::kOpenAiChat ? ChatLine(run_file, steps)
                                                       : ShareGptLine(run_file, steps);
    line["metadata"] = metadata;
  }
  return std::optional<Json>(Redacted(options_.redactor, line));
}

}  // namespace gloveport
