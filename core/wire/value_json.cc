#include "gloveport/core/wire/value_json.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <unordered_set>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::int64_t kMaxExact = (std::int64_t{1} << 53);  // beyond it JSON readers lose digits

// ---- text to Json, with limits ----

// Appends without the linear search for an equal key that ordered_json's own insertion makes: the callers
// know that the key is new, and a hostile object may have a million of them.
void AppendMember(Json& object, std::string key, Json value) {
  auto& members = static_cast<Json::object_t::Container&>(object.get_ref<Json::object_t&>());
  members.emplace_back(std::move(key), std::move(value));
}

// Builds a Json from parse events and holds the limits while it does.
class LimitedSax : public nlohmann::json_sax<Json> {
 public:
  explicit LimitedSax(std::size_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool b) override { return Add(b); }
  bool number_integer(number_integer_t i) override { return Add(i); }
  bool number_unsigned(number_unsigned_t i) override { return Add(i); }
  bool string(std::string& text) override { return Add(std::move(text)); }
  bool binary(binary_t&) override { return Stop("binary data"); }
  // Integers of any size stay exact: beyond 64 bits they become {"$int": digits}.
  bool number_float(double number, const std::string& text) override {
    if (text.find_first_of(".eE") == std::string::npos) return Add(Json{{"$int", text}});
    return std::isfinite(number) ? Add(number) : Stop("a number that is too large");
  }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override {
    if (!open_.back().keys.insert(name).second) return Stop(fmt::format("duplicate key \"{}\"", name));
    open_.back().key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    error_position_ = position;
    if (message_.empty()) message_ = Reason(error.what());
    return false;
  }

  Json Take() { return std::move(root_); }
  const std::string& message() const { return message_; }
  std::size_t error_position() const { return error_position_; }

 private:
  struct Level {
    Json value;
    std::string key;
    std::unordered_set<std::string> keys;
  };

  bool Add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      AppendMember(open_.back().value, std::move(open_.back().key), std::move(value));
    }
    return true;
  }
  bool Open(Json empty) {
    if (open_.size() >= max_depth_) return Stop("it is nested too deeply");
    open_.push_back({std::move(empty), {}, {}});
    return true;
  }
  bool Close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return Add(std::move(value));
  }
  bool Stop(std::string message) {
    message_ = std::move(message);
    return false;
  }
  // nlohmann's text without its own prefix and position.
  static std::string Reason(std::string_view text) {
    const auto colon = text.find(": ");
    if (colon != std::string_view::npos) text.remove_prefix(colon + 2);
    return ToValidUtf8(text);
  }

  std::size_t max_depth_;
  Json root_;
  std::vector<Level> open_;
  std::string message_;
  std::size_t error_position_ = 0;
};

