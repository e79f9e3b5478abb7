// The parameters of a tool as one JSON Schema, for models and for MCP. Pure.
#ifndef GLOVEPORT_TOOLS_INPUT_SCHEMA_H_
#define GLOVEPORT_TOOLS_INPUT_SCHEMA_H_

#include "gloveport/core/wire/value.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// {"type": "object", "properties": {...}, "required": [...], "additionalProperties": false}, with the
// parameters' descriptions and defaults. Draft 2020-12.
Value InputSchema(const ToolSpec& spec);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_INPUT_SCHEMA_H_
