// Branches of a live session, and cells that a session survives.
#include "gloveport/tests/bench/figures.h"

namespace gloveport::bench {

Result<Measurements> MeasureBranch() {
  return Measurements{Measurement::NotMeasured("branch_20k_dicts", Mode::kPinned1, "<= 1.5 ms",
                                               "this build has no branches of sessions yet")};
}

Result<Measurements> MeasureTransactionalCell() {
  return Measurements{Measurement::NotMeasured("transactional_cell", Mode::kPinned1,
                                               "<= 1 ms; with pandas <= 1.2 x bare fork",
                                               "this build has no checkpoint before each cell yet")};
}

}  // namespace gloveport::bench
