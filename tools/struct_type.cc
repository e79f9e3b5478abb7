#include "gloveport/tools/struct_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "gloveport/tools/python_literal.h"

namespace gloveport::tool_type_internal {

std::string StructAnnotation(const std::vector<FieldDoc>& fields) {
  const bool uniform =
      !fields.empty() && std::all_of(fields.begin(), fields.end(), [&](const FieldDoc& field) {
        return field.annotation == fields.front().annotation;
      });
  return fmt::format("dict[str, {}]", uniform ? fields.front().annotation : "object");
}

std::string StructDescription(const std::vector<FieldDoc>& fields) {
  std::string out;
  for (const FieldDoc& field : fields) {
    out += fmt::format("{}'{}': {}", out.empty() ? "" : ", ", field.name, field.annotation);
    if (!field.required) out += ", may be left out";
    if (!field.description.empty()) out += fmt::format(" ({})", field.description);
  }
  return fmt::format("a dict {{{}}}", out);
}

std::string EachOf(std::string_view what, std::string inner) {
  return inner.empty() ? inner : fmt::format("{} {}", what, inner);
}

Value StructSchema(const std::vector<FieldDoc>& fields) {
  Value properties{Value::Map()};
  Value::List required;
  for (const FieldDoc& field : fields) {
    Value schema = field.schema;
    if (!field.description.empty()) schema.Set("description", Value(field.description));
    properties.Set(field.name, std::move(schema));
    if (field.required) required.emplace_back(field.name);
  }
  Value schema = TypeSchema("object");
  schema.Set("properties", std::move(properties));
  if (!required.empty()) schema.Set("required", Value(std::move(required)));
  schema.Set("additionalProperties", Value(false));
  return schema;
}

Result<const Value::Map*> StructMembersFrom(const Value& value, const ValuePlace& place,
                                            const std::vector<FieldDoc>& fields) {
  ASSIGN_OR_RETURN(const Value::Map* members, MembersFrom(value, place, StructAnnotation(fields)));
  const std::string wanted = StructDescription(fields);
  for (const auto& [key, member] : *members) {
    const auto same = [&key = key](const FieldDoc& field) { return field.name == key.as_text(); };
    if (std::none_of(fields.begin(), fields.end(), same)) {
      return WrongValue(place, fmt::format("unknown key {}; expected {}", ShortLiteral(key), wanted));
    }
  }
  for (const FieldDoc& field : fields) {
    if (field.required && value.Find(field.name) == nullptr) {
      return WrongValue(place, fmt::format("key '{}' is missing; expected {}", field.name, wanted));
    }
  }
  return members;
}

}  // namespace gloveport::tool_type_internal
