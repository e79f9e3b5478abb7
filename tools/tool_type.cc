#include "gloveport/tools/tool_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/python_literal.h"

namespace gloveport {

std::string ValuePlace::ToText() const {
  if (is_root_) return std::string(key_);
  if (parent_ == nullptr) return fmt::format("argument '{}'", key_);
  const std::string place = parent_->ToText();
  if (!is_key_) return fmt::format("{}[{}]", place, index_);
  return fmt::format("{}[{}]", place, ShortLiteral(Value(key_)));
}

tl::unexpected<Error> WrongType(const ValuePlace& place, std::string_view expected, const Value& got) {
  const std::string shown = got.is_null() ? "None" : fmt::format("{} {}", got.TypeName(), ShortLiteral(got));
  return WrongValue(place, fmt::format("expected {}, got {}", expected, shown));
}

tl::unexpected<Error> WrongValue(const ValuePlace& place, std::string_view problem) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", place.ToText(), problem));
}

Value ToolType<BigInt>::ToValue(const BigInt& value) {
  // Small numbers have one form only.
  if (value.magnitude.size() > 8) return Value(value);
  std::uint64_t magnitude = 0;
  for (const std::byte byte : value.magnitude)
    magnitude = magnitude << 8 | std::to_integer<std::uint64_t>(byte);
  if (!value.negative) return Value(magnitude);
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 63;
  if (magnitude > kLeast) return Value(value);
  return Value(static_cast<std::int64_t>(~magnitude + 1));
}

