// Functions of Python as tools, and tools of C++ extensions beside them.
#ifndef GLOVEPORT_INTERP_PYTHON_PYTHON_TOOL_H_
#define GLOVEPORT_INTERP_PYTHON_PYTHON_TOOL_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "gloveport/interp/python/ownership.h"
#include "gloveport/tools/registry.h"
#include "gloveport/tools/tool.h"

namespace gloveport::python {

// A tool whose calls go to a Python callable: call(arguments: dict, context: CallContext) -> object.
std::shared_ptr<Tool> MakePythonTool(ToolSpec spec, py::object call);

// From a list of capsules (tools/tool_capsule.h) and (spec as a dict, callable) pairs. Null for an empty one.
std::shared_ptr<const ToolRegistry> MakeRegistry(const py::list& tools);

// What Python holds of a tool of C++.
py::capsule CapsuleOf(std::shared_ptr<Tool> tool);

void BindTools(py::module_& module);

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_PYTHON_TOOL_H_
