// Runs escape payloads under one or several settings and prints a table for each; see --help.

#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/attack_corpus.h"
#include "gloveport/core/cli/attack_run.h"
#include "gloveport/core/cli/attack_table.h"

namespace gloveport {
namespace {

constexpr std::string_view kHelp =
    "escapes [--setting inspected|default|open|degraded]... [--workers N] [--seconds N] [--verbose] "
    "CORPUS... [-- ID...]\n"
    "An ID may end in *. Settings: default and open, unless some are named.\n"
    "Exit code 0: all contained; 1: something escaped; 2: usage; 3: nothing was proven.\n";

struct Order {
  std::vector<AttackSetting> settings;
  std::vector<std::string> corpora;
  std::vector<std::string> ids;
  AttackRunOptions run;
  bool verbose = false;
};

bool Matches(std::string_view id, std::string_view pattern) {
  return pattern.ends_with('*') ? id.starts_with(pattern.substr(0, pattern.size() - 1)) : id == pattern;
}

bool ParseArguments(int argc, char** argv, Order& order) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--") {
      order.ids.assign(argv + i + 1, argv + argc);
      break;
    }
    if (word == "--verbose") {
      order.verbose = true;
    } else if (word == "--setting" && value && AttackSettingFromName(value)) {
      order.settings.push_back(*AttackSettingFromName(value)), ++i;
    } else if (word == "--workers" && value) {
      order.run.workers = static_cast<unsigned>(std::atoi(value)), ++i;
    } else if (word == "--seconds" && value) {
      order.run.time = std::chrono::seconds(std::atoi(value)), ++i;
    } else if (word.starts_with("--")) {
      return false;
    } else {
      order.corpora.emplace_back(word);
    }
  }
  if (order.settings.empty()) order.settings = {AttackSetting::kDefault, AttackSetting::kOpen};
  return !order.corpora.empty();
}

Result<std::vector<AttackPayload>> Load(const Order& order) {
  std::vector<AttackPayload> all;
  for (const std::string& path : order.corpora) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(std::vector<AttackPayload> payloads, ParseAttackCorpus(text));
    std::ranges::move(payloads, std::back_inserter(all));
  }
  if (order.ids.empty()) return all;
  std::erase_if(all, [&](const AttackPayload& payload) {
    return std::ranges::none_of(order.ids, [&](const std::string& id) { return Matches(payload.id, id); });
  });
  return all;
}

int Run(const Order& order) {
  auto payloads = Load(order);
  if (!payloads) return fmt::print(stderr, "escapes: {}\n", payloads.error().message), 2;
  int status = 0;
  for (const AttackSetting setting : order.settings) {
    AttackRunOptions options = order.run;
    options.setting = setting;
    const auto report = RunAttack(*payloads, options);
    if (!report) {
      fmt::print(stderr, "escapes: setting {}: {} ({})\n", AttackSettingName(setting), report.error().message,
                 report.error().hint);
      return 3;
    }
    fmt::print("{}\n", AttackTable(*report, *payloads));
    if (order.verbose) fmt::print("{}\n", AttackJson(*report).dump(1));
    fmt::print("escapes {}: {} passed, {} failed, 0 skipped\n", AttackSettingName(setting),
               report->trials.size() - report->Count(AttackResult::kEscaped),
               report->Count(AttackResult::kEscaped));
    if (!report->contained()) status = 1;
  }
  return status;
}

}  // namespace
}  // namespace gloveport

int main(int argc, char** argv) {
  gloveport::Order order;
  if (!gloveport::ParseArguments(argc, argv, order)) {
    fmt::print(stderr, "{}", gloveport::kHelp);
    return 2;
  }
  return gloveport::Run(order);
}
