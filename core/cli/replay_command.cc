#include "gloveport/core/cli/replay_command.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/record/log_reader.h"
#include "gloveport/core/record/replay.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxShown = 400;

Result<ReplayOptions> OptionsOf(const Program& program, const ReplayCommandOptions& options,
                                Console& console) {
  ReplayOptions replay;
  replay.runtime.min_ready = 0;
  if (options.against != "live") return replay;
  ASSIGN_OR_RETURN(replay.live_tools, WithBuiltinTools(program.tools, options.builtin, &console));
  ASSIGN_OR_RETURN(const auto mcp, OpenMcp(options.mcp, nullptr, nullptr, console));
  ASSIGN_OR_RETURN(replay.live_tools, AddMcpTools(mcp, std::move(replay.live_tools), console));
  return replay;
}

std::string Shown(const Json& json) {
  std::string text = DumpJson(json);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return Console::Safe(text);
}

std::string Page(const ReplayReport& report, const Console& console) {
  std::string page = fmt::format("{} cells of {} sessions were run again: ", report.cells, report.sessions);
  page += report.divergences.empty()
              ? console.PaintData("everything came out as it was recorded", Style::kGood) + "\n"
              : console.PaintData(fmt::format("{} things came out differently", report.divergences.size()),
                                  Style::kBad) +
                    "\n";
  for (const Divergence& divergence : report.divergences) {
    page +=
        fmt::format("\n{} of {}{}\n  recorded  {}\n  now       {}\n",
                    console.PaintData(divergence.what, Style::kHeading), Console::Safe(divergence.session),
                    divergence.cell < 0 ? "" : fmt::format(", cell {}", divergence.cell),
                    Shown(divergence.recorded), Shown(divergence.now));
  }
  for (const std::string& gap : report.gaps) page += "not in the record: " + Console::Safe(gap) + "\n";
  return page;
}

Result<std::string> ReadCode(const ReplayCommandOptions& options) {
  if (options.code) return *options.code;
  return ReadFile(options.code_file == "-" ? "/dev/stdin" : options.code_file);
}

Result<Session*> FindSession(const Resumed& resumed, const std::string& name) {
  if (name.empty() && resumed.sessions.size() == 1) return resumed.sessions.begin()->second.get();
  if (const auto found = resumed.sessions.find(name); found != resumed.sessions.end())
    return found->second.get();
  std::string known;
  for (const auto& [id, session] : resumed.sessions) known += (known.empty() ? "" : ", ") + id;
  return Fail(ErrorCode::kInvalidArgument,
              name.empty() ? fmt::format("the log leaves {} sessions open", resumed.sessions.size())
                           : fmt::format("the log leaves no session \"{}\" open", name),
              known.empty() ? "its sessions were all closed" : "name one with --session: " + known);
}

}  // namespace

ExitCode RunReplay(const Program& program, const ReplayCommandOptions& options, Console& console) {
  const auto records = ReadLog(options.file);
  if (!records)
    return ReportFailure(program, "replay", records.error(), FailureFormOf(options.json), console);
  const auto replay = OptionsOf(program, options, console);
  if (!replay) return ReportFailure(program, "replay", replay.error(), FailureFormOf(options.json), console);
  const auto report = Replay(*records, *replay);
  if (!report) return ReportFailure(program, "replay", report.error(), FailureFormOf(options.json), console);
  console.Data(options.json ? DumpJson(ToJson(*report)) + "\n" : Page(*report, console));
  return report->divergences.empty() ? kExitOk : kExitProgramFailed;
}

ExitCode RunResume(const Program& program, const ReplayCommandOptions& options, Console& console) {
  const auto code = ReadCode(options);
  if (!code) return ReportFailure(program, "resume", code.error(), FailureFormOf(options.json), console);
  const auto records = ReadLog(options.file);
  if (!records)
    return ReportFailure(program, "resume", records.error(), FailureFormOf(options.json), console);
  const auto replay = OptionsOf(program, options, console);
  if (!replay) return ReportFailure(program, "resume", replay.error(), FailureFormOf(options.json), console);
  auto resumed = Resume(*records, *replay);
  if (!resumed)
    return ReportFailure(program, "resume", resumed.error(), FailureFormOf(options.json), console);
  const auto session = FindSession(*resumed, options.session);
  if (!session)
    return ReportFailure(program, "resume", session.error(), FailureFormOf(options.json), console);
  if (!resumed->report.divergences.empty())
    console.Note(Page(resumed->report, Console::Plain()), Style::kWarning);
  const auto result = (*session)->Run(*code);
  if (!result) return ReportFailure(program, "resume", result.error(), FailureFormOf(options.json), console);
  if (options.json) {
    console.Data(DumpJson(ToJson(*result)) + "\n");
    return ExitCodeOf(result->outcome);
  }
  console.StreamData(result->out);
  if (!result->err.empty()) console.StreamNote(result->err);
  if (!result->type.empty() && result->type != "NoneType") console.StreamData(result->repr + "\n");
  console.EndStream();
  if (result->outcome != Outcome::kOk) console.Note(DescribeFailure(*result, console));
  return ExitCodeOf(result->outcome);
}

}  // namespace gloveport
