// numpy arrays as parameters and results of tools, without a copy on the way in.
//
//   C++                                        Python
//   std::span<const T>, T a number or bool     numpy.ndarray of that dtype, one dimension
//   NdarrayView                                numpy.ndarray of any dtype with bytes, any shape
//
// As a parameter both are views into the arguments and valid during the call. A result is copied once.
#ifndef GLOVEPORT_TOOLS_ARRAY_TYPE_H_
#define GLOVEPORT_TOOLS_ARRAY_TYPE_H_

#include <span>
#include <string>
#include <type_traits>

#include "gloveport/core/wire/ndarray_view.h"
#include "gloveport/tools/tool_type.h"

namespace gloveport {

namespace tool_type_internal {

// The array; WrongType that says how to make one where `value` is none.
Result<NdarrayView> ArrayFrom(const Value& value, const ValuePlace& place, std::string_view dtype);
// The array with one dimension and items of this dtype.
Result<NdarrayView> VectorFrom(const Value& value, const ValuePlace& place, std::string_view dtype);
Value NumberArraySchema(std::string_view item_type);  // "" for any

template <typename T>
constexpr std::string_view ItemType() {
  return std::is_same_v<T, bool> ? "boolean" : std::is_floating_point_v<T> ? "number" : "integer";
}

}  // namespace tool_type_internal

template <typename T>
struct ToolType<std::span<const T>, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static std::string Annotation() { return "numpy.ndarray"; }
  static Value Schema() { return tool_type_internal::NumberArraySchema(tool_type_internal::ItemType<T>()); }
  static Result<std::span<const T>> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const NdarrayView view, tool_type_internal::VectorFrom(value, place, NumpyDtype<T>()));
    return view.As<T>();
  }
  static Value ToValue(std::span<const T> items) { return MakeNdarray(items); }
};

template <>
struct ToolType<NdarrayView> {
  static std::string Annotation() { return "numpy.ndarray"; }
  static Value Schema() { return tool_type_internal::NumberArraySchema(""); }
  static Result<NdarrayView> FromValue(const Value& value, const ValuePlace& place) {
    return tool_type_internal::ArrayFrom(value, place, "");
  }
  static Value ToValue(const NdarrayView& view) {
    return MakeNdarray(view.dtype(), view.shape(), view.bytes());
  }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_ARRAY_TYPE_H_
