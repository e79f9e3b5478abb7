// Value: a Python value on the host's side and on the wire. What has no plain JSON form travels as a `Form`
// with a payload; FORMAT.md lists the forms and their CBOR tags.
//
// A Value is a plain value: copyable, no thread-safety beyond that of a std::string. Values that were decoded
// from a child obey WireLimits (depth, items, bytes), so recursion over them is safe.
#ifndef GLOVEPORT_CORE_WIRE_VALUE_H_
#define GLOVEPORT_CORE_WIRE_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

// Each form but the first group is written in JSON as {"$name": payload}.
enum class Form : std::uint8_t {
  kTuple,
  kSet,
  kFrozenset,
  kComplex,
  kDatetime,
  kDate,
  kTime,
  kTimedelta,
  kTimezone,
  kDecimal,
  kFraction,
  kNdarray,
  kStr,
  kBytearray,
  kRange,
  kUuid,
  kPath,
  kEnum,
  kDataclass,
  kNamedtuple,
  kDataframe,
  kSeries,
  kImage,
  kObject,
  kArrow,  // holds an Arrow IPC stream, which this library does not read
};
std::string_view FormName(Form form);  // "tuple", "set", ...
std::optional<Form> FormFromName(std::string_view name);

// An integer beyond 64 bits: sign and magnitude, big-endian, no leading zero byte.
struct BigInt {
  bool negative = false;
  std::vector<std::byte> magnitude;

  static Result<BigInt> FromDecimal(std::string_view digits);  // "-123"; at most kMaxDigits digits
  std::string ToDecimal() const;
  static constexpr std::size_t kMaxMagnitudeBytes = 128 * 1024;
  static constexpr std::size_t kMaxDigits = 315'000;

  friend bool operator==(const BigInt&, const BigInt&) = default;
};

class Value {
 public:
  using Bytes = std::vector<std::byte>;
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<Value, Value>>;  // in order; keys of any kind
  struct Extended {
    Form form;
    std::vector<Value> payload;  // exactly one
    friend bool operator==(const Extended&, const Extended&) = default;
  };

  Value() = default;  // None
  Value(std::nullptr_t) {}
  Value(bool b) : data_(b) {}
  Value(int i) : data_(std::int64_t{i}) {}
  Value(std::int64_t i) : data_(i) {}
  Value(long long i) : data_(static_cast<std::int64_t>(i)) {}
  Value(std::uint64_t i);  // a BigInt beyond INT64_MAX
  Value(BigInt i) : data_(std::move(i)) {}
  Value(double d) : data_(d) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(std::string text) : data_(std::move(text)) {}  // must be valid UTF-8
  Value(Bytes bytes) : data_(std::move(bytes)) {}
  Value(List list) : data_(std::move(list)) {}
  Value(Map map) : data_(std::move(map)) {}
  Value(Form form, Value payload) : data_(Extended{form, {std::move(payload)}}) {}
  static Value Object(
      std::initializer_list<std::pair<std::string_view, Value>> members);  // a Map with text keys

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_big_int() const { return std::holds_alternative<BigInt>(data_); }
  bool is_double() const { return std::holds_alternative<double>(data_); }
  bool is_text() const { return std::holds_alternative<std::string>(data_); }
  bool is_bytes() const { return std::holds_alternative<Bytes>(data_); }
  bool is_list() const { return std::holds_alternative<List>(data_); }
  bool is_map() const { return std::holds_alternative<Map>(data_); }
  bool is_extended() const { return std::holds_alternative<Extended>(data_); }
  bool is(Form form) const { return is_extended() && as_extended().form == form; }

  // Each as_x() requires is_x().
  bool as_bool() const { return std::get<bool>(data_); }
  std::int64_t as_int() const { return std::get<std::int64_t>(data_); }
  const BigInt& as_big_int() const { return std::get<BigInt>(data_); }
  double as_double() const { return std::get<double>(data_); }
  const std::string& as_text() const { return std::get<std::string>(data_); }
  const Bytes& as_bytes() const { return std::get<Bytes>(data_); }
  const List& as_list() const { return std::get<List>(data_); }
  List& as_list() { return std::get<List>(data_); }
  const Map& as_map() const { return std::get<Map>(data_); }
  Map& as_map() { return std::get<Map>(data_); }
  const Extended& as_extended() const { return std::get<Extended>(data_); }
  const Value& payload() const { return as_extended().payload.front(); }

  // The member with this text key of a Map; nullptr where there is none or this is no Map.
  const Value* Find(std::string_view key) const;
  // Appends a member to a Map (a None becomes an empty Map first).
  Value& Set(std::string_view key, Value value);

  // The member as text, integer or bool, or `fallback` where it is absent or of another kind.
  std::string TextOr(std::string_view key, std::string_view fallback) const;
  std::int64_t IntOr(std::string_view key, std::int64_t fallback) const;
  bool BoolOr(std::string_view key, bool fallback) const;

  // "None", "bool", "int", "float", "str", "bytes", "list", "dict", or the form's name: for messages.
  std::string_view TypeName() const;

  friend bool operator==(const Value&, const Value&) = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, BigInt, std::string, Bytes, List, Map, Extended>
      data_;
};

// Limits that hold for every value that is decoded or encoded.
struct WireLimits {
  std::size_t max_bytes = 192u << 20;
  std::size_t max_items = 4'000'000;
  std::size_t max_depth = 200;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_VALUE_H_
