// Which names tools and parameters may have. Pure.
#ifndef GLOVEPORT_TOOLS_TOOL_NAMES_H_
#define GLOVEPORT_TOOLS_TOOL_NAMES_H_

#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

bool IsPythonKeyword(std::string_view text);

// kInvalidArgument, with what to do instead, for a name that is no ASCII Python identifier, is a keyword,
// begins and ends with two underscores, or is "final_answer".
Status CheckToolName(std::string_view name);

// Names of tool and parameters, no parameter twice, none required after one with a default.
Status CheckToolSpec(const ToolSpec& spec);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_TOOL_NAMES_H_
