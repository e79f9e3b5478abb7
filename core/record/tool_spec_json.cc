#include "gloveport/core/record/tool_spec_json.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

Json ParameterJson(const Parameter& parameter) {
  Json json = {{"name", parameter.name},
               {"description", parameter.description},
               {"annotation", parameter.annotation},
               {"schema", ToJson(parameter.schema)},
               {"kind", ParameterKindName(parameter.kind)}};
  if (parameter.default_value) json["default"] = ToJson(*parameter.default_value);
  return json;
}

Result<Parameter> ReadParameter(const Json& json) {
  if (!json.is_object()) return Fail(ErrorCode::kInvalidArgument, "a parameter that is no object");
  Parameter parameter;
  parameter.name = TextOf(json, "name");
  parameter.description = TextOf(json, "description");
  parameter.annotation = TextOf(json, "annotation");
  parameter.schema = Value(Value::Map());
  if (json.contains("schema")) {
    ASSIGN_OR_RETURN(parameter.schema, FromJson(json["schema"]));
  }
  if (json.contains("default")) {
    ASSIGN_OR_RETURN(parameter.default_value, FromJson(json["default"]));
  }
  for (const ParameterKind kind : {ParameterKind::kVariadic, ParameterKind::kKeywordVariadic}) {
    if (TextOf(json, "kind") == ParameterKindName(kind)) parameter.kind = kind;
  }
  return parameter;
}

}  // namespace

Json ToJson(const ToolSpec& spec) {
  Json parameters = Json::array();
  for (const Parameter& parameter : spec.parameters) parameters.push_back(ParameterJson(parameter));
  Json json = {{"name", spec.name},
               {"description", spec.description},
               {"parameters", std::move(parameters)},
               {"returns", spec.returns},
               {"returns_description", spec.returns_description},
               {"returns_schema", ToJson(spec.returns_schema)},
               {"async", spec.is_async}};
  if (spec.is_stream) json["stream"] = true;
  if (spec.timeout) json["timeout_s"] = std::chrono::duration<double>(*spec.timeout).count();
  return json;
}

Result<ToolSpec> ReadToolSpec(const Json& json) {
  if (!json.is_object() || TextOf(json, "name").empty())
    return Fail(ErrorCode::kInvalidArgument, "a tool without a name");
  ToolSpec spec;
  spec.name = TextOf(json, "name");
  spec.description = TextOf(json, "description");
  spec.returns = TextOf(json, "returns");
  spec.returns_description = TextOf(json, "returns_description");
  if (json.contains("returns_schema")) {
    ASSIGN_OR_RETURN(spec.returns_schema, FromJson(json["returns_schema"]));
  }
  spec.is_async = json.contains("async") && json["async"] == true;
  spec.is_stream = FlagOf(json, "stream");
  if (const auto timeout = json.find("timeout_s"); timeout != json.end() && timeout->is_number())
    spec.timeout = std::chrono::milliseconds(std::llround(timeout->get<double>() * 1000));
  const auto parameters = json.find("parameters");
  if (parameters == json.end()) return spec;
  for (const Json& parameter : *parameters) {
    ASSIGN_OR_RETURN(Parameter read, ReadParameter(parameter));
    spec.parameters.push_back(std::move(read));
  }
  return spec;
}

}  // namespace gloveport
