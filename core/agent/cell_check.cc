#include "gloveport/core/agent/cell_check.h"

namespace gloveport {

void CellHistory::Add(std::string_view code, const CellResult& result) {
  if (result.state == SessionState::kLost) cells.clear();
  if (result.state != SessionState::kKept || result.outcome == Outcome::kDenied) return;
  // What an error ended halfway has defined something, unless it never began.
  if (result.error && result.error->type == "SyntaxError" &&
      result.error->cell == static_cast<int>(result.cell))
    return;
  cells.emplace_back(code);
}

}  // namespace gloveport