std::string PlaceOf(std::string_view text, std::size_t position) {
  position = std::min(position, text.size());
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto line_start = before.rfind('\n');
  const std::size_t column = position - (line_start == std::string_view::npos ? 0 : line_start + 1);
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

// ---- Value to Json ----

Json Wrap(std::string_view form, Json payload) {
  Json object = Json::object();
  object["$" + std::string(form)] = std::move(payload);
  return object;
}

Json FloatToJson(double d) {
  if (std::isnan(d)) return Wrap("float", "nan");
  if (std::isinf(d)) return Wrap("float", d > 0 ? "inf" : "-inf");
  return d;
}

bool HasPlainKeys(const Value::Map& map) {
  std::unordered_set<std::string_view> seen;
  for (const auto& [key, value] : map) {
    if (!key.is_text() || key.as_text().starts_with('$') || !seen.insert(key.as_text()).second) return false;
  }
  return true;
}

Json MapToJson(const Value::Map& map) {
  if (HasPlainKeys(map)) {
    Json object = Json::object();
    for (const auto& [key, value] : map) AppendMember(object, key.as_text(), ToJson(value));
    return object;
  }
  Json pairs = Json::array();
  for (const auto& [key, value] : map) pairs.push_back(Json::array({ToJson(key), ToJson(value)}));
  return Wrap("map", std::move(pairs));
}

// Inside a form, bytes are base64 text without a wrapping of their own.
Json PayloadToJson(const Value& payload) {
  if (payload.is_bytes()) return EncodeBase64(payload.as_bytes());
  if (!payload.is_map() || !HasPlainKeys(payload.as_map())) return ToJson(payload);
  Json object = Json::object();
  for (const auto& [key, value] : payload.as_map()) {
    AppendMember(object, key.as_text(),
                 value.is_bytes() ? Json(EncodeBase64(value.as_bytes())) : ToJson(value));
  }
  return object;
}

// ---- Json to Value ----

class FormReader {
 public:
  Result<Value> Read(const Json& json) {
    switch (json.type()) {
      case Json::value_t::null:
        return Value();
      case Json::value_t::boolean:
        return Value(json.get<bool>());
      case Json::value_t::number_integer:
        return Value(json.get<std::int64_t>());
      case Json::value_t::number_unsigned:
        return Value(json.get<std::uint64_t>());
      case Json::value_t::number_float:
        return Value(json.get<double>());
      case Json::value_t::string:
        return Value(json.get<std::string>());
      case Json::value_t::array:
        return ReadList(json);
      case Json::value_t::object:
        return ReadObject(json);
      default:
        return Bad("no JSON value");
    }
  }

 private:
  tl::unexpected<Error> Bad(std::string_view what) const {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("at {}: {}", path_.empty() ? "the top" : path_, what));
  }

  Result<Value> ReadList(const Json& json) {
    Value::List list;
    list.reserve(json.size());
    const std::string path = path_;
    for (std::size_t i = 0; i < json.size(); ++i) {
      path_ = fmt::format("{}/{}", path, i);
      ASSIGN_OR_RETURN(Value item, Read(json[i]));
      list.push_back(std::move(item));
    }
    path_ = path;
    return Value(std::move(list));
  }

  Result<Value> ReadMembers(const Json& json) {
    Value::Map map;
    const std::string path = path_;
    for (const auto& [key, item] : json.items()) {
      path_ = path + "/" + key;
      ASSIGN_OR_RETURN(Value value, Read(item));
      map.emplace_back(Value(key), std::move(value));
    }
    path_ = path;
    return Value(std::move(map));
  }

  Result<Value> ReadObject(const Json& json) {
    if (json.size() != 1 || !json.begin().key().starts_with('$')) return ReadMembers(json);
    const std::string name = json.begin().key().substr(1);
    const Json& payload = json.begin().value();
    if (name == "bytes") return ReadBytes(payload);
    if (name == "int") return ReadInt(payload);
    if (name == "float") return ReadFloat(payload);
    if (name == "map") return ReadPairs(payload);
    const auto form = FormFromName(name);
    if (!form)
      return Bad(fmt::format("unknown form \"${}\"; a key that begins with $ must travel in a $map", name));
    return ReadForm(*form, payload);
  }

  Result<Value> ReadBytes(const Json& payload) {
    auto bytes = payload.is_string() ? DecodeBase64(payload.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) return Bad("bytes must be base64 text");
    return Value(std::move(*bytes));
  }

  Result<Value> ReadInt(const Json& payload) {
    if (!payload.is_string()) return Bad("$int must be decimal digits in text");
    const auto& digits = payload.get_ref<const std::string&>();
    std::int64_t small = 0;
    const auto end = digits.data() + digits.size();
    if (const auto r = std::from_chars(digits.data(), end, small); r.ec == std::errc() && r.ptr == end)
      return Value(small);
    auto big = BigInt::FromDecimal(digits);
    if (!big) return Bad(big.error().message);
    return Value(std::move(*big));
  }

  Result<Value> ReadFloat(const Json& payload) {
    if (payload == "nan") return Value(std::nan(""));
    if (payload == "inf") return Value(HUGE_VAL);
    if (payload == "-inf") return Value(-HUGE_VAL);
    return Bad("$float must be \"nan\", \"inf\" or \"-inf\"");
  }

  Result<Value> ReadPairs(const Json& payload) {
    if (!payload.is_array()) return Bad("$map must be an array of pairs");
    Value::Map map;
    for (const Json& pair : payload) {
      if (!pair.is_array() || pair.size() != 2) return Bad("$map must be an array of pairs");
      ASSIGN_OR_RETURN(Value key, Read(pair[0]));
      ASSIGN_OR_RETURN(Value value, Read(pair[1]));
      map.emplace_back(std::move(key), std::move(value));
    }
    return Value(std::move(map));
  }

  // The member of a form's payload that is base64 text in JSON; null where there is none.
  static const char* BytesKeyOf(Form form) {
    if (form == Form::kNdarray || form == Form::kImage) return "data";
    return form == Form::kArrow ? "ipc" : nullptr;
  }

  // The forms whose payload holds bytes: base64 text in JSON.
  Result<Value> ReadForm(Form form, const Json& payload) {
    if (form == Form::kBytearray) {
      ASSIGN_OR_RETURN(Value bytes, ReadBytes(payload));
      return Value(form, std::move(bytes));
    }
    const char* bytes_key = BytesKeyOf(form);
    if (bytes_key != nullptr && payload.is_object() && payload.contains(bytes_key) &&
        payload[bytes_key].is_string()) {
      ASSIGN_OR_RETURN(Value data, ReadBytes(payload[bytes_key]));
      Json rest = payload;
      rest.erase(bytes_key);
      ASSIGN_OR_RETURN(Value members, ReadMembers(rest));
      members.Set(bytes_key, std::move(data));
      return Value(form, std::move(members));
    }
    ASSIGN_OR_RETURN(Value inner, Read(payload));
    return Value(form, std::move(inner));
  }

  std::string path_;
};

}  // namespace

