#include "gloveport/core/cli/check_option.h"

#include <chrono>

#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/type_check.h"

namespace gloveport {
namespace {

// More than a checker that starts cold needs for a cell; a run shall not wait for one that hangs.
constexpr std::chrono::seconds kTime{60};

}  // namespace

Result<CellChecker> MakeCellChecker() {
  ASSIGN_OR_RETURN(const TypeChecker checker, AtOption("--check", FindTypeChecker()));
  return CellChecker([checker](const CellToCheck& cell) {
    const TypeCheckInput input{.code = cell.code, .tools = cell.history.tools, .earlier = cell.history.cells};
    return CheckTypes(checker, input, Earlier(cell.deadline, Deadline::After(kTime)), cell.stop);
  });
}

}  // namespace gloveport
