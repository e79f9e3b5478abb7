// What the host library returns, as dicts from which gloveport/_results.py makes its classes. Needs the GIL.
#ifndef GLOVEPORT_INTERP_PYTHON_RESULTS_H_
#define GLOVEPORT_INTERP_PYTHON_RESULTS_H_

#include <pybind11/pybind11.h>

#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/host/outcome.h"

namespace gloveport::python {

namespace py = pybind11;

// The RESULT of the session protocol, with values as Python objects.
py::dict ResultDict(const CellResult& result);
py::dict ToolCallDict(const ToolCallRecord& record);
// The object of `gloveport run --json`, with the answer as a Python object.
py::dict AgentResultDict(const AgentResult& result);

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_RESULTS_H_
