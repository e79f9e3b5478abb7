#include "gloveport/core/mcp/schema_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/mcp/json_rpc.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"
#include "gloveport/tools/python_literal.h"

namespace gloveport {
namespace {

constexpr int kMaxDepth = 12;
constexpr std::size_t kMaxChoices = 5;    // of a union
constexpr std::size_t kMaxLiterals = 20;  // of an enum
constexpr std::size_t kMaxLiteralBytes = 60;
constexpr std::size_t kMaxTextBytes = 1000;
constexpr std::size_t kMaxAnnotationBytes = 600;  // of one that is put together from others
constexpr std::array<std::string_view, 6> kLeftOut = {"$schema",     "$id",     "$defs",
                                                      "definitions", "$anchor", "$comment"};

class Inliner {
 public:
  Inliner(const Json& root, InlineBudget& budget) : root_(root), budget_(budget) {}

  Json Copy(const Json& json, int depth) {
    if (Spent() || depth > kMaxDepth) return Json::object();
    --budget_.nodes;
    if (json.is_string()) {
      const std::string text = CleanText(json.get_ref<const std::string&>(), kMaxTextBytes);
      return Charge(text.size()) ? Json(text) : Json("");
    }
    if (json.is_array()) {
      Json copy = Json::array();
      for (const Json& item : json) {
        if (Spent()) break;
        copy.push_back(Copy(item, depth + 1));
      }
      return copy;
    }
    if (!json.is_object()) return json;
    if (const Json* reference = Member(json, "$ref")) return Copy(Target(*reference), depth + 1);
    return CopyObject(json, depth);
  }

 private:
  bool Spent() const { return budget_.nodes == 0 || budget_.bytes == 0; }

  // False where so much is not left; then nothing is.
  bool Charge(std::size_t bytes) {
    const bool enough = bytes <= budget_.bytes;
    budget_.bytes -= enough ? bytes : budget_.bytes;
    return enough;
  }

  Json CopyObject(const Json& json, int depth) {
    Json copy = Json::object();
    for (const auto& [key, item] : json.items()) {
      if (Spent()) break;
      const bool left_out = std::find(kLeftOut.begin(), kLeftOut.end(), key) != kLeftOut.end();
      if (left_out || key.starts_with("x-")) continue;
      // Data is copied as a whole, again with each reference to it: it counts by its size.
      if (!Charge(key.size() + (IsData(key) ? DumpJson(item).size() : 0))) break;
      copy[key] = IsData(key)           ? item
                  : key == "properties" ? CopyProperties(item, depth + 1)
                                        : Copy(item, depth + 1);
    }
    // As generators write a reference that has a description besides.
    const Json& all = MemberOf(copy, "allOf");
    if (all.is_array() && all.size() == 1 && all[0].is_object()) {
      Json only = all[0];
      copy.erase("allOf");
      for (const auto& [key, item] : copy.items()) only[key] = item;
      return only;
    }
    return copy;
  }

  // Their names are no keywords.
  Json CopyProperties(const Json& properties, int depth) {
    Json copy = Json::object();
    for (const auto& [name, schema] : properties.items()) {
      if (Spent() || !Charge(name.size())) break;
      copy[name] = Copy(schema, depth + 1);
    }
    return copy;
  }

  // What stands there are values, not schemas.
  static bool IsData(std::string_view key) { return key == "enum" || key == "const" || key == "default"; }

  const Json& Target(const Json& reference) const {
    static const Json kAnything = Json::object();
    if (!reference.is_string()) return kAnything;
    const auto& text = reference.get_ref<const std::string&>();
    if (text == "#") return root_;
    if (!text.starts_with("#/")) return kAnything;
    try {
      const Json::json_pointer pointer(text.substr(1));
      return root_.contains(pointer) ? root_.at(pointer) : kAnything;
    } catch (const Json::exception&) {
      return kAnything;
    }
  }

