// Tools as a short list, for prompts and people where there are too many to show each in full. Pure.
#ifndef GLOVEPORT_CORE_AGENT_TOOL_INDEX_H_
#define GLOVEPORT_CORE_AGENT_TOOL_INDEX_H_

#include <cstddef>
#include <string>
#include <vector>

#include "gloveport/tools/tool.h"

namespace gloveport {

// Up to so many tools a prompt shows each as the head of a function with its docstring.
inline constexpr std::size_t kMaxToolsInFull = 30;

// "name(path, limit=...)  What it does, up to the first sentence's end." Parameters without types, those with
// defaults marked. One line, at most about `max_bytes`.
std::string ToolLine(const ToolSpec& spec, std::size_t max_bytes = 160);

// A comment line for each tool and, before them, how code learns more: tools.search("...") and help(name).
// For the place in a prompt where the functions would stand.
std::string ToolIndex(const std::vector<ToolSpec>& tools);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_TOOL_INDEX_H_
