#include "gloveport/core/cli/runs_command.h"

#include <fmt/format.h>

#include <utility>

#include "gloveport/core/agent/run_store.h"
#include "gloveport/core/agent/trace_export.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/run_pages.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

Result<RunStore> OpenStore() {
  ASSIGN_OR_RETURN(const auto folder, RunStore::DefaultFolder());
  return RunStore::Open(folder);
}

Result<Json> LoadRun(const std::string& name) {
  ASSIGN_OR_RETURN(const RunStore store, OpenStore());
  return store.Load(name);
}

ExitCode Failed(const Program& program, std::string_view command, const RunsOptions& options,
                const Error& error, Console& console) {
  return ReportInputFailure(program, command, error, FailureFormOf(options.json), console);
}

Result<std::vector<RedactionPattern>> ReadPatterns(const std::vector<std::string>& texts) {
  std::vector<RedactionPattern> patterns;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || !IsRedactionName(text.substr(0, equals))) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("--redact {}: NAME=PATTERN is needed", text),
                  "the name of letters, digits, - and _; the pattern as RE2 takes it");
    }
    patterns.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return patterns;
}

Result<TraceExporter> MakeExporter(const TraceCommandOptions& options) {
  Policy policy;  // secrets are taken out, whatever the run's policy said
  ASSIGN_OR_RETURN(policy.redact, ReadPatterns(options.redact));
  TraceOptions trace{.format = ParseTraceFormat(options.format).value_or(TraceFormat::kOpenAiChat),
                     .only_successes = options.only_successes,
                     .only_validated = options.only_validated,
                     .drop_failed_steps = options.drop_failed_steps,
                     .keep_duplicates = options.keep_duplicates};
  ASSIGN_OR_RETURN(trace.redactor, Redactor::Compile(policy));
  return TraceExporter(std::move(trace));
}

// Oldest first, so that of two that are the same the earlier one is taken.
Result<std::vector<Json>> LoadRuns(const std::vector<std::string>& names) {
  ASSIGN_OR_RETURN(const RunStore store, OpenStore());
  if (names.empty()) {
    ASSIGN_OR_RETURN(auto runs, store.List(1'000'000));
    return std::vector<Json>(runs.rbegin(), runs.rend());
  }
  std::vector<Json> runs;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(Json run, store.Load(name));
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

ExitCode RunRunsList(const Program& program, const RunsOptions& options, Console& console) {
  const auto runs = [&]() -> Result<std::vector<Json>> {
    ASSIGN_OR_RETURN(const RunStore store, OpenStore());
    return store.List(static_cast<std::size_t>(options.most));
  }();
  if (!runs) return Failed(program, "runs list", options, runs.error(), console);
  for (const Json& run : *runs) console.Data((options.json ? run.dump() : RunLine(run)) + "\n");
  if (runs->empty()) console.Note("No runs are kept yet: `" + program.name + " run --save` keeps one.");
  return kExitOk;
}

ExitCode RunRunsShow(const Program& program, const RunsOptions& options, Console& console) {
  const auto run = LoadRun(options.run);
  if (!run) return Failed(program, "runs show", options, run.error(), console);
  console.Data(options.json ? run->dump(2) + "\n" : RunPage(*run, console));
  return kExitOk;
}

ExitCode RunRunsDiff(const Program& program, const RunsOptions& options, Console& console) {
  const auto before = LoadRun(options.run);
  if (!before) return Failed(program, "runs diff", options, before.error(), console);
  const auto after = LoadRun(options.other);
  if (!after) return Failed(program, "runs diff", options, after.error(), console);
  const auto lines = RunDiff(*before, *after);
  if (lines.empty()) {
    console.Note("The runs did the same.");
    return kExitOk;
  }
  for (const std::string& line : lines) {
    const Style style = line[0] == '-' ? Style::kBad : line[0] == '+' ? Style::kGood : Style::kPlain;
    console.Data(console.PaintData(Console::Safe(line), style) + "\n");
  }
  return kExitProgramFailed;
}

ExitCode RunRunsExport(const Program& program, const RunsOptions& options, Console& console) {
  const auto run = LoadRun(options.run);
  if (!run) return Failed(program, "runs export", options, run.error(), console);
  if (options.format == "markdown") {
    console.Data(RunMarkdown(*run));
  } else {
    console.Data((options.format == "notebook" ? RunNotebook(*run) : *run).dump(1) + "\n");
  }
  return kExitOk;
}

ExitCode RunTraceExport(const Program& program, const TraceCommandOptions& options, Console& console) {
  const auto fail = [&](const Error& error) {
    return ReportInputFailure(program, "trace export", error, FailureForm::kText, console);
  };
  auto exporter = MakeExporter(options);
  if (!exporter) return fail(exporter.error());
  const auto runs = LoadRuns(options.runs);
  if (!runs) return fail(runs.error());
  std::size_t lines = 0;
  for (const Json& run : *runs) {
    const auto line = exporter->Line(run);
    if (!line) return fail(line.error());
    if (!*line) continue;
    console.Data((*line)->dump() + "\n");
    ++lines;
  }
  console.Note(fmt::format("{} of {}; {} left out by filters, {} as duplicates",
                           Counted(lines, "line", "lines"), Counted(runs->size(), "run", "runs"),
                           exporter->filtered(), exporter->duplicates()));
  return kExitOk;
}

ExitCode RunTraceSchema(const Program&, const TraceCommandOptions& options, Console& console) {
  console.Data(TraceSchema(ParseTraceFormat(options.format).value_or(TraceFormat::kOpenAiChat)).dump(2) +
               "\n");
  return kExitOk;
}

}  // namespace gloveport
