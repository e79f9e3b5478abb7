// ToolType<T>: how a C++ type crosses between a cell and a tool. BindFunction (binding.h) uses it for every
// parameter and result; include this file only to teach Gloveport a type of your own.
//
//   C++                                        Python              from Python also taken
//   bool                                       bool
//   (un)signed char ... (unsigned) long long   int                 a float without fraction; checked for
//   range float, double                              float               int std::string, std::string_view
//   str Value::Bytes (std::vector<std::byte>)      bytes               bytearray std::vector<T> list[T]
//   tuple; a numpy array for numbers std::array<T, N>                           list[T], N items    as
//   std::vector std::pair, std::tuple                      tuple[...]          a list of that length
//   std::map<std::string, T>, unordered_map    dict[str, T]
//   std::optional<T>                           T | None
//   std::monostate                             None
//   BigInt                                     int, of any size
//   Value                                      object              everything
//   a struct with ToolFields                   dict                see struct_type.h
//   an enum with ToolEnum                      Literal['a', 'b']   see enum_type.h
//   std::variant<A, B>                         A | B               see variant_type.h
//   std::chrono durations, times and dates     datetime.timedelta  see time_type.h
//
// Every function is pure. FromValue fails with kInvalidArgument and a message that names the place, what was
// expected and what came.
#ifndef GLOVEPORT_TOOLS_TOOL_TYPE_H_
#define GLOVEPORT_TOOLS_TOOL_TYPE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

// Where a value stands inside the arguments of a call, for messages: "argument 'points'[2]['x']".
class ValuePlace {
 public:
  explicit ValuePlace(std::string_view parameter) : key_(parameter) {}
  static ValuePlace Root(std::string_view name) {  // for a value that is no argument: "value[2]"
    ValuePlace place(name);
    place.is_root_ = true;
    return place;
  }
  ValuePlace(const ValuePlace& parent, std::size_t index) : parent_(&parent), index_(index) {}
  ValuePlace(const ValuePlace& parent, std::string_view key) : parent_(&parent), key_(key), is_key_(true) {}

  std::string ToText() const;

 private:
  const ValuePlace* parent_ = nullptr;  // must outlive this
  std::string_view key_;
  std::size_t index_ = 0;
  bool is_key_ = false;
  bool is_root_ = false;
};

// "argument 'contacts': expected int, got str 'many'".
tl::unexpected<Error> WrongType(const ValuePlace& place, std::string_view expected, const Value& got);
tl::unexpected<Error> WrongValue(const ValuePlace& place, std::string_view problem);

// A specialisation has these four members.
template <typename T, typename = void>
struct ToolType {
  static_assert(
      sizeof(T) == 0,
      "Gloveport: this type cannot be a parameter or result of a tool. Use bool, an integer, double, "
      "std::string, std::vector, std::array, std::map<std::string, T>, std::optional, std::variant, "
      "std::tuple, "
      "std::chrono types, Value, an enum named by ToolEnum (see gloveport/tools/enum_type.h), or a struct "
      "described by ToolFields (see gloveport/tools/struct_type.h)");
  static std::string Annotation();  // as Python writes it
  static Value Schema();            // JSON Schema 2020-12, a Map
  static Result<T> FromValue(const Value& value, const ValuePlace& place);
  static Value ToValue(const T& value);
};

