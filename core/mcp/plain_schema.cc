#include "gloveport/core/mcp/plain_schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxSteps = 200'000;
constexpr std::size_t kMaxProblems = 5;

// That say nothing about what fits.
constexpr std::array<std::string_view, 12> kAnnotations = {
    "title",    "description", "default", "examples", "$schema",   "$id",
    "$comment", "deprecated",  "format",  "readOnly", "writeOnly", "$defs"};
constexpr std::array<std::string_view, 18> kAssertions = {
    "type",    "enum",     "const",    "properties", "required",         "additionalProperties",
    "items",   "minItems", "maxItems", "minLength",  "maxLength",        "minimum",
    "maximum", "anyOf",    "allOf",    "oneOf",      "exclusiveMinimum", "exclusiveMaximum"};

template <std::size_t kSize>
bool IsAmong(std::string_view key, const std::array<std::string_view, kSize>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

class PlainCheck {
 public:
  explicit PlainCheck(const Json& root) : root_(root) {}

  // Appends what is wrong. False where a problem was found.
  bool Fits(const Json& value, const Json& schema, const std::string& path, int depth) {
    // By what the comparisons below take: a long text or list of choices is more than one step.
    steps_ += 1 + MemberOf(schema, "enum").size() + (MemberOf(schema, "type").size() + schema.size()) / 32;
    if (value.is_string()) steps_ += value.get_ref<const std::string&>().size() / 256;
    if (steps_ > kMaxSteps || depth > kMaxDepth) return GiveUp();
    if (schema.is_boolean()) return schema.get<bool>() || Wrong(path, "nothing may stand there");
    if (!schema.is_object()) return GiveUp();
    if (const Json* reference = Member(schema, "$ref"))
      return FitsReference(value, schema, *reference, path, depth);
    for (const auto& [key, item] : schema.items()) {
      if (!IsAmong(key, kAssertions) && !IsAmong(key, kAnnotations) && !key.starts_with("x-"))
        return GiveUp();
    }
    // All of them are looked at, for the sake of a message that says all.
    const bool type = FitsType(value, schema, path);
    const bool choice = FitsChoice(value, schema, path);
    if (!type || !choice) return false;
    return FitsRange(value, schema, path) && FitsMembers(value, schema, path, depth) &&
           FitsItems(value, schema, path, depth) && FitsCombination(value, schema, path, depth);
  }

  bool gave_up() const { return gave_up_; }
  std::vector<std::string> TakeProblems() { return std::move(problems_); }

 private:
  bool GiveUp() {
    gave_up_ = true;
    return false;
  }

  bool Wrong(const std::string& path, std::string_view problem) {
    if (problems_.size() < kMaxProblems)
      problems_.push_back(fmt::format("{}: {}", path.empty() ? "/" : path, problem));
    return false;
  }

  bool FitsReference(const Json& value, const Json& schema, const Json& reference, const std::string& path,
                     int depth) {
    if (schema.size() != 1 || !reference.is_string()) return GiveUp();
    const auto& text = reference.get_ref<const std::string&>();
    if (!text.starts_with("#/$defs/") || text.find_first_of("~%") != std::string::npos) return GiveUp();
    const Json* target = Member(MemberOf(root_, "$defs"), text.substr(8));
    return target == nullptr ? GiveUp() : Fits(value, *target, path, depth + 1);
  }

  static bool IsOfType(const Json& value, std::string_view type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "number") return value.is_number();
    if (type != "integer") return false;
    return value.is_number_integer() ||
           (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
  }

  bool FitsType(const Json& value, const Json& schema, const std::string& path) {
    const Json& type = MemberOf(schema, "type");
    if (value.is_object() && value.size() == 1 && value.contains("$int")) return GiveUp();  // beyond 64 bits
    if (type.is_null()) return true;
    if (type.is_string()) {
      if (IsOfType(value, type.get_ref<const std::string&>())) return true;
      return Wrong(path, fmt::format("is not of type {}", CleanLine(type.get_ref<const std::string&>(), 32)));
    }
    for (const Json& name : type) {
      if (name.is_string() && IsOfType(value, name.get_ref<const std::string&>())) return true;
    }
    return Wrong(path, "is of none of the types that it may have");
  }

  bool FitsChoice(const Json& value, const Json& schema, const std::string& path) {
    const Json& choices = MemberOf(schema, "enum");
    if (schema.contains("const") && schema["const"] != value)
      return Wrong(path, "is not the constant that it must be");
    if (!choices.is_array() || std::find(choices.begin(), choices.end(), value) != choices.end()) return true;
    return Wrong(path, "is none of the values that it may have");
  }

  // Whether `size` keeps to the keywords for the least and the most.
  bool FitsSize(std::size_t size, const Json& schema, const char* least, const char* most,
                const std::string& path) {
    const auto bound = static_cast<double>(size);
    if (MemberOf(schema, least).is_number() && bound < NumberOf(schema, least))
      return Wrong(path, "is too short");
    if (MemberOf(schema, most).is_number() && bound > NumberOf(schema, most))
      return Wrong(path, "is too long");
    return true;
  }

  bool FitsRange(const Json& value, const Json& schema, const std::string& path) {
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const auto characters = static_cast<std::size_t>(std::count_if(
          text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
      return FitsSize(characters, schema, "minLength", "maxLength", path);
    }
    if (value.is_array()) return FitsSize(value.size(), schema, "minItems", "maxItems", path);
    if (!value.is_number()) return true;
    const double number = value.get<double>();
    const auto at = [&](const char* key) { return MemberOf(schema, key).is_number(); };
    if ((at("minimum") && number < NumberOf(schema, "minimum")) ||
        (at("exclusiveMinimum") && number <= NumberOf(schema, "exclusiveMinimum")))
      return Wrong(path, "is too small");
    if ((at("maximum") && number > NumberOf(schema, "maximum")) ||
        (at("exclusiveMaximum") && number >= NumberOf(schema, "exclusiveMaximum")))
      return Wrong(path, "is too large");
    return true;
  }

  bool FitsMembers(const Json& value, const Json& schema, const std::string& path, int depth) {
    if (!value.is_object()) return true;
    bool fits = true;
    const Json& required = MemberOf(schema, "required");
    const Json& properties = MemberOf(schema, "properties");
    // Members are found by looking at one after the other.
    steps_ += (required.size() * (1 + value.size()) + value.size() * properties.size()) / 32;
    if (steps_ > kMaxSteps) return GiveUp();
    for (const Json& name : required) {
      if (name.is_string() && !value.contains(name.get_ref<const std::string&>()))
        fits =
            Wrong(path, fmt::format("\"{}\" is missing", CleanLine(name.get_ref<const std::string&>(), 64)));
    }
    const auto others = schema.find("additionalProperties");
    for (const auto& [key, item] : value.items()) {
      const auto property = properties.is_object() ? properties.find(key) : properties.end();
      const bool known = properties.is_object() && property != properties.end();
      if (!known && others == schema.end()) continue;
      const std::string at = path + "/" + CleanLine(key, 64);
      fits = Fits(item, known ? *property : *others, at, depth + 1) && fits;
      if (gave_up_) return false;
    }
    return fits;
  }

  bool FitsItems(const Json& value, const Json& schema, const std::string& path, int depth) {
    const auto items = schema.find("items");
    if (!value.is_array() || items == schema.end()) return true;
    bool fits = true;
    for (std::size_t i = 0; i < value.size() && !gave_up_ && problems_.size() < kMaxProblems; ++i)
      fits = Fits(value[i], *items, fmt::format("{}/{}", path, i), depth + 1) && fits;
    return fits;
  }

  bool FitsCombination(const Json& value, const Json& schema, const std::string& path, int depth) {
    for (const Json& part : MemberOf(schema, "allOf")) {
      if (!Fits(value, part, path, depth + 1)) return false;
    }
    for (const char* keyword : {"anyOf", "oneOf"}) {
      const Json& choices = MemberOf(schema, keyword);
      if (!choices.is_array()) continue;
      // What is wrong with a choice is nothing to complain of.
      const std::vector<std::string> before = problems_;
      const auto fitting = std::count_if(choices.begin(), choices.end(), [&](const Json& choice) {
        return !gave_up_ && Fits(value, choice, path, depth + 1);
      });
      problems_ = before;
      if (gave_up_) return false;
      if (fitting == 0) return Wrong(path, "fits none of the alternatives");
      if (fitting > 1 && std::string_view(keyword) == "oneOf")
        return Wrong(path, "fits several of the alternatives");
    }
    return true;
  }

  const Json& root_;
  std::size_t steps_ = 0;
  bool gave_up_ = false;
  std::vector<std::string> problems_;
};

}  // namespace

std::optional<std::vector<std::string>> CheckPlainly(const Json& value, const Json& schema) {
  PlainCheck check(schema);
  check.Fits(value, schema, "", 0);
  if (check.gave_up()) return std::nullopt;
  return check.TakeProblems();
}

}  // namespace gloveport
