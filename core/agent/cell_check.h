// CellCheck: what a host program may find in a cell before it runs, such as a type checker's errors, for the
// model to mend first. It helps a model to lose fewer steps and protects against nothing.
#ifndef GLOVEPORT_CORE_AGENT_CELL_CHECK_H_
#define GLOVEPORT_CORE_AGENT_CELL_CHECK_H_

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// What the names in a session stand for.
struct CellHistory {
  std::vector<ToolSpec> tools;     // that exist for its cells
  std::vector<std::string> cells;  // sources whose definitions are there, in the order in which they ran

  // A cell has ended. One that never ran, or that was undone, adds nothing.
  void Add(std::string_view code, const CellResult& result);
};

struct CellToCheck {
  std::string_view code;
  const CellHistory& history;
  Deadline deadline;     // of the run
  std::stop_token stop;  // requested when the run is interrupted
};

// What is wrong with the cell; empty: nothing. An error means that it could not be looked at, and it runs.
// Called on the thread in Agent::Run; where it throws, that is such an error.
using CellChecker = std::function<Result<std::vector<Finding>>(const CellToCheck&)>;

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_CELL_CHECK_H_