namespace tool_type_internal {

template <typename T>
inline constexpr bool kIsInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
    !std::is_same_v<T, char32_t> && sizeof(T) <= sizeof(std::int64_t);

// What the templates below have in common, compiled once.
Result<bool> BoolFrom(const Value& value, const ValuePlace& place);
Result<std::int64_t> SignedFrom(const Value& value, const ValuePlace& place, std::int64_t least,
                                std::int64_t most);
Result<std::uint64_t> UnsignedFrom(const Value& value, const ValuePlace& place, std::uint64_t most);
Result<double> DoubleFrom(const Value& value, const ValuePlace& place, double largest);
Result<std::string_view> TextFrom(const Value& value, const ValuePlace& place);
Result<Value::Bytes> BytesFrom(const Value& value, const ValuePlace& place);
Result<BigInt> BigIntFrom(const Value& value, const ValuePlace& place);
// The items of a list or tuple; nullptr for anything else.
const Value::List* ItemsOf(const Value& value);
Result<const Value::List*> ItemsFrom(const Value& value, const ValuePlace& place, std::string_view expected);
Result<const Value::List*> ItemsFrom(const Value& value, const ValuePlace& place, std::string_view expected,
                                     std::size_t size);
// The numbers of a one-dimensional numpy array, as a list; nothing where `value` is none.
std::optional<Value::List> NumbersOfArray(const Value& value);
// Checks that it is a dict and all its keys are text.
Result<const Value::Map*> MembersFrom(const Value& value, const ValuePlace& place, std::string_view expected);

Value TextValue(std::string_view text);  // invalid UTF-8 becomes U+FFFD
Value TypeSchema(std::string_view type);
Value RangeSchema(Value minimum, Value maximum);
Value ArraySchema(Value items);
Value ArraySchema(Value items, std::size_t size);
Value TupleSchema(Value::List items);
Value DictSchema(Value values);
Value OptionalSchema(Value inner);
std::string Generic(std::string_view name, std::string_view inner);  // "list[float]"; "list" for object

}  // namespace tool_type_internal

template <>
struct ToolType<bool> {
  static std::string Annotation() { return "bool"; }
  static Value Schema() { return tool_type_internal::TypeSchema("boolean"); }
  static Result<bool> FromValue(const Value& value, const ValuePlace& place) {
    return tool_type_internal::BoolFrom(value, place);
  }
  static Value ToValue(bool value) { return Value(value); }
};

template <typename T>
struct ToolType<T, std::enable_if_t<tool_type_internal::kIsInteger<T>>> {
  using Limits = std::numeric_limits<T>;

  static std::string Annotation() { return "int"; }
  static Value Schema() {
    if constexpr (sizeof(T) == sizeof(std::int64_t)) {
      if constexpr (std::is_signed_v<T>) return tool_type_internal::TypeSchema("integer");
      return tool_type_internal::RangeSchema(Value(0), Value());
    } else {
      return tool_type_internal::RangeSchema(Value(std::int64_t{Limits::min()}),
                                             Value(std::int64_t{Limits::max()}));
    }
  }
  static Result<T> FromValue(const Value& value, const ValuePlace& place) {
    if constexpr (std::is_signed_v<T>) {
      ASSIGN_OR_RETURN(const auto number,
                       tool_type_internal::SignedFrom(value, place, Limits::min(), Limits::max()));
      return static_cast<T>(number);
    } else {
      ASSIGN_OR_RETURN(const auto number, tool_type_internal::UnsignedFrom(value, place, Limits::max()));
      return static_cast<T>(number);
    }
  }
  static Value ToValue(T value) {
    if constexpr (std::is_signed_v<T>) return Value(static_cast<std::int64_t>(value));
    return Value(static_cast<std::uint64_t>(value));
  }
};

template <typename T>
struct ToolType<T, std::enable_if_t<std::is_same_v<T, float> || std::is_same_v<T, double>>> {
  static std::string Annotation() { return "float"; }
  static Value Schema() { return tool_type_internal::TypeSchema("number"); }
  static Result<T> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const double number,
                     tool_type_internal::DoubleFrom(value, place, std::numeric_limits<T>::max()));
    return static_cast<T>(number);
  }
  static Value ToValue(T value) { return Value(static_cast<double>(value)); }
};

template <>
struct ToolType<std::string_view> {
  static std::string Annotation() { return "str"; }
  static Value Schema() { return tool_type_internal::TypeSchema("string"); }
  // A view into `value`: as a parameter it is valid during the call.
  static Result<std::string_view> FromValue(const Value& value, const ValuePlace& place) {
    return tool_type_internal::TextFrom(value, place);
  }
  static Value ToValue(std::string_view value) { return tool_type_internal::TextValue(value); }
};

template <>
struct ToolType<std::string> : ToolType<std::string_view> {
  static Result<std::string> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const auto text, tool_type_internal::TextFrom(value, place));
    return std::string(text);
  }
};

