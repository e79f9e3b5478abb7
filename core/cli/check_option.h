// The option --check of `run` and `chat`: a type checker over each cell before it runs.
#ifndef GLOVEPORT_CORE_CLI_CHECK_OPTION_H_
#define GLOVEPORT_CORE_CLI_CHECK_OPTION_H_

#include "gloveport/core/agent/cell_check.h"
#include "gloveport/core/base/result.h"

namespace gloveport {

// With the first checker that is on PATH; kInvalidArgument where none is.
Result<CellChecker> MakeCellChecker();

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_CHECK_OPTION_H_
