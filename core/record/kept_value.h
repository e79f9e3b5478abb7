// How values and texts stand in a record: redacted, cut, and with the hash of what they were. Pure functions.
#ifndef GLOVEPORT_CORE_RECORD_KEPT_VALUE_H_
#define GLOVEPORT_CORE_RECORD_KEPT_VALUE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

// Every text in it, keys included.
Json Redacted(const Redactor& redactor, const Json& json);

// {"sha256","bytes"} of the JSON text, and with it "value" where that has at most `max_bytes`;
// "redacted":true where `value` is not what it was any more.
Json KeptJson(const Redactor& redactor, const Json& json, std::size_t max_bytes);
Json KeptValue(const Redactor& redactor, const Value& value, std::size_t max_bytes);

// The beginning, redacted, at most `max_bytes` before that.
std::string KeptText(const Redactor& redactor, std::string_view text, std::size_t max_bytes);

// The same of a text of which no more than `beginning` is at hand. What reads differently with the second
// half of it and without may be a secret that was cut: it is left out, and all after it.
std::string KeptBeginning(const Redactor& redactor, std::string_view beginning, std::size_t max_bytes);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_KEPT_VALUE_H_
