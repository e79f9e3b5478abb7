// Sessions as the figures need them: without inspection, with limits that no figure meets.
#ifndef GLOVEPORT_TESTS_BENCH_SESSIONS_H_
#define GLOVEPORT_TESTS_BENCH_SESSIONS_H_

#include <memory>
#include <string_view>

#include "gloveport/core/host/runtime.h"
#include "gloveport/tests/bench/placement.h"

namespace gloveport::bench {

// What a template has loaded: what the preset "default" names, or numpy and pandas besides.
enum class Preloaded { kStandardLibrary, kPandas };
std::string_view PreloadedName(Preloaded preloaded);  // "stdlib", "pandas"

const Policy& PolicyWith(Preloaded preloaded);

// A runtime whose templates, and so whose sessions, are on the sessions' CPU.
Result<std::unique_ptr<Runtime>> MakeRuntime(const Placement& placement, std::size_t min_ready);

Result<std::unique_ptr<Session>> OpenSession(Runtime& runtime, Preloaded preloaded,
                                             std::shared_ptr<const ToolRegistry> tools = nullptr,
                                             Checkpoints checkpoints = Checkpoints::kOff);

// An error where the cell did not end well: a figure of failures is none.
Result<CellResult> RunCell(Session& session, std::string_view code);

inline constexpr std::string_view kTrivialCell = "x = 20 + 22\nx";

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_SESSIONS_H_
