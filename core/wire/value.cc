#include "gloveport/core/wire/value.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

namespace gloveport {
namespace {

// In the order of Form.
constexpr std::array<std::string_view, 25> kFormNames = {
    "tuple",     "set",      "frozenset", "complex",  "datetime",  "date",       "time",
    "timedelta", "timezone", "decimal",   "fraction", "ndarray",   "str",        "bytearray",
    "range",     "uuid",     "path",      "enum",     "dataclass", "namedtuple", "dataframe",
    "series",    "image",    "object",    "arrow",
};
static_assert(kFormNames.size() == static_cast<std::size_t>(Form::kArrow) + 1);

constexpr std::uint32_t kDecimalChunk = 1'000'000'000;

// magnitude = magnitude * factor + add, in 32-bit limbs, least significant first.
void MultiplyAdd(std::vector<std::uint32_t>& limbs, std::uint32_t factor, std::uint32_t add) {
  std::uint64_t carry = add;
  for (auto& limb : limbs) {
    carry += std::uint64_t{limb} * factor;
    limb = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry) limbs.push_back(static_cast<std::uint32_t>(carry));
}

std::uint32_t DivideBy(std::vector<std::uint32_t>& limbs, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (auto limb = limbs.rbegin(); limb != limbs.rend(); ++limb) {
    rest = (rest << 32) | *limb;
    *limb = static_cast<std::uint32_t>(rest / divisor);
    rest %= divisor;
  }
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return static_cast<std::uint32_t>(rest);
}

}  // namespace

std::string_view FormName(Form form) { return kFormNames[static_cast<std::size_t>(form)]; }

std::optional<Form> FormFromName(std::string_view name) {
  for (std::size_t i = 0; i < kFormNames.size(); ++i) {
    if (kFormNames[i] == name) return static_cast<Form>(i);
  }
  return std::nullopt;
}

Result<BigInt> BigInt::FromDecimal(std::string_view digits) {
  BigInt big;
  big.negative = digits.starts_with('-');
  if (big.negative) digits.remove_prefix(1);
  if (digits.empty() || digits.size() > kMaxDigits ||
      !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("an integer must be 1 to {} decimal digits", kMaxDigits));
  }
  std::vector<std::uint32_t> limbs;
  while (!digits.empty()) {
    const std::size_t take = digits.size() % 9 ? digits.size() % 9 : 9;
    std::uint32_t chunk = 0;
    std::uint32_t power = 1;
    for (char c : digits.substr(0, take)) {
      chunk = chunk * 10 + static_cast<std::uint32_t>(c - '0');
      power *= 10;
    }
    MultiplyAdd(limbs, power, chunk);
    digits.remove_prefix(take);
  }
  for (auto limb = limbs.rbegin(); limb != limbs.rend(); ++limb) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      const auto byte = static_cast<std::byte>((*limb >> shift) & 0xFF);
      if (!big.magnitude.empty() || byte != std::byte{0}) big.magnitude.push_back(byte);
    }
  }
  return big;
}

std::string BigInt::ToDecimal() const {
  std::vector<std::uint32_t> limbs((magnitude.size() + 3) / 4);
  for (std::size_t i = 0; i < magnitude.size(); ++i) {
    const std::size_t at = magnitude.size() - 1 - i;
    limbs[i / 4] |= std::to_integer<std::uint32_t>(magnitude[at]) << (8 * (i % 4));
  }
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  if (limbs.empty()) return "0";
  std::string reversed;
  while (!limbs.empty()) {
    std::uint32_t chunk = DivideBy(limbs, kDecimalChunk);
    for (int i = 0; i < 9 && (chunk || !limbs.empty()); ++i, chunk /= 10)
      reversed += static_cast<char>('0' + chunk % 10);
  }
  if (negative) reversed += '-';
  std::ranges::reverse(reversed);
  return reversed;
}

Value::Value(std::uint64_t i) {
  if (i <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    data_ = static_cast<std::int64_t>(i);
    return;
  }
  BigInt big;
  for (int shift = 56; shift >= 0; shift -= 8)
    big.magnitude.push_back(static_cast<std::byte>((i >> shift) & 0xFF));
  data_ = std::move(big);
}

Value Value::Object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Map map;
  map.reserve(members.size());
  for (const auto& [key, value] : members) map.emplace_back(Value(key), value);
  return Value(std::move(map));
}

const Value* Value::Find(std::string_view key) const {
  if (!is_map()) return nullptr;
  for (const auto& [name, value] : as_map()) {
    if (name.is_text() && name.as_text() == key) return &value;
  }
  return nullptr;
}

Value& Value::Set(std::string_view key, Value value) {
  if (is_null()) data_ = Map{};
  as_map().emplace_back(Value(key), std::move(value));
  return *this;
}

std::string Value::TextOr(std::string_view key, std::string_view fallback) const {
  const Value* member = Find(key);
  return member && member->is_text() ? member->as_text() : std::string(fallback);
}

std::int64_t Value::IntOr(std::string_view key, std::int64_t fallback) const {
  const Value* member = Find(key);
  return member && member->is_int() ? member->as_int() : fallback;
}

bool Value::BoolOr(std::string_view key, bool fallback) const {
  const Value* member = Find(key);
  return member && member->is_bool() ? member->as_bool() : fallback;
}

std::string_view Value::TypeName() const {
  if (is_null()) return "None";
  if (is_bool()) return "bool";
  if (is_int() || is_big_int()) return "int";
  if (is_double()) return "float";
  if (is_text()) return "str";
  if (is_bytes()) return "bytes";
  if (is_list()) return "list";
  if (is_map()) return "dict";
  return FormName(as_extended().form);
}

}  // namespace gloveport
