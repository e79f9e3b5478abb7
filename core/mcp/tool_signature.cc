#include "gloveport/core/mcp/tool_signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/json_rpc.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/mcp/python_names.h"
#include "gloveport/core/mcp/schema_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxDefaultBytes = 512;
constexpr std::size_t kMaxParameterTextBytes = 1000;

struct Candidate {
  Parameter parameter;
  McpSignature::Sent sent;
};

bool IsRequired(const Json& schema, const std::string& key) {
  const Json& required = MemberOf(schema, "required");
  return required.is_array() && std::find(required.begin(), required.end(), Json(key)) != required.end();
}

std::string ParameterText(const Json& schema) {
  std::string text = CleanText(TextOf(schema, "description"), kMaxParameterTextBytes);
  const std::string keys = KeysText(schema);
  if (keys.empty()) return text;
  return text.empty() ? keys : fmt::format("{} ({})", text, keys);
}

// Gives the parameter the default that the schema names, else None for "not sent".
void SetDefault(const Json& schema, Candidate& candidate) {
  const Json* value = Member(schema, "default");
  Parameter& parameter = candidate.parameter;
  if (value != nullptr && DumpJson(*value).size() <= kMaxDefaultBytes) {
    parameter.default_value = ValueOfPlainJson(*value);
    return;
  }
  candidate.sent.omit_none = true;
  parameter.default_value = Value();
  parameter.schema = ValueOfPlainJson(OrNull(schema));
  if (!AcceptsNull(schema)) parameter.annotation += " | None";
}

Candidate MakeCandidate(const std::string& name, const Json& given, const Json& root, InlineBudget& budget,
                        std::set<std::string>& taken) {
  const Json schema = given.is_object() ? InlineReferences(given, root, budget) : Json::object();
  Candidate candidate;
  candidate.sent.original = name;
  candidate.sent.python = ParameterName(name, taken);
  candidate.parameter.name = candidate.sent.python;
  candidate.parameter.annotation = AnnotationOf(schema);
  candidate.parameter.description = ParameterText(schema);
  candidate.parameter.schema = ValueOfPlainJson(schema);
  if (!IsRequired(root, name)) SetDefault(schema, candidate);
  return candidate;
}

// Whether arguments besides the named ones are wanted. A schema that is silent about it takes none in
// practice, although JSON Schema would.
bool TakesMore(const Json& schema, bool has_properties) {
  const Json& more = MemberOf(schema, "additionalProperties");
  if (more.is_object() || (more.is_boolean() && more.get<bool>())) return true;
  if (has_properties) return false;
  return std::any_of(schema.items().begin(), schema.items().end(), [](const auto& item) {
    return item.key() == "anyOf" || item.key() == "oneOf" || item.key() == "allOf" || item.key() == "$ref";
  });
}

Parameter Rest(const std::string& name) {
  Parameter rest;
  rest.name = name;
  rest.description = "further arguments, by name";
  rest.annotation = "object";
  rest.schema = Value::Object({{"type", "object"}});
  rest.kind = ParameterKind::kKeywordVariadic;
  return rest;
}

bool IsFlat(const Json& schema) {
  const Json& properties = MemberOf(schema, "properties");
  return std::all_of(properties.begin(), properties.end(), [](const Json& property) {
    const std::string annotation = AnnotationOf(property);
    return annotation.find("dict") == std::string::npos && annotation.find("object") == std::string::npos;
  });
}

void SetReturns(const McpToolInfo& tool, ToolSpec& spec) {
  spec.returns = "object";
  if (!tool.output_schema) {
    spec.returns_description =
        "text; an image, a resource or a list of such things where the server sends them";
    return;
  }
  const Json schema = InlineReferences(*tool.output_schema, *tool.output_schema);
  spec.returns = AnnotationOf(schema);
  spec.returns_description = KeysText(schema);
  // The keys of a flat dict are all that there is to say.
  if (spec.returns_description.empty() || !IsFlat(schema)) spec.returns_schema = ValueOfPlainJson(schema);
  if (spec.returns_description.empty()) spec.returns_description = "structured data";
}

}  // namespace