namespace tool_type_internal {
namespace {

tl::unexpected<Error> OutOfRange(const ValuePlace& place, const Value& value, const std::string& least,
                                 const std::string& most) {
  return WrongValue(place,
                    fmt::format("expected int from {} to {}, got {}", least, most, ShortLiteral(value)));
}

// The integer that a float without fraction stands for; nothing for any other float.
std::optional<std::int64_t> WholeOf(double number) {
  constexpr double kExact =
      9007199254740992.0;  // 2^53: beyond it a float no longer says which integer was meant
  if (number != std::floor(number) || std::fabs(number) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

double DoubleOf(const BigInt& number) {
  double magnitude = 0;
  for (const std::byte byte : number.magnitude) magnitude = magnitude * 256 + std::to_integer<int>(byte);
  return number.negative ? -magnitude : magnitude;
}

template <typename T>
void AppendNumbers(const Value::Bytes& data, Value::List& out) {
  for (std::size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    T number;
    std::memcpy(&number, data.data() + at, sizeof number);
    if constexpr (std::is_floating_point_v<T>)
      out.emplace_back(static_cast<double>(number));
    else if constexpr (std::is_signed_v<T>)
      out.emplace_back(static_cast<std::int64_t>(number));
    else
      out.emplace_back(static_cast<std::uint64_t>(number));
  }
}

struct Dtype {
  std::string_view name;
  std::size_t size;
  void (*append)(const Value::Bytes&, Value::List&);
};
constexpr Dtype kDtypes[] = {
    {"<f8", 8, AppendNumbers<double>},        {"<f4", 4, AppendNumbers<float>},
    {"<i8", 8, AppendNumbers<std::int64_t>},  {"<i4", 4, AppendNumbers<std::int32_t>},
    {"<i2", 2, AppendNumbers<std::int16_t>},  {"|i1", 1, AppendNumbers<std::int8_t>},
    {"<u8", 8, AppendNumbers<std::uint64_t>}, {"<u4", 4, AppendNumbers<std::uint32_t>},
    {"<u2", 2, AppendNumbers<std::uint16_t>}, {"|u1", 1, AppendNumbers<std::uint8_t>},
};

}  // namespace

Result<bool> BoolFrom(const Value& value, const ValuePlace& place) {
  if (!value.is_bool()) return WrongType(place, "bool", value);
  return value.as_bool();
}

Result<std::int64_t> SignedFrom(const Value& value, const ValuePlace& place, std::int64_t least,
                                std::int64_t most) {
  std::optional<std::int64_t> number;
  if (value.is_int()) number = value.as_int();
  if (value.is_double()) number = WholeOf(value.as_double());
  if (!number && !value.is_big_int()) return WrongType(place, "int", value);
  if (!number || *number < least || *number > most) {
    return OutOfRange(place, value, std::to_string(least), std::to_string(most));
  }
  return *number;
}

Result<std::uint64_t> UnsignedFrom(const Value& value, const ValuePlace& place, std::uint64_t most) {
  std::optional<std::int64_t> small;
  if (value.is_int()) small = value.as_int();
  if (value.is_double()) small = WholeOf(value.as_double());
  if (!small && !value.is_big_int()) return WrongType(place, "int", value);
  std::optional<std::uint64_t> number;
  if (small && *small >= 0) number = static_cast<std::uint64_t>(*small);
  if (value.is_big_int() && !value.as_big_int().negative && value.as_big_int().magnitude.size() <= 8) {
    number = 0;
    for (const std::byte byte : value.as_big_int().magnitude) {
      *number = *number << 8 | std::to_integer<std::uint64_t>(byte);
    }
  }
  if (!number || *number > most) return OutOfRange(place, value, "0", std::to_string(most));
  return *number;
}

Result<double> DoubleFrom(const Value& value, const ValuePlace& place, double largest) {
  double number = 0;
  if (value.is_double())
    number = value.as_double();
  else if (value.is_int())
    number = static_cast<double>(value.as_int());
  else if (value.is_big_int())
    number = DoubleOf(value.as_big_int());
  else
    return WrongType(place, "float", value);
  // An infinity that was given is one; a number that is too large must not become one.
  const bool infinite_given = value.is_double() && std::isinf(number);
  if (!infinite_given && std::fabs(number) > largest) {
    return WrongValue(place,
                      fmt::format("expected float, got {}, which is too large for one", ShortLiteral(value)));
  }
  return number;
}

Result<std::string_view> TextFrom(const Value& value, const ValuePlace& place) {
  if (value.is(Form::kStr)) {
    return WrongValue(place, "expected str, got a str with lone surrogates, which is no valid Unicode text");
  }
  if (!value.is_text()) return WrongType(place, "str", value);
  return std::string_view(value.as_text());
}

Result<Value::Bytes> BytesFrom(const Value& value, const ValuePlace& place) {
  if (value.is_bytes()) return value.as_bytes();
  if (value.is(Form::kBytearray) && value.payload().is_bytes()) return value.payload().as_bytes();
  return WrongType(place, "bytes", value);
}

Result<BigInt> BigIntFrom(const Value& value, const ValuePlace& place) {
  if (value.is_big_int()) return value.as_big_int();
  ASSIGN_OR_RETURN(const std::int64_t number,
                   SignedFrom(value, place, std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max()));
  return BigInt::FromDecimal(std::to_string(number));
}

const Value::List* ItemsOf(const Value& value) {
  if (value.is_list()) return &value.as_list();
  if (value.is(Form::kTuple) && value.payload().is_list()) return &value.payload().as_list();
  return nullptr;
}

Result<const Value::List*> ItemsFrom(const Value& value, const ValuePlace& place, std::string_view expected) {
  const Value::List* items = ItemsOf(value);
  if (items == nullptr) return WrongType(place, expected, value);
  return items;
}

Result<const Value::List*> ItemsFrom(const Value& value, const ValuePlace& place, std::string_view expected,
                                     std::size_t size) {
  ASSIGN_OR_RETURN(const Value::List* items, ItemsFrom(value, place, expected));
  if (items->size() == size) return items;
  return WrongValue(place,
                    fmt::format("expected {} with {} items, got {} items", expected, size, items->size()));
}

std::optional<Value::List> NumbersOfArray(const Value& value) {
  if (!value.is(Form::kNdarray)) return std::nullopt;
  const Value* shape = value.payload().Find("shape");
  const Value* data = value.payload().Find("data");
  const std::string dtype_name = value.payload().TextOr("dtype", "");
  if (shape == nullptr || !shape->is_list() || shape->as_list().size() != 1 || data == nullptr ||
      !data->is_bytes()) {
    return std::nullopt;
  }
  for (const Dtype& dtype : kDtypes) {
    if (dtype.name != dtype_name || data->as_bytes().size() % dtype.size != 0) continue;
    Value::List out;
    out.reserve(data->as_bytes().size() / dtype.size);
    dtype.append(data->as_bytes(), out);
    return out;
  }
  return std::nullopt;
}

Result<const Value::Map*> MembersFrom(const Value& value, const ValuePlace& place,
                                      std::string_view expected) {
  if (!value.is_map()) return WrongType(place, expected, value);
  for (const auto& [key, member] : value.as_map()) {
    if (!key.is_text()) {
      return WrongValue(place,
                        fmt::format("expected {}, got a dict with the key {}", expected, ShortLiteral(key)));
    }
  }
  return &value.as_map();
}

Value TextValue(std::string_view text) {
  return Value(IsValidUtf8(text) ? std::string(text) : ToValidUtf8(text));
}

Value TypeSchema(std::string_view type) { return Value::Object({{"type", Value(type)}}); }

Value RangeSchema(Value minimum, Value maximum) {
  Value schema = TypeSchema("integer");
  schema.Set("minimum", std::move(minimum));
  if (!maximum.is_null()) schema.Set("maximum", std::move(maximum));
  return schema;
}

Value ArraySchema(Value items) {
  Value schema = TypeSchema("array");
  schema.Set("items", std::move(items));
  return schema;
}

Value ArraySchema(Value items, std::size_t size) {
  Value schema = ArraySchema(std::move(items));
  schema.Set("minItems", Value(static_cast<std::uint64_t>(size)));
  schema.Set("maxItems", Value(static_cast<std::uint64_t>(size)));
  return schema;
}

Value TupleSchema(Value::List items) {
  Value schema = TypeSchema("array");
  const Value size(static_cast<std::uint64_t>(items.size()));
  if (!items.empty()) schema.Set("prefixItems", Value(std::move(items)));
  schema.Set("minItems", size);
  schema.Set("maxItems", size);
  return schema;
}

Value DictSchema(Value values) {
  Value schema = TypeSchema("object");
  schema.Set("additionalProperties", std::move(values));
  return schema;
}

Value OptionalSchema(Value inner) {
  if (inner == Value(Value::Map())) return inner;  // accepts everything, None too
  return Value::Object({{"anyOf", Value(Value::List{std::move(inner), TypeSchema("null")})}});
}

std::string Generic(std::string_view name, std::string_view inner) {
  return inner == "object" ? std::string(name) : fmt::format("{}[{}]", name, inner);
}

}  // namespace tool_type_internal
}  // namespace gloveport
