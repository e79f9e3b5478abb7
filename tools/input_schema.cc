#include "gloveport/tools/input_schema.h"

#include <utility>

namespace gloveport {

Value InputSchema(const ToolSpec& spec) {
  Value properties{Value::Map()};
  Value::List required;
  for (const Parameter& parameter : spec.parameters) {
    Value schema = parameter.schema.is_map() ? parameter.schema : Value(Value::Map());
    if (!parameter.description.empty() && !schema.Find("description"))
      schema.Set("description", Value(parameter.description));
    if (!parameter.default_value && parameter.kind == ParameterKind::kPlain)
      required.emplace_back(parameter.name);
    if (parameter.default_value && !schema.Find("default")) schema.Set("default", *parameter.default_value);
    properties.Set(parameter.name, std::move(schema));
  }
  Value schema = Value::Object({{"type", "object"}, {"properties", std::move(properties)}});
  if (!required.empty()) schema.Set("required", Value(std::move(required)));
  schema.Set("additionalProperties", Value(false));
  return schema;
}

}  // namespace gloveport
