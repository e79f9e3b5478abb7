// Plays tests/cases/cells.jsonl against RunSession, without confinement: what cells do is the child's part
// alone. GLOVEPORT_CASES=text runs the cases whose id contains the text.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/tests/interp/child/case_check.h"
#include "gloveport/tests/interp/child/case_tools.h"
#include "gloveport/tests/interp/child/session_process.h"

namespace gloveport::testing {
namespace {

struct Tally {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

std::vector<Json> LoadCases() {
  std::vector<Json> cases;
  const auto text = ReadFile(GLOVEPORT_SOURCE_DIR "/tests/cases/cells.jsonl");
  if (!text) return cases;
  for (const std::string_view line : SplitLines(*text)) {
    auto json = ParseJson(line);
    if (json) cases.push_back(std::move(*json));
  }
  return cases;
}

bool CanRun(const Json& one) {
  for (const Json& module : one.value("requires", Json::array())) {
    if (!SessionProcess::Has(module.get<std::string>())) return false;
  }
  return true;
}

SessionConfig ConfigOf(const Json& one) {
  SessionConfig config;
  for (const Json& module : one.value("imports", Json::array())) {
    config.policy.imports.allow.push_back(module.get<std::string>());
  }
  return config;
}

// What cell number `index` of the case must meet: one of these.
std::vector<Json> DemandsOn(const Json& one, std::size_t index) {
  if (index + 1 == one["cells"].size())
    return Alternatives(one["expect"], one.value("accept_also", Json::array()));
  if (one.contains("expect_cells") && !one["expect_cells"][index].is_null())
    return {one["expect_cells"][index]};
  return {Json::object()};
}

// Empty where the case passes.
std::string Play(const Json& one) {
  const TemporaryFolder folder;
  CaseTools tools(one.value("tools", Json::array()));
  const auto start = [&] {
    auto session = std::make_unique<SessionProcess>(ConfigOf(one), folder.path());
    session->Ask("define_tools", tools.Definitions());
    return session;
  };
  auto session = start();
  const auto limit = one.contains("limits")
                         ? std::chrono::milliseconds(1000 * one["limits"].value("timeout_s", 30))
                         : std::chrono::milliseconds(60'000);
  for (std::size_t i = 0; i < one["cells"].size(); ++i) {
    if (!session->alive()) session = start();
    const std::uint32_t cell = session->next_cell();
    const CellRun run = session->Run(one["cells"][i].get<std::string>(), limit,
                                     [&](const wire::ToolCall& call) { return tools.Answer(call); });
    std::string problem;
    for (const Json& demand : DemandsOn(one, i)) {
      problem = Mismatch(demand, run, cell, folder.path());
      if (problem.empty()) break;
    }
    if (!problem.empty()) return fmt::format("cell {}: {}", i, problem);
    if (run.final_answer) break;
  }
  return "";
}

TEST(CellCases, EveryCaseHasTheOutcomeItDemands) {
  SessionProcess::WarmUp();
  const char* only = std::getenv("GLOVEPORT_CASES");
  std::map<std::string, Tally> groups;
  Tally all;
  const auto cases = LoadCases();
  ASSERT_GT(cases.size(), 200u);
  for (const Json& one : cases) {
    const auto id = one["id"].get<std::string>();
    if (only != nullptr && id.find(only) == std::string::npos) continue;
    Tally& group = groups[one["group"].get<std::string>()];
    if (!CanRun(one)) {
      ++group.skipped, ++all.skipped;
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    const std::string problem = Play(one);
    if (std::getenv("GLOVEPORT_TIMES") != nullptr) {
      fmt::print(
          "{:6} ms {}\n",
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start)
              .count(),
          id);
    }
    problem.empty() ? (++group.passed, ++all.passed) : (++group.failed, ++all.failed);
    if (!problem.empty())
      ADD_FAILURE() << id << ": " << problem << "\n(" << one["why"].get<std::string>() << ")";
  }
  fmt::print("{:10} passed failed skipped\n", "group");
  for (const auto& [name, tally] : groups) {
    fmt::print("{:10} {:6} {:6} {:7}\n", name, tally.passed, tally.failed, tally.skipped);
  }
  fmt::print("{:10} {:6} {:6} {:7}\n", "all", all.passed, all.failed, all.skipped);
}

}  // namespace
}  // namespace gloveport::testing
