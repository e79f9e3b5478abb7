// Values of the wire as Python objects of the host's program, and back. Needs the GIL.
//
// Both ways go over CBOR with the child's own encoder and decoder, so that what crosses, and as what, is
// written down once. What comes from a session is hostile: gloveport/_values.py says which classes it may
// become here.
#ifndef GLOVEPORT_INTERP_PYTHON_VALUES_H_
#define GLOVEPORT_INTERP_PYTHON_VALUES_H_

#include <pybind11/pybind11.h>

#include "gloveport/core/wire/value.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport::python {

namespace py = pybind11;

// Throws py::error_already_set: ValueError for what is malformed.
py::object ToPython(const Value& value);
// The same, but what cannot be had here (malformed, a library is missing) is a gloveport.Foreign that says
// why.
py::object ToPythonOrForeign(const Value& value);
// JSON taken literally, for what the host itself says.
py::object ToPython(const Json& json);

// Throws py::error_already_set: TypeError for what has no faithful form, ValueError for cycles and depth,
// OverflowError for size.
Value FromPython(py::handle object);
// As text that a result shows: what has no faithful form becomes its repr.
Value FromPythonShown(py::handle object);

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_VALUES_H_
