// Checks JSON against the part of JSON Schema 2020-12 that tools' results mostly use, without asking another
// process. Pure; bounded, for value and schema are hostile.
#ifndef GLOVEPORT_CORE_MCP_PLAIN_SCHEMA_H_
#define GLOVEPORT_CORE_MCP_PLAIN_SCHEMA_H_

#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// What is wrong, "/path: problem" each, the first few; empty: it fits. Nothing where this cannot be told
// here: the schema has other keywords than type, enum, const, properties, required, additionalProperties,
// items, minItems, maxItems, minLength, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// anyOf, allOf, oneOf and $ref into itself, or it would take too long.
std::optional<std::vector<std::string>> CheckPlainly(const Json& value, const Json& schema);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_PLAIN_SCHEMA_H_
