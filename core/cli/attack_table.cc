#include "gloveport/core/cli/attack_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/attack_setting.h"

namespace gloveport {
namespace {

constexpr std::array kColumns = {AttackResult::kContained, AttackResult::kLimited, AttackResult::kDied,
                                 AttackResult::kRefused,   AttackResult::kVisible, AttackResult::kEscaped};
using Counts = std::array<std::size_t, kColumns.size()>;

std::string RowOf(std::string_view name, const Counts& counts) {
  std::string row = fmt::format("  {:<12}", name);
  for (const std::size_t count : counts)
    row += count == 0 ? fmt::format("{:>10}", ".") : fmt::format("{:>10}", count);
  return row + "\n";
}

const AttackPayload* Find(const std::vector<AttackPayload>& payloads, std::string_view id) {
  const auto found = std::ranges::find(payloads, id, &AttackPayload::id);
  return found == payloads.end() ? nullptr : &*found;
}

}  // namespace

std::string AttackTable(const AttackReport& report, const std::vector<AttackPayload>& payloads) {
  std::map<std::string, Counts> families;
  Counts total{};
  std::string details;
  double cpu = 0;
  std::uint64_t growth = 0;
  for (const AttackTrial& trial : report.trials) {
    const AttackPayload* payload = Find(payloads, trial.id);
    const auto column =
        static_cast<std::size_t>(std::ranges::find(kColumns, trial.result) - kColumns.begin());
    ++families[payload ? payload->family : "other"].at(column);
    ++total.at(column);
    cpu = std::max(cpu, trial.host_cpu_seconds);
    growth = std::max(growth, trial.host_peak_growth);
    for (const std::string& effect : trial.effects) {
      details += fmt::format("  {} {} ({}): {}\n", AttackResultName(trial.result), trial.id, trial.outcome,
                             EscapeForTerminal(effect));
    }
  }
  std::string text = fmt::format("Setting {}: {} payloads in {:.1f} s\n  {:<12}",
                                 AttackSettingName(report.setting), report.trials.size(), report.seconds, "");
  for (const AttackResult column : kColumns) text += fmt::format("{:>10}", AttackResultName(column));
  text += "\n";
  for (const auto& [family, counts] : families) text += RowOf(family, counts);
  text += RowOf("all", total);
  text += fmt::format("  the host used at most {:.2f} s of CPU time and {} MiB of memory for one payload\n",
                      cpu, growth >> 20);
  return text + details;
}

Json AttackJson(const AttackReport& report) {
  Json trials = Json::array();
  for (const AttackTrial& trial : report.trials) {
    Json effects = Json::array();
    for (const std::string& effect : trial.effects) effects.push_back(ToValidUtf8(effect));
    trials.push_back({{"id", trial.id},
                      {"result", AttackResultName(trial.result)},
                      {"outcome", ToValidUtf8(trial.outcome)},
                      {"seconds", trial.seconds},
                      {"effects", std::move(effects)}});
  }
  return {{"setting", AttackSettingName(report.setting)},
          {"contained", report.contained()},
          {"seconds", report.seconds},
          {"trials", std::move(trials)}};
}

}  // namespace gloveport
