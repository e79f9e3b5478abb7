#include "gloveport/core/record/kept_value.h"

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/sha256.h"

namespace gloveport {

Json Redacted(const Redactor& redactor, const Json& json) {
  if (json.is_string()) return redactor.Apply(json.get_ref<const std::string&>());
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& item : json) list.push_back(Redacted(redactor, item));
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  for (const auto& [key, member] : json.items()) object[redactor.Apply(key)] = Redacted(redactor, member);
  return object;
}

Json KeptJson(const Redactor& redactor, const Json& json, std::size_t max_bytes) {
  const std::string text = DumpJson(json);
  Json kept = {{"sha256", Sha256Hex(text)}, {"bytes", text.size()}};
  if (text.size() > max_bytes) return kept;
  Json redacted = redactor.empty() ? json : Redacted(redactor, json);
  if (redacted != json) kept["redacted"] = true;
  kept["value"] = std::move(redacted);
  return kept;
}

Json KeptValue(const Redactor& redactor, const Value& value, std::size_t max_bytes) {
  return KeptJson(redactor, ToJson(value), max_bytes);
}

std::string KeptText(const Redactor& redactor, std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return redactor.Apply(ToValidUtf8(text));
  // A secret that the cut would part in two is found in the whole.
  return ToValidUtf8(redactor.Apply(ToValidUtf8(text)).substr(0, max_bytes));
}

std::string KeptBeginning(const Redactor& redactor, std::string_view beginning, std::size_t max_bytes) {
  const std::string more = redactor.Apply(ToValidUtf8(beginning));
  const std::string less = redactor.Apply(ToValidUtf8(beginning.substr(0, beginning.size() / 2)));
  const auto end = std::ranges::mismatch(more, less).in1;
  return ToValidUtf8(
      std::string_view(more).substr(0, std::min(max_bytes, static_cast<std::size_t>(end - more.begin()))));
}

}  // namespace gloveport
