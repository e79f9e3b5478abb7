// JSON Schemas of an MCP server as Python: type annotations, and words about what a dict holds. Pure, total,
// bounded: the schemas are hostile.
#ifndef GLOVEPORT_CORE_MCP_SCHEMA_TEXT_H_
#define GLOVEPORT_CORE_MCP_SCHEMA_TEXT_H_

#include <cstddef>
#include <string>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// `schema` with its references into `root` replaced by what they refer to, as deep and as much as the limits
// allow; the rest becomes {}, which accepts everything. Nothing is ever fetched. Identifiers, definitions and
// extensions are left out, texts are cleaned.
Json InlineReferences(const Json& schema, const Json& root);

// What copies may still take: one budget for several schemas of a tool keeps them all together within it.
struct InlineBudget {
  std::size_t nodes = 4000;
  std::size_t bytes = 128u << 10;  // of keys, texts and values
};
Json InlineReferences(const Json& schema, const Json& root, InlineBudget& budget);

// Of an inlined schema: "str", "list[int]", "Literal['a', 'b']", "dict[str, float]", "int | None"; "object"
// for what has no short annotation.
std::string AnnotationOf(const Json& schema);

bool AcceptsNull(const Json& schema);
// The same schema, but None is accepted too.
Json OrNull(Json schema);

// "dict with keys name: str, size: int (optional)" for a schema of objects with properties, "each a dict ..."
// for one of lists of those; empty for others. At most about `max_bytes`.
std::string KeysText(const Json& schema, std::size_t max_bytes = 600);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_SCHEMA_TEXT_H_
