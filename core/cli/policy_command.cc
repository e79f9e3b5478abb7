#include "gloveport/core/cli/policy_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/policy_tools.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/policy_import.h"
#include "gloveport/policy/policy_source.h"
#include "gloveport/policy/presets.h"
#include "gloveport/policy/suggest.h"

namespace gloveport {
namespace {

ExitCode Failed(const Program& program, std::string_view what, const Error& error, Console& console) {
  return ReportInputFailure(program, fmt::format("policy {}", what), error, FailureForm::kText, console);
}

std::string Counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "file:3:7: error: message", as compilers write it, so that editors find the place.
std::string Problem(std::string_view file, int line, int column, std::string_view kind, Style style,
                    std::string_view message, std::string_view hint, const Console& console) {
  const std::string place = line > 0 ? fmt::format("{}:{}:{}", file, line, column) : std::string(file);
  std::string text = fmt::format("{}: {} {}\n", console.PaintData(Console::Safe(place), Style::kBold),
                                 console.PaintData(fmt::format("{}:", kind), style), Console::Safe(message));
  if (!hint.empty()) text += fmt::format("    {}\n", Console::Safe(hint));
  return text;
}

Json ReportJson(const PolicyReport& report) {
  Json errors = Json::array();
  for (const PolicyError& error : report.errors) {
    Json item = {{"line", error.line}, {"column", error.column}, {"message", error.message}};
    if (!error.hint.empty()) item["hint"] = error.hint;
    errors.push_back(std::move(item));
  }
  Json warnings = Json::array();
  for (const PolicyWarning& warning : report.warnings) {
    warnings.push_back({{"line", warning.line}, {"column", warning.column}, {"message", warning.message}});
  }
  return {{"ok", report.errors.empty()}, {"errors", std::move(errors)}, {"warnings", std::move(warnings)}};
}

std::string ReportPage(const std::string& file, const PolicyReport& report, const Console& console) {
  std::string page;
  for (const PolicyError& error : report.errors) {
    page += Problem(file, error.line, error.column, "error", Style::kBad, error.message, error.hint, console);
  }
  for (const PolicyWarning& warning : report.warnings) {
    page +=
        Problem(file, warning.line, warning.column, "warning", Style::kWarning, warning.message, "", console);
  }
  const bool clean = report.errors.empty() && report.warnings.empty();
  page += fmt::format("{}: {}\n", Console::Safe(file),
                      clean ? console.PaintData("ok", Style::kGood)
                            : fmt::format("{}, {}", Counted(report.errors.size(), "error"),
                                          Counted(report.warnings.size(), "warning")));
  return page;
}

Result<std::string> PolicyText(const std::string& name_or_path) {
  if (const auto preset = PresetText(name_or_path)) return std::string(*preset);
  return ReadFile(name_or_path, kMaxPolicyBytes);
}

Result<PolicyReport> Checked(const Program& program, const PolicyOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, PolicyText(options.file));
  PolicyReport report = CheckPolicy(text);
  ASSIGN_OR_RETURN(const std::vector<KnownTool> tools,
                   AtOption("--tools", LoadKnownTools(program, options.tools)));
  if (!report.policy || (options.tools.empty() && tools.empty())) return report;
  ASSIGN_OR_RETURN(const PolicySource source, PolicySource::OfText(text, options.file));
  const std::vector<PolicyWarning> unknown = source.UnknownTools(tools);
  report.warnings.insert(report.warnings.end(), unknown.begin(), unknown.end());
  std::stable_sort(report.warnings.begin(), report.warnings.end(),
                   [](const PolicyWarning& a, const PolicyWarning& b) {
                     return std::pair(a.line, a.column) < std::pair(b.line, b.column);
                   });
  return report;
}

Style StyleOf(ImportOutcome outcome) {
  return outcome == ImportOutcome::kLeftOut || outcome == ImportOutcome::kStricter ? Style::kWarning
                                                                                   : Style::kDim;
}

}  // namespace

ExitCode RunPolicyCheck(const Program& program, const PolicyOptions& options, Console& console) {
  const auto report = Checked(program, options);
  if (!report) return Failed(program, "check", report.error(), console);
  console.Data(options.json ? DumpJson(ReportJson(*report)) + "\n"
                            : ReportPage(options.file, *report, console));
  const bool bad = !report->errors.empty() || (options.strict && !report->warnings.empty());
  return bad ? kExitUsage : kExitOk;
}

ExitCode RunPolicyShow(const Program& program, const PolicyOptions& options, Console& console) {
  if (const auto text = PresetText(options.file)) {
    console.Data(*text);
    return kExitOk;
  }
  return Failed(program, "show", PresetPolicy(options.file).error(), console);
}

ExitCode RunPolicySchema(Console& console) {
  console.Data(PolicySchema());
  return kExitOk;
}

ExitCode RunPolicyImport(const Program& program, const PolicyOptions& options, Console& console) {
  const auto text = ReadFile(options.file, kMaxPolicyBytes);
  if (!text) return Failed(program, "import", text.error(), console);
  ImportOptions import;
  import.extends = options.extends;
  if (!options.root.empty()) import.root = options.root;
  const auto imported = ImportPolicy(*text, options.file, import);
  if (!imported) return Failed(program, "import", imported.error(), console);
  console.Data(imported->text);
  for (const ImportNote& note : imported->notes) {
    console.Note(
        fmt::format("{}:{}:{}: {} {}", Console::Safe(options.file), note.line, note.column,
                    console.Paint(fmt::format("{}:", ImportOutcomeName(note.outcome)), StyleOf(note.outcome)),
                    Console::Safe(note.message)));
  }
  return kExitOk;
}

}  // namespace gloveport
