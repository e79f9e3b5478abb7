// The tools as a Python stub (.pyi): what a type checker or an editor needs to know of them. Pure.
#ifndef GLOVEPORT_TOOLS_PYTHON_STUB_H_
#define GLOVEPORT_TOOLS_PYTHON_STUB_H_

#include <string>
#include <string_view>
#include <vector>

#include "gloveport/tools/tool.h"

namespace gloveport {

// What cells find besides tools. The stub has them too, but for those that a tool is called like.
inline constexpr std::string_view kCellNames[] = {"final_answer", "display", "ToolError", "ToolTimeoutError"};

// One function for each tool, a TypedDict for each struct that their JSON Schemas describe, and kCellNames. A
// result or annotation that says nothing, or is no type that is known here, is Any: the stub is always
// Python, whatever a tool's text holds.
std::string PythonStub(const std::vector<ToolSpec>& tools);

// Text inside of a docstring: no line of it may end the string or the indentation.
std::string DocstringText(std::string_view text);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_PYTHON_STUB_H_
