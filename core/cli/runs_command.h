// `gloveport runs list|show|diff|export` and `gloveport trace export|schema`: agent runs that were kept.
#ifndef GLOVEPORT_CORE_CLI_RUNS_COMMAND_H_
#define GLOVEPORT_CORE_CLI_RUNS_COMMAND_H_

#include <string>
#include <vector>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct RunsOptions {
  std::string run;    // id, the beginning of one, "last", or a file
  std::string other;  // of diff
  std::string format = "json";
  bool json = false;
  int most = 30;
};

ExitCode RunRunsList(const Program& program, const RunsOptions& options, Console& console);
ExitCode RunRunsShow(const Program& program, const RunsOptions& options, Console& console);
// Exit code 0: the same, 1: they differ.
ExitCode RunRunsDiff(const Program& program, const RunsOptions& options, Console& console);
ExitCode RunRunsExport(const Program& program, const RunsOptions& options, Console& console);

struct TraceCommandOptions {
  std::vector<std::string> runs;  // as above; empty: all that are kept
  std::string format = "openai-chat";
  std::vector<std::string> redact;  // NAME=PATTERN
  bool only_successes = false;
  bool only_validated = false;
  bool drop_failed_steps = false;
  bool keep_duplicates = false;
};

ExitCode RunTraceExport(const Program& program, const TraceCommandOptions& options, Console& console);
ExitCode RunTraceSchema(const Program& program, const TraceCommandOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_RUNS_COMMAND_H_
