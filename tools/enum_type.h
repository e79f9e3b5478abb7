// Enums as parameters and results of tools: texts in Python, `Literal['phone', 'mail']`. Name the values
// beside the enum, in its own namespace:
//
//   enum class Channel { kPhone, kMail };
//   constexpr auto ToolEnum(const Channel*) {
//     using gloveport::EnumName;
//     return std::array{EnumName("phone", Channel::kPhone), EnumName("mail", Channel::kMail)};
//   }
//
// A member of a Python Enum is taken too where its value, or else its name, is one of the texts.
#ifndef GLOVEPORT_TOOLS_ENUM_TYPE_H_
#define GLOVEPORT_TOOLS_ENUM_TYPE_H_

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "gloveport/tools/tool_type.h"

namespace gloveport {

template <typename E>
struct EnumName {
  constexpr EnumName(const char* text, E enum_value) : name(text), value(enum_value) {}
  const char* name;
  E value;
};

template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires {
  ToolEnum(static_cast<const T*>(nullptr));
};

namespace tool_type_internal {

std::string EnumAnnotation(const std::vector<std::string_view>& names);
Value EnumSchema(const std::vector<std::string_view>& names);
// The position in `names`.
Result<std::size_t> EnumFrom(const Value& value, const ValuePlace& place,
                             const std::vector<std::string_view>& names);

}  // namespace tool_type_internal

template <typename T>
struct ToolType<T, std::enable_if_t<NamedEnum<T>>> {
  static std::string Annotation() { return tool_type_internal::EnumAnnotation(Names()); }
  static Value Schema() { return tool_type_internal::EnumSchema(Names()); }
  static Result<T> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const std::size_t at, tool_type_internal::EnumFrom(value, place, Names()));
    return Members()[at].value;
  }
  // None for a value that has no name.
  static Value ToValue(T value) {
    for (const auto& member : Members()) {
      if (member.value == value) return Value(member.name);
    }
    return Value();
  }

 private:
  static constexpr auto Members() { return ToolEnum(static_cast<const T*>(nullptr)); }
  static std::vector<std::string_view> Names() {
    std::vector<std::string_view> names;
    for (const auto& member : Members()) names.push_back(member.name);
    return names;
  }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_ENUM_TYPE_H_