Result<Json> ParseJson(std::string_view text, JsonLimits limits) {
  if (text.size() > limits.max_bytes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("JSON text of {} bytes; {} are allowed", text.size(), limits.max_bytes));
  }
  LimitedSax sax(limits.max_depth);
  const bool parsed = Json::sax_parse(text.begin(), text.end(), &sax, Json::input_format_t::json, true,
                                      limits.allow_comments);
  if (!parsed) {
    const std::string place =
        sax.error_position() ? " at " + PlaceOf(text, sax.error_position()) : std::string();
    return Fail(ErrorCode::kInvalidArgument, fmt::format("invalid JSON{}: {}", place, sax.message()));
  }
  return sax.Take();
}

Json ToJson(const Value& value) {
  if (value.is_null()) return nullptr;
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) {
    const std::int64_t i = value.as_int();
    if (i > kMaxExact || i < -kMaxExact) return Wrap("int", std::to_string(i));
    return i;
  }
  if (value.is_big_int()) return Wrap("int", value.as_big_int().ToDecimal());
  if (value.is_double()) return FloatToJson(value.as_double());
  if (value.is_text()) return value.as_text();
  if (value.is_bytes()) return Wrap("bytes", EncodeBase64(value.as_bytes()));
  if (value.is_map()) return MapToJson(value.as_map());
  if (value.is_extended()) return Wrap(FormName(value.as_extended().form), PayloadToJson(value.payload()));
  Json array = Json::array();
  for (const Value& item : value.as_list()) array.push_back(ToJson(item));
  return array;
}

Result<Value> FromJson(const Json& json) { return FormReader().Read(json); }

Value FromPlainJson(const Json& json) {
  if (json.is_array()) {
    Value::List list;
    for (const Json& item : json) list.push_back(FromPlainJson(item));
    return Value(std::move(list));
  }
  if (json.is_object()) {
    Value::Map map;
    for (const auto& [key, item] : json.items()) map.emplace_back(Value(key), FromPlainJson(item));
    return Value(std::move(map));
  }
  return FormReader().Read(json).value_or(Value());
}

std::string DumpJson(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string DumpJson(const Value& value) { return DumpJson(ToJson(value)); }

}  // namespace gloveport