template <>
struct ToolType<Value::Bytes> {
  static std::string Annotation() { return "bytes"; }
  static Value Schema() { return Value::Object({{"type", "string"}, {"contentEncoding", "base64"}}); }
  static Result<Value::Bytes> FromValue(const Value& value, const ValuePlace& place) {
    return tool_type_internal::BytesFrom(value, place);
  }
  static Value ToValue(Value::Bytes value) { return Value(std::move(value)); }
};

template <>
struct ToolType<BigInt> {
  static std::string Annotation() { return "int"; }
  static Value Schema() { return tool_type_internal::TypeSchema("integer"); }
  static Result<BigInt> FromValue(const Value& value, const ValuePlace& place) {
    return tool_type_internal::BigIntFrom(value, place);
  }
  static Value ToValue(const BigInt& value);
};

template <>
struct ToolType<std::monostate> {
  static std::string Annotation() { return "None"; }
  static Value Schema() { return tool_type_internal::TypeSchema("null"); }
  static Result<std::monostate> FromValue(const Value& value, const ValuePlace& place) {
    if (!value.is_null()) return WrongType(place, "None", value);
    return std::monostate();
  }
  static Value ToValue(std::monostate) { return Value(); }
};

template <>
struct ToolType<Value> {
  static std::string Annotation() { return "object"; }
  static Value Schema() { return Value(Value::Map()); }
  static Result<Value> FromValue(const Value& value, const ValuePlace&) { return value; }
  static Value ToValue(Value value) { return value; }
};

template <>
struct ToolType<Value::Map> {  // keys of any kind
  static std::string Annotation() { return "dict"; }
  static Value Schema() { return tool_type_internal::TypeSchema("object"); }
  static Result<Value::Map> FromValue(const Value& value, const ValuePlace& place) {
    if (!value.is_map()) return WrongType(place, "dict", value);
    return value.as_map();
  }
  static Value ToValue(Value::Map value) { return Value(std::move(value)); }
};

template <typename T>
struct ToolType<std::vector<T>> {
  static std::string Annotation() { return tool_type_internal::Generic("list", ToolType<T>::Annotation()); }
  static Value Schema() { return tool_type_internal::ArraySchema(ToolType<T>::Schema()); }
  static Result<std::vector<T>> FromValue(const Value& value, const ValuePlace& place) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (const auto numbers = tool_type_internal::NumbersOfArray(value)) return FromItems(*numbers, place);
    }
    ASSIGN_OR_RETURN(const auto* items, tool_type_internal::ItemsFrom(value, place, Annotation()));
    return FromItems(*items, place);
  }
  static Value ToValue(const std::vector<T>& value) {
    Value::List list;
    list.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) list.push_back(ToolType<T>::ToValue(value[i]));
    return Value(std::move(list));
  }

 private:
  static Result<std::vector<T>> FromItems(const Value::List& items, const ValuePlace& place) {
    std::vector<T> out;
    out.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      ASSIGN_OR_RETURN(T item, ToolType<T>::FromValue(items[i], ValuePlace(place, i)));
      out.push_back(std::move(item));
    }
    return out;
  }
};

template <typename T, std::size_t kSize>
struct ToolType<std::array<T, kSize>> {
  static_assert(std::is_default_constructible_v<T>,
                "Gloveport: the items of a std::array need a default constructor");

  static std::string Annotation() { return tool_type_internal::Generic("list", ToolType<T>::Annotation()); }
  static Value Schema() { return tool_type_internal::ArraySchema(ToolType<T>::Schema(), kSize); }
  static Result<std::array<T, kSize>> FromValue(const Value& value, const ValuePlace& place) {
    const std::optional<Value::List> numbers =
        std::is_arithmetic_v<T> ? tool_type_internal::NumbersOfArray(value) : std::nullopt;
    const Value as_list = numbers ? Value(*numbers) : Value();
    ASSIGN_OR_RETURN(const auto* items,
                     tool_type_internal::ItemsFrom(numbers ? as_list : value, place, Annotation(), kSize));
    std::array<T, kSize> out{};
    for (std::size_t i = 0; i < kSize; ++i) {
      ASSIGN_OR_RETURN(out[i], ToolType<T>::FromValue((*items)[i], ValuePlace(place, i)));
    }
    return out;
  }
  static Value ToValue(const std::array<T, kSize>& value) {
    Value::List list;
    for (const T& item : value) list.push_back(ToolType<T>::ToValue(item));
    return Value(std::move(list));
  }
};

