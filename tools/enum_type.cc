#include "gloveport/tools/enum_type.h"

#include <algorithm>

#include "gloveport/tools/python_literal.h"

namespace gloveport::tool_type_internal {

std::string EnumAnnotation(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "" : ", ") + PythonLiteral(Value(name));
  return "Literal[" + out + "]";
}

Value EnumSchema(const std::vector<std::string_view>& names) {
  Value::List list;
  for (const std::string_view name : names) list.emplace_back(name);
  return Value::Object({{"enum", Value(std::move(list))}});
}

Result<std::size_t> EnumFrom(const Value& value, const ValuePlace& place,
                             const std::vector<std::string_view>& names) {
  const auto position = [&](const Value* text) {
    const auto found = text != nullptr && text->is_text()
                           ? std::find(names.begin(), names.end(), text->as_text())
                           : names.end();
    return static_cast<std::size_t>(found - names.begin());
  };
  std::size_t at = position(&value);
  if (value.is(Form::kEnum)) {
    at = position(value.payload().Find("value"));
    if (at == names.size()) at = position(value.payload().Find("name"));
  }
  if (at == names.size()) return WrongType(place, EnumAnnotation(names), value);
  return at;
}

}  // namespace gloveport::tool_type_internal
