// What two runs of the same cell have in common, by their records. Pure functions.
#ifndef GLOVEPORT_CORE_RECORD_RECORD_COMPARE_H_
#define GLOVEPORT_CORE_RECORD_RECORD_COMPARE_H_

#include <string>
#include <vector>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct CellDifference {
  std::string what;
  Json recorded;
  Json now;
};

// Compared are verdict, outcome, state, value, error, final answer, output, displays, the limit that was hit,
// and the tool calls with their arguments, the latter without regard to their order: threads and tasks may
// change it. Not compared: times, numbers of approvals, resource use, what the kernel saw.
std::vector<CellDifference> CompareCells(const std::vector<Json>& recorded, const std::vector<Json>& now);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_RECORD_COMPARE_H_
