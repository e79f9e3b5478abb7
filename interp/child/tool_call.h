// Calls of host functions from cells.
#ifndef GLOVEPORT_INTERP_CHILD_TOOL_CALL_H_
#define GLOVEPORT_INTERP_CHILD_TOOL_CALL_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// Calls the tool `name` with `arguments` (a dict: every parameter bound) and returns what it returned; null
// with an error set where the arguments cannot cross, the tool failed, or the cell was stopped meanwhile. Any
// thread with the GIL, which is given up while the host works.
PyRef CallTool(PyObject* name, PyObject* arguments);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_TOOL_CALL_H_
