// The figures: each function measures one of them, beside its yardstick in turns, in every mode that its aim
// names. An error is a reason why it could not be measured.
#ifndef GLOVEPORT_TESTS_BENCH_FIGURES_H_
#define GLOVEPORT_TESTS_BENCH_FIGURES_H_

#include "gloveport/tests/bench/measurement.h"

namespace gloveport::bench {

Result<Measurements> MeasureToolCall();           // tool_call_small
Result<Measurements> MeasureArray();              // array_100mb
Result<Measurements> MeasureTrivialCell();        // cell_trivial
Result<Measurements> MeasureCellsPerSecond();     // cells_per_second
Result<Measurements> MeasureSessionFromPool();    // session_from_pool
Result<Measurements> MeasureSessionFork();        // session_fork_stdlib, session_fork_pandas
Result<Measurements> MeasureBranch();             // branch_20k_dicts
Result<Measurements> MeasureTransactionalCell();  // transactional_cell
Result<Measurements> MeasureIdleMemory();         // idle_private_memory
Result<Measurements> MeasureManySessions();       // sessions_1000
Result<Measurements> MeasureColdExec();           // exec_cold
Result<Measurements> MeasureAgentStep();          // agent_step, agent_prompt_growth
Result<Measurements> MeasurePurePython();         // pure_python

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_FIGURES_H_
