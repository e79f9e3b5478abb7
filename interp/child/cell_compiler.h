// Compiles the text of a cell into code that can be run, the trailing expression apart. Needs the GIL.
#ifndef GLOVEPORT_INTERP_CHILD_CELL_COMPILER_H_
#define GLOVEPORT_INTERP_CHILD_CELL_COMPILER_H_

#include <string_view>

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

struct CompiledCell {
  PyRef body;   // everything but the trailing expression; null where there is nothing else
  PyRef value;  // the trailing expression; null where the cell has none
  // Instead of both: code of the kind that an interactive prompt runs, which hands the value of each
  // expression statement to sys.displayhook; the last of them is the cell's value.
  PyRef interactive;
};

// Registers the text under `filename` ("<cell 0>") for tracebacks and inspect, then compiles it: top-level
// await is allowed, `from __future__` imports of earlier cells hold. Both parts are compiled before anything
// runs. Returns false with the SyntaxError (ValueError, MemoryError ...) set that CPython has for the whole
// text.
bool CompileCell(std::string_view text, PyObject* filename, CompiledCell& out);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_CELL_COMPILER_H_
