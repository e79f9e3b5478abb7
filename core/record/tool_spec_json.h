// Tools as records describe them, and back: what a replay needs to offer the same functions. Pure functions.
#ifndef GLOVEPORT_CORE_RECORD_TOOL_SPEC_JSON_H_
#define GLOVEPORT_CORE_RECORD_TOOL_SPEC_JSON_H_

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

Json ToJson(const ToolSpec& spec);
Result<ToolSpec> ReadToolSpec(const Json& json);  // kInvalidArgument

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_TOOL_SPEC_JSON_H_