McpSignature MakeSignature(const McpToolInfo& tool, std::string_view python_name, const McpLimits& limits) {
  McpSignature signature;
  signature.spec.name = python_name;
  signature.spec.description =
      tool.description.empty() ? "MCP tool " + CleanLine(tool.name, 64) : tool.description;
  SetReturns(tool, signature.spec);
  const Json& schema = tool.input_schema;
  const Json& properties = MemberOf(schema, "properties");
  const bool listed = properties.is_object() && !properties.empty();
  const bool too_many = listed && properties.size() > limits.max_parameters;
  std::set<std::string> taken;
  InlineBudget budget;  // of all parameters together
  std::vector<Candidate> required;
  std::vector<Candidate> optional;
  if (listed && !too_many) {
    for (const auto& [name, property] : properties.items()) {
      Candidate candidate = MakeCandidate(name, property, schema, budget, taken);
      (candidate.parameter.default_value ? optional : required).push_back(std::move(candidate));
    }
  }
  for (auto* group : {&required, &optional}) {
    for (Candidate& candidate : *group) {
      signature.sent.push_back(std::move(candidate.sent));
      signature.spec.parameters.push_back(std::move(candidate.parameter));
    }
  }
  if (too_many || TakesMore(schema, listed)) {
    signature.rest = ParameterName("arguments", taken);
    signature.spec.parameters.push_back(Rest(signature.rest));
  }
  return signature;
}

// ---- arguments ----

namespace {

tl::unexpected<Error> NoJson(const Value& value, const std::string& place, std::string hint = "") {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} has no form in JSON", place, value.TypeName()),
              hint.empty() ? "pass plain data: numbers, text, lists, dicts" : std::move(hint));
}

Result<Json> ListJson(const Value::List& list, const std::string& place) {
  Json json = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(Json item, PlainJsonOf(list[i], fmt::format("{}[{}]", place, i)));
    json.push_back(std::move(item));
  }
  return json;
}

Result<Json> MapJson(const Value::Map& map, const std::string& place) {
  Json json = Json::object();
  for (const auto& [key, value] : map) {
    if (!key.is_text()) return Fail(ErrorCode::kInvalidArgument, place + ": keys must be text");
    ASSIGN_OR_RETURN(json[key.as_text()], PlainJsonOf(value, fmt::format("{}['{}']", place, key.as_text())));
  }
  return json;
}

Result<Json> FormJson(const Value& value, const std::string& place) {
  const Value& payload = value.payload();
  switch (value.as_extended().form) {
    case Form::kTuple:
    case Form::kSet:
    case Form::kFrozenset:
      return PlainJsonOf(payload, place);
    case Form::kDatetime:
    case Form::kDate:
    case Form::kTime:
    case Form::kDecimal:
    case Form::kFraction:
    case Form::kUuid:
    case Form::kPath:
      if (payload.is_text()) return Json(payload.as_text());
      return NoJson(value, place, "pass its text, str(...)");
    case Form::kBytearray:
      if (payload.is_bytes()) return Json(EncodeBase64(payload.as_bytes()));
      return NoJson(value, place);
    case Form::kEnum:
      if (const Value* inner = payload.Find("value")) return PlainJsonOf(*inner, place);
      return NoJson(value, place);
    case Form::kDataclass:
      if (const Value* fields = payload.Find("fields")) return PlainJsonOf(*fields, place);
      return NoJson(value, place);
    case Form::kNdarray:
    case Form::kSeries:
      return NoJson(value, place, "pass a list, with .tolist()");
    case Form::kDataframe:
      return NoJson(value, place, "pass a list of dicts, with .to_dict(\"records\")");
    default:
      return NoJson(value, place);
  }
}

}  // namespace

Result<Json> PlainJsonOf(const Value& value, const std::string& place) {
  if (value.is_null()) return Json(nullptr);
  if (value.is_bool()) return Json(value.as_bool());
  if (value.is_int()) return Json(value.as_int());
  if (value.is_text()) return Json(value.as_text());
  if (value.is_bytes()) return Json(EncodeBase64(value.as_bytes()));
  if (value.is_list()) return ListJson(value.as_list(), place);
  if (value.is_map()) return MapJson(value.as_map(), place);
  if (value.is_extended()) return FormJson(value, place);
  if (value.is_double()) {
    if (std::isfinite(value.as_double())) return Json(value.as_double());
    return Fail(ErrorCode::kInvalidArgument, place + ": JSON has no NaN and no infinity");
  }
  return Fail(ErrorCode::kInvalidArgument, place + ": the integer is beyond 64 bits",
              "pass it as text, str(...)");
}

Result<Json> ArgumentsJson(const McpSignature& signature, const Arguments& arguments) {
  Json json = Json::object();
  if (!signature.rest.empty()) {
    if (const Value* rest = arguments.Find(signature.rest); rest != nullptr && rest->is_map()) {
      ASSIGN_OR_RETURN(json, MapJson(rest->as_map(), "arguments"));
    }
  }
  for (const McpSignature::Sent& sent : signature.sent) {
    const Value* value = arguments.Find(sent.python);
    if (value == nullptr || (sent.omit_none && value->is_null())) continue;
    ASSIGN_OR_RETURN(json[sent.original], PlainJsonOf(*value, fmt::format("argument '{}'", sent.python)));
  }
  return json;
}

}  // namespace gloveport
