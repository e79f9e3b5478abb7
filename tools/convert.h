// Values to C++ and back with the types that tools use (tool_type.h): for answers, variables and arguments
// that are taken by hand.
//
//   ASSIGN_OR_RETURN(const auto rates, ValueTo<std::map<std::string, double>>(result.value));
//   session->SetVariable("limits", ValueOf(std::vector<int>{1, 2, 3}));
#ifndef GLOVEPORT_TOOLS_CONVERT_H_
#define GLOVEPORT_TOOLS_CONVERT_H_

#include <string_view>
#include <type_traits>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/array_type.h"
#include "gloveport/tools/enum_type.h"
#include "gloveport/tools/struct_type.h"
#include "gloveport/tools/time_type.h"
#include "gloveport/tools/tool_type.h"
#include "gloveport/tools/variant_type.h"

namespace gloveport {

// kInvalidArgument, with the place inside of the value, what was expected and what came: "value['may']:
// expected float, got str 'x'". Views (std::string_view, std::span, NdarrayView) look into `value`.
template <typename T>
Result<T> ValueTo(const Value& value) {
  return ToolType<T>::FromValue(value, ValuePlace::Root("value"));
}
template <typename T>
Result<T> ValueTo(Value&&) = delete;  // a view would outlive it

template <typename T>
Value ValueOf(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return ToolType<std::string_view>::ToValue(value);
  } else {
    return ToolType<T>::ToValue(value);
  }
}

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_CONVERT_H_