  const Json& root_;
  InlineBudget& budget_;
};

std::string_view AnnotationOfType(std::string_view type) {
  if (type == "string") return "str";
  if (type == "integer") return "int";
  if (type == "number") return "float";
  if (type == "boolean") return "bool";
  if (type == "null") return "None";
  if (type == "array") return "list";
  if (type == "object") return "dict";
  return "object";
}

bool IsLiteral(const Json& json) {
  if (json.is_string()) return json.get_ref<const std::string&>().size() <= kMaxLiteralBytes;
  return json.is_boolean() || json.is_number_integer();
}

// "Literal['a', 'b']", with None besides where it is among them; empty where they are no literals.
std::string LiteralOf(const Json& values) {
  if (!values.is_array() || values.empty() || values.size() > kMaxLiterals) return "";
  std::string inside;
  bool null = false;
  for (const Json& value : values) {
    if (value.is_null()) {
      null = true;
    } else if (IsLiteral(value)) {
      inside += (inside.empty() ? "" : ", ") + PythonLiteral(ValueOfPlainJson(value));
    } else {
      return "";
    }
  }
  if (inside.empty()) return null ? "None" : "";
  return "Literal[" + inside + "]" + (null ? " | None" : "");
}

std::string Union(const std::vector<std::string>& parts) {
  std::vector<std::string> kept;
  bool null = false;
  for (std::string part : parts) {
    if (part == "object") return part;
    constexpr std::string_view kOrNone = " | None";
    if (part.ends_with(kOrNone)) {
      null = true;
      part.resize(part.size() - kOrNone.size());
    }
    if (part == "None") {
      null = true;
    } else if (std::find(kept.begin(), kept.end(), part) == kept.end()) {
      kept.push_back(part);
    }
  }
  if (kept.size() > kMaxChoices) return "object";
  std::string text;
  for (const std::string& part : kept) text += (text.empty() ? "" : " | ") + part;
  if (text.empty()) return null ? "None" : "object";
  if (text.size() > kMaxAnnotationBytes) return "object";
  return null ? text + " | None" : text;
}

std::string Annotation(const Json& schema, int depth);

std::string AnnotationOfOne(const Json& schema, std::string_view type, int depth) {
  const std::string plain(AnnotationOfType(type));
  const Json& inner = MemberOf(schema, type == "array" ? "items" : "additionalProperties");
  if ((type != "array" && type != "object") || !inner.is_object()) return plain;
  const std::string inside = Annotation(inner, depth + 1);
  if (inside == "object" || inside.size() > kMaxAnnotationBytes) return plain;
  return type == "array" ? "list[" + inside + "]" : "dict[str, " + inside + "]";
}

std::string Annotation(const Json& schema, int depth) {
  if (!schema.is_object() || depth > kMaxDepth) return "object";
  if (schema.contains("const")) {
    const std::string literal = LiteralOf(Json::array({schema["const"]}));
    if (!literal.empty()) return literal;
  }
  const std::string literal = LiteralOf(MemberOf(schema, "enum"));
  if (!literal.empty()) return literal;
  const Json& type = MemberOf(schema, "type");
  std::vector<std::string> parts;
  if (type.is_string()) return AnnotationOfOne(schema, type.get_ref<const std::string&>(), depth);
  for (const char* keyword : {"anyOf", "oneOf"}) {
    for (const Json& choice : MemberOf(schema, keyword)) parts.push_back(Annotation(choice, depth + 1));
    if (!parts.empty()) return Union(parts);
  }
  for (const Json& name : type) {
    if (name.is_string()) parts.push_back(AnnotationOfOne(schema, name.get_ref<const std::string&>(), depth));
  }
  return parts.empty() ? "object" : Union(parts);
}

bool IsRequired(const Json& schema, const std::string& key) {
  const Json& required = MemberOf(schema, "required");
  return required.is_array() && std::find(required.begin(), required.end(), Json(key)) != required.end();
}

}  // namespace

Json InlineReferences(const Json& schema, const Json& root) {
  InlineBudget budget;
  return InlineReferences(schema, root, budget);
}

Json InlineReferences(const Json& schema, const Json& root, InlineBudget& budget) {
  return Inliner(root, budget).Copy(schema, 0);
}

std::string AnnotationOf(const Json& schema) { return Annotation(schema, 0); }

bool AcceptsNull(const Json& schema) {
  const std::string annotation = AnnotationOf(schema);
  return annotation == "object" || annotation == "None" || annotation.ends_with(" | None");
}

Json OrNull(Json schema) {
  if (AcceptsNull(schema)) return schema;
  const Json& type = MemberOf(schema, "type");
  if (type.is_string() && !schema.contains("enum") && !schema.contains("const")) {
    schema["type"] = Json::array({type, "null"});
    return schema;
  }
  return {{"anyOf", Json::array({std::move(schema), Json{{"type", "null"}}})}};
}

std::string KeysText(const Json& schema, std::size_t max_bytes) {
  const Json& items = MemberOf(schema, "items");
  if (TextOf(schema, "type") == "array" && items.is_object()) {
    const std::string inside = KeysText(items, max_bytes);
    return inside.empty() ? "" : "each a " + inside;
  }
  const Json& properties = MemberOf(schema, "properties");
  if (!properties.is_object() || properties.empty()) return "";
  std::string text;
  for (const auto& [key, property] : properties.items()) {
    text += fmt::format("{}{}: {}{}", text.empty() ? "dict with keys " : ", ", CleanLine(key, 64),
                        AnnotationOf(property), IsRequired(schema, key) ? "" : " (optional)");
    if (text.size() > max_bytes) return CleanLine(text, max_bytes);
  }
  return text;
}

}  // namespace gloveport