namespace tool_type_internal {

// std::map and std::unordered_map with text keys.
template <typename Dict>
struct DictType {
  using T = typename Dict::mapped_type;

  static std::string Annotation() { return "dict[str, " + ToolType<T>::Annotation() + "]"; }
  static Value Schema() { return DictSchema(ToolType<T>::Schema()); }
  static Result<Dict> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const auto* members, MembersFrom(value, place, Annotation()));
    Dict out;
    for (const auto& [key, member] : *members) {
      ASSIGN_OR_RETURN(T item, ToolType<T>::FromValue(member, ValuePlace(place, key.as_text())));
      out.insert_or_assign(key.as_text(), std::move(item));
    }
    return out;
  }
  static Value ToValue(const Dict& value) {
    Value::Map map;
    for (const auto& [key, item] : value) map.emplace_back(TextValue(key), ToolType<T>::ToValue(item));
    return Value(std::move(map));
  }
};

// std::pair and std::tuple.
template <typename Tuple, typename... T>
struct TupleType {
  static std::string Annotation() {
    std::string out;
    ((out += (out.empty() ? "" : ", ") + ToolType<T>::Annotation()), ...);
    return "tuple[" + (out.empty() ? "()" : out) + "]";
  }
  static Value Schema() { return TupleSchema({ToolType<T>::Schema()...}); }
  static Result<Tuple> FromValue(const Value& value, const ValuePlace& place) {
    ASSIGN_OR_RETURN(const auto* items, ItemsFrom(value, place, Annotation(), sizeof...(T)));
    return FromItems(*items, place, std::index_sequence_for<T...>());
  }
  static Value ToValue(const Tuple& value) {
    return std::apply(
        [](const T&... item) {
          return Value(Form::kTuple, Value(Value::List{ToolType<T>::ToValue(item)...}));
        },
        value);
  }

 private:
  template <std::size_t... kIndex>
  static Result<Tuple> FromItems(const Value::List& items, const ValuePlace& place,
                                 std::index_sequence<kIndex...>) {
    std::tuple<Result<T>...> parts{ToolType<T>::FromValue(items[kIndex], ValuePlace(place, kIndex))...};
    const Error* error = nullptr;
    ((error = error == nullptr && !std::get<kIndex>(parts) ? &std::get<kIndex>(parts).error() : error), ...);
    if (error != nullptr) return tl::unexpected<Error>(*error);
    return Tuple(std::move(*std::get<kIndex>(parts))...);
  }
};

}  // namespace tool_type_internal

template <typename T, typename Compare>
struct ToolType<std::map<std::string, T, Compare>>
    : tool_type_internal::DictType<std::map<std::string, T, Compare>> {};
template <typename T>
struct ToolType<std::unordered_map<std::string, T>>
    : tool_type_internal::DictType<std::unordered_map<std::string, T>> {};

template <typename A, typename B>
struct ToolType<std::pair<A, B>> : tool_type_internal::TupleType<std::pair<A, B>, A, B> {};
template <typename... T>
struct ToolType<std::tuple<T...>> : tool_type_internal::TupleType<std::tuple<T...>, T...> {};

template <typename T>
struct ToolType<std::optional<T>> {
  static std::string Annotation() {
    std::string inner = ToolType<T>::Annotation();
    return inner == "object" ? inner : inner + " | None";
  }
  static Value Schema() { return tool_type_internal::OptionalSchema(ToolType<T>::Schema()); }
  static Result<std::optional<T>> FromValue(const Value& value, const ValuePlace& place) {
    if (value.is_null()) return std::optional<T>();
    ASSIGN_OR_RETURN(T inner, ToolType<T>::FromValue(value, place));
    return std::optional<T>(std::move(inner));
  }
  static Value ToValue(const std::optional<T>& value) {
    return value ? ToolType<T>::ToValue(*value) : Value();
  }
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_TOOL_TYPE_H_
