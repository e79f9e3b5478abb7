// Values as JSON: plain JSON stays plain, everything else is a one-key object such as {"$bytes": "aGk="}
// (FORMAT.md). Text from outside is parsed with limits, refusing duplicate keys.
#ifndef GLOVEPORT_CORE_WIRE_VALUE_JSON_H_
#define GLOVEPORT_CORE_WIRE_VALUE_JSON_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

using Json = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t max_bytes = 64u << 20;
  std::size_t max_depth = 200;
  bool allow_comments = false;
};
// Errors name line and column (1-based, column in bytes).
Result<Json> ParseJson(std::string_view text, JsonLimits limits = {});

Json ToJson(const Value& value);
// Reads the $-forms back. kInvalidArgument names the path of what is no valid form.
Result<Value> FromJson(const Json& json);
// JSON taken literally: no $-forms; for schemas and other plain documents.
Value FromPlainJson(const Json& json);

// One line; invalid UTF-8 becomes U+FFFD; never NaN or Infinity.
std::string DumpJson(const Json& json);
std::string DumpJson(const Value& value);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_VALUE_JSON_H_
