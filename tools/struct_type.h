// Structs as parameters and results of tools: dicts in Python. Describe the fields beside the struct, in its
// own namespace:
//
//   struct Campaign {
//     std::string name;
//     int contacts = 0;
//     std::optional<double> budget;
//   };
//   constexpr auto ToolFields(const Campaign*) {
//     using gloveport::Field;
//     return std::make_tuple(Field("name", &Campaign::name, "as it is in the ledger"),
//                            Field("contacts", &Campaign::contacts, "people called"),
//                            Field("budget", &Campaign::budget, "EUR"));
//   }
//
// The struct must be default-constructible. A dict from Python must have every field but those of type
// std::optional, and no other key.
#ifndef GLOVEPORT_TOOLS_STRUCT_TYPE_H_
#define GLOVEPORT_TOOLS_STRUCT_TYPE_H_

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gloveport/tools/tool_type.h"

namespace gloveport {

template <typename Struct, typename T>
struct Field {
  using Type = T;
  constexpr Field(const char* field_name, T Struct::*field_member, const char* field_description = "")
      : name(field_name), member(field_member), description(field_description) {}

  const char* name;
  T Struct::*member;
  const char* description;
};

template <typename T>
concept DescribedStruct = std::is_class_v<T> && requires {
  ToolFields(static_cast<const T*>(nullptr));
};

namespace tool_type_internal {

// One field, with the type taken away.
struct FieldDoc {
  std::string_view name;
  std::string annotation;
  std::string_view description;
  bool required = true;
  Value schema;
};
std::string StructAnnotation(const std::vector<FieldDoc>& fields);  // "dict[str, float]", "dict[str, object]"
std::string StructDescription(const std::vector<FieldDoc>& fields);
Value StructSchema(const std::vector<FieldDoc>& fields);
// Checks that it is a dict with the required keys and no others.
Result<const Value::Map*> StructMembersFrom(const Value& value, const ValuePlace& place,
                                            const std::vector<FieldDoc>& fields);

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

}  // namespace tool_type_internal

template <typename T>
struct ToolType<T, std::enable_if_t<DescribedStruct<T>>> {
  static_assert(std::is_default_constructible_v<T>,
                "Gloveport: a struct with ToolFields needs a default constructor");

  static std::string Annotation() { return tool_type_internal::StructAnnotation(Docs()); }
  static std::string Description() { return tool_type_internal::StructDescription(Docs()); }
  static Value Schema() { return tool_type_internal::StructSchema(Docs()); }
  static Result<T> FromValue(const Value& value, const ValuePlace& place) {
    RETURN_IF_ERROR(tool_type_internal::StructMembersFrom(value, place, Docs()));
    T out{};
    Status status;
    std::apply(
        [&](const auto&... field) {
          ((status && (status = Take(value, place, field, out)).has_value()), ...);
        },
        Fields());
    if (!status) return tl::unexpected<Error>(std::move(status).error());
    return out;
  }
  static Value ToValue(const T& value) {
    Value out{Value::Map()};
    std::apply([&](const auto&... field) { (Put(value, field, out), ...); }, Fields());
    return out;
  }

 private:
  static constexpr auto Fields() { return ToolFields(static_cast<const T*>(nullptr)); }

  static std::vector<tool_type_internal::FieldDoc> Docs() {
    return std::apply(
        [](const auto&... field) { return std::vector<tool_type_internal::FieldDoc>{Doc(field)...}; },
        Fields());
  }
  template <typename F>
  static tool_type_internal::FieldDoc Doc(const Field<T, F>& field) {
    return {field.name, ToolType<F>::Annotation(), field.description, !tool_type_internal::kIsOptional<F>,
            ToolType<F>::Schema()};
  }
  template <typename F>
  static Status Take(const Value& value, const ValuePlace& place, const Field<T, F>& field, T& out) {
    const Value* member = value.Find(field.name);
    if (member == nullptr) return {};  // was optional
    ASSIGN_OR_RETURN(out.*field.member, ToolType<F>::FromValue(*member, ValuePlace(place, field.name)));
    return {};
  }
  template <typename F>
  static void Put(const T& value, const Field<T, F>& field, Value& out) {
    out.Set(field.name, ToolType<F>::ToValue(value.*field.member));
  }
};

namespace tool_type_internal {

// The keys of the struct that T is or holds, for descriptions; empty where there is none.
template <typename T>
struct KeysOf {
  static std::string Text() { return ""; }
};
template <DescribedStruct T>
struct KeysOf<T> {
  static std::string Text() { return ToolType<T>::Description(); }
};
std::string EachOf(std::string_view what,
                   std::string inner);  // "each a dict {...}"; empty for an empty inner
template <typename T>
struct KeysOf<std::optional<T>> : KeysOf<T> {};
template <typename... T>
struct KeysOf<std::variant<T...>> {
  static std::string Text() {
    std::string out;
    ((out += (out.empty() || KeysOf<T>::Text().empty() ? "" : ", or ") + KeysOf<T>::Text()), ...);
    return out;
  }
};
template <typename T>
struct KeysOf<std::vector<T>> {
  static std::string Text() { return EachOf("each", KeysOf<T>::Text()); }
};
template <typename T, std::size_t kSize>
struct KeysOf<std::array<T, kSize>> : KeysOf<std::vector<T>> {};
template <typename T>
struct KeysOf<std::map<std::string, T>> {
  static std::string Text() { return EachOf("each value", KeysOf<T>::Text()); }
};
template <typename T>
struct KeysOf<std::unordered_map<std::string, T>> : KeysOf<std::map<std::string, T>> {};

}  // namespace tool_type_internal

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_STRUCT_TYPE_H_
