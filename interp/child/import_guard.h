// ImportGuard: which modules a cell may import by name.
//
// It explains; it does not protect. What an allowed module imports for itself just works, so os, socket and
// ctypes are in the process and a cell that wants them finds them. The kernel's layers are the boundary.
#ifndef GLOVEPORT_INTERP_CHILD_IMPORT_GUARD_H_
#define GLOVEPORT_INTERP_CHILD_IMPORT_GUARD_H_

#include "gloveport/core/base/result.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// Puts the guard in the place of builtins.__import__ and importlib.import_module. Who imports is told by the
// calling frame: code of a cell is checked against State().policy, everything else is not. A refusal is an
// ImportError with the module's name and what to do instead, and an event "refused". Once per session, with
// the GIL.
Status InstallImportGuard();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_IMPORT_GUARD_H_
