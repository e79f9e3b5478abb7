#include "gloveport/core/cli/attack_command.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "gloveport/core/cli/attack_corpus.h"
#include "gloveport/core/cli/attack_run.h"
#include "gloveport/core/cli/attack_setting.h"
#include "gloveport/core/cli/attack_table.h"

namespace gloveport {
namespace {

// The import table and the kernel, then the kernel alone; where there is no own root the degraded mode, and
// nothing else.
Result<std::vector<AttackReport>> Attack(const std::vector<AttackPayload>& payloads, Console& console) {
  std::vector<AttackReport> reports;
  for (const AttackSetting setting : {AttackSetting::kDefault, AttackSetting::kOpen}) {
    AttackRunOptions run;
    run.setting = setting;
    console.Note(fmt::format("{} payloads under setting {}: about a minute", payloads.size(),
                             AttackSettingName(setting)),
                 Style::kDim);
    auto report = RunAttack(payloads, run);
    if (!report && report.error().code == ErrorCode::kConfinementUnavailable && reports.empty()) {
      console.Note("no session has an own root here: trying the degraded mode", Style::kWarning);
      run.setting = AttackSetting::kDegraded;
      report = RunAttack(payloads, run);
      if (report) return std::vector{std::move(*report)};
    }
    if (!report) return tl::unexpected<Error>(std::move(report).error());
    reports.push_back(std::move(*report));
  }
  return reports;
}

std::string Page(const std::vector<AttackReport>& reports, const std::vector<AttackPayload>& payloads) {
  std::string page;
  std::size_t escaped = 0;
  for (const AttackReport& report : reports) {
    page += AttackTable(report, payloads) + "\n";
    escaped += report.Count(AttackResult::kEscaped);
  }
  return page + (escaped == 0
                     ? "Nothing escaped.\n"
                     : fmt::format("{} payloads had an effect: see above, and SECURITY.md on reporting.\n",
                                   escaped));
}

Json ToJson(const std::vector<AttackReport>& reports) {
  Json settings = Json::array();
  bool contained = true;
  for (const AttackReport& report : reports) {
    settings.push_back(AttackJson(report));
    contained = contained && report.contained();
  }
  return {{"contained", contained}, {"settings", std::move(settings)}};
}

}  // namespace

ExitCode RunAttackCommand(const Program& program, const AttackCommandOptions& options, Console& console) {
  const auto payloads = ParseAttackCorpus(ShippedAttackCorpus());
  if (!payloads) return console.Failure(program.name, payloads.error()), ExitCodeOf(payloads.error());
  const auto reports = Attack(*payloads, console);
  if (!reports) return console.Failure(program.name, reports.error()), ExitCodeOf(reports.error());
  console.Data(options.json ? DumpJson(ToJson(*reports)) + "\n" : Page(*reports, *payloads));
  for (const AttackReport& report : *reports) {
    if (!report.contained()) return kExitProgramFailed;
  }
  return kExitOk;
}

}  // namespace gloveport
