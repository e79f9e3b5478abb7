#include "gloveport/core/agent/structured_output.h"

#include <optional>

#include "gloveport/core/agent/python_text.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

// Just behind the bracket that closes the one at `begin`, strings skipped; nothing where it stays open.
std::optional<std::size_t> BalancedEnd(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::nullopt;
}

// {"code" or {'thought', then a colon: what a model begins with that answers in structured output.
bool BeginsLikeStructuredOutput(std::string_view text, std::size_t begin) {
  if (text[begin] != '{') return false;
  std::size_t at = SkipBlank(text, begin + 1);
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return false;
  const char quote = text[at++];
  for (const std::string_view key : {"thought", "code"}) {
    if (!StartsWithNoCase(text, at, key)) continue;
    const std::size_t behind = at + key.size();
    if (behind >= text.size()) return true;  // cut in the middle
    if (text[behind] != quote) continue;
    const std::size_t colon = SkipBlank(text, behind + 1);
    return colon >= text.size() || text[colon] == ':';
  }
  return false;
}

bool HasAny(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (object.contains(key)) return true;
  }
  return false;
}

bool IsToolCall(const Json& object) {
  if (!object.is_object()) return false;
  if (HasAny(object, {"tool_calls", "function_call", "tool_call"})) return true;
  if (object.contains("function") && object["function"].is_object()) return true;
  return HasAny(object, {"name", "tool", "tool_name", "action", "function"}) &&
         HasAny(object, {"arguments", "parameters", "args", "tool_input", "action_input", "input"});
}

std::string TextMember(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

JsonKind KindOf(const Json& json) {
  if (json.is_array()) return !json.empty() && IsToolCall(json[0]) ? JsonKind::kToolCall : JsonKind::kNone;
  if (json.contains("code") && json["code"].is_string()) return JsonKind::kCode;
  if (IsToolCall(json)) return JsonKind::kToolCall;
  return HasAny(json, {"code", "thought"}) ? JsonKind::kNoCode : JsonKind::kData;
}

}  // namespace

JsonFound ReadModelJson(std::string_view text, std::size_t begin) {
  JsonFound found;
  const auto end = BalancedEnd(text, begin);
  Result<Json> json = Fail(ErrorCode::kInvalidArgument, "never closed");
  if (end) json = ParseJson(text.substr(begin, *end - begin));
  if (!json) {
    found.kind = BeginsLikeStructuredOutput(text, begin) ? JsonKind::kBroken : JsonKind::kNone;
    found.end = found.kind == JsonKind::kBroken ? text.size() : begin;
    return found;
  }
  found.kind = KindOf(*json);
  found.end = *end;
  if (!json->is_object()) return found;
  found.code = TextMember(*json, "code");
  found.thought = TextMember(*json, "thought");
  found.only_known_keys = json->size() == json->count("code") + json->count("thought");
  return found;
}

}  // namespace gloveport
