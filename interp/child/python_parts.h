// The parts of the child that are written in Python: embedded into the binary and imported under the private
// package name `_gloveport`, so that nothing is read from disk for them and no cell can put another file in
// their place.
#ifndef GLOVEPORT_INTERP_CHILD_PYTHON_PARTS_H_
#define GLOVEPORT_INTERP_CHILD_PYTHON_PARTS_H_

#include <span>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

struct PythonPart {
  std::string_view name;  // "errors" is imported as _gloveport.errors
  std::string_view source;
  std::string_view code;  // the same, compiled by the Python of the build and marshalled
};
std::span<const PythonPart> PythonParts();  // generated
long PythonPartsMagic();                    // generated: of the Python that can run `code`

// Makes the package importable. Once, with the GIL.
Status InstallPythonParts();
// Imports all parts but those that not every session needs.
Status ImportPythonParts();

// A function of a part, cached after the first use: borrowed, null with an error set where there is none.
PyObject* PythonFunction(const char* part, const char* function);
// Calls such a function without arguments; what it returns is dropped.
Status CallPart(const char* part, const char* function);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_PYTHON_PARTS_H_
