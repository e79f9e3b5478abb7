// std::variant as a parameter or result of a tool: a union in Python, `int | str`. An argument becomes the
// first alternative that holds it exactly (3 an integer, 3.0 a double, whatever their order), else the first
// that takes it. std::monostate is None.
#ifndef GLOVEPORT_TOOLS_VARIANT_TYPE_H_
#define GLOVEPORT_TOOLS_VARIANT_TYPE_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gloveport/tools/tool_type.h"

namespace gloveport {

namespace tool_type_internal {

std::string UnionAnnotation(const std::vector<std::string>& alternatives);
Value UnionSchema(Value::List alternatives);

}  // namespace tool_type_internal

template <typename... T>
struct ToolType<std::variant<T...>> {
  using Variant = std::variant<T...>;

  static std::string Annotation() {
    return tool_type_internal::UnionAnnotation({ToolType<T>::Annotation()...});
  }
  static Value Schema() { return tool_type_internal::UnionSchema({ToolType<T>::Schema()...}); }
  static Result<Variant> FromValue(const Value& value, const ValuePlace& place) {
    std::optional<Variant> exact;
    std::optional<Variant> taken;
    (Try<T>(value, place, exact, taken), ...);
    if (exact) return std::move(*exact);
    if (taken) return std::move(*taken);
    return WrongType(place, Annotation(), value);
  }
  static Value ToValue(const Variant& value) {
    return std::visit([](const auto& held) { return ToolType<std::decay_t<decltype(held)>>::ToValue(held); },
                      value);
  }

 private:
  template <typename Alternative>
  static void Try(const Value& value, const ValuePlace& place, std::optional<Variant>& exact,
                  std::optional<Variant>& taken) {
    if (exact) return;
    auto held = ToolType<Alternative>::FromValue(value, place);
    if (!held) return;
    if (ToolType<Alternative>::ToValue(*held) == value) {
      exact = Variant(std::in_place_type<Alternative>, std::move(*held));
    } else if (!taken) {
      taken = Variant(std::in_place_type<Alternative>, std::move(*held));
    }
  }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_VARIANT_TYPE_H_
