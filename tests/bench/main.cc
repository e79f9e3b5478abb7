// gloveport-bench FOLDER [FIGURE ...]: measures all figures, or those whose name begins so, prints a table,
// and writes FOLDER/results.json and FOLDER/table.md. scripts/bench builds and runs it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/report.h"

namespace gloveport::bench {
namespace {

struct Figure {
  std::vector<std::string> names;  // that it must report, measured or not
  Result<Measurements> (*measure)();
};

const std::vector<Figure>& Figures() {
  static const std::vector<Figure> figures = {
      {{"tool_call_small"}, MeasureToolCall},
      {{"cell_trivial"}, MeasureTrivialCell},
      {{"session_from_pool"}, MeasureSessionFromPool},
      {{"session_fork_stdlib", "session_fork_pandas"}, MeasureSessionFork},
      {{"branch_20k_dicts"}, MeasureBranch},
      {{"transactional_cell"}, MeasureTransactionalCell},
      {{"idle_private_memory"}, MeasureIdleMemory},
      {{"sessions_1000"}, MeasureManySessions},
      {{"array_100mb"}, MeasureArray},
      {{"cells_per_second"}, MeasureCellsPerSecond},
      {{"exec_cold"}, MeasureColdExec},
      {{"agent_step", "agent_prompt_growth"}, MeasureAgentStep},
      {{"pure_python"}, MeasurePurePython},
  };
  return figures;
}

bool IsWanted(const Figure& figure, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& prefix) {
           return std::ranges::any_of(figure.names,
                                      [&](const std::string& name) { return name.starts_with(prefix); });
         });
}

Measurements Measure(const Figure& figure) {
  const Stopwatch watch;
  auto measured = figure.measure();
  std::fprintf(stderr, "%s: %.1f s\n", figure.names[0].c_str(), watch.Microseconds() / 1e6);
  if (measured) return *measured;
  Measurements missing;
  for (const std::string& name : figure.names)
    missing.push_back(Measurement::NotMeasured(name, Mode::kUnpinned, "", measured.error().message));
  return missing;
}

int Main(const std::filesystem::path& folder, const std::vector<std::string>& wanted) {
  Measurements all;
  for (const Figure& figure : Figures()) {
    if (!IsWanted(figure, wanted)) continue;
    for (Measurement& one : Measure(figure)) all.push_back(std::move(one));
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const std::string table = ReportTable(all);
  std::fputs(table.c_str(), stdout);
  for (const auto& [name, text] :
       {std::pair("results.json", ReportJson(all)), std::pair("table.md", table)}) {
    if (const Status written = WriteFile(folder / name, text); !written) {
      std::fprintf(stderr, "bench: %s\n", written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace gloveport::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [FIGURE ...]\n", argv[0]);
    return 2;
  }
  return gloveport::bench::Main(argv[1], {argv + 2, argv + argc});
}
