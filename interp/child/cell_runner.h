// Runs one cell in __main__ and says how it ended.
#ifndef GLOVEPORT_INTERP_CHILD_CELL_RUNNER_H_
#define GLOVEPORT_INTERP_CHILD_CELL_RUNNER_H_

#include "gloveport/core/wire/messages.h"

namespace gloveport::child {

// Compiles and runs the cell, flushes what it wrote and describes value or error. Main thread, with the GIL;
// leaves no Python error set. Every failure, also one of our own, becomes a status: nothing of a cell can end
// the session here.
wire::CellDone RunCell(const wire::RunCell& cell);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_CELL_RUNNER_H_
