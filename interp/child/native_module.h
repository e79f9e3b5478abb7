// The module _gloveport_native: what the Python parts, and through them the cells, can ask of C++.
#ifndef GLOVEPORT_INTERP_CHILD_NATIVE_MODULE_H_
#define GLOVEPORT_INTERP_CHILD_NATIVE_MODULE_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// For PyImport_AppendInittab.
PyObject* MakeNativeModule();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_NATIVE_MODULE_H_
