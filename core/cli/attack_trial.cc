#include "gloveport/core/cli/attack_trial.h"

#include <fmt/core.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/attack_judge.h"
#include "gloveport/tools/binding.h"
#include "gloveport/tools/registry.h"

namespace gloveport {
namespace {

constexpr std::uint64_t kMostHostGrowth = 768ull << 20;
constexpr std::chrono::seconds kSettleTime{5};
constexpr int kLookAgainMs = 10;

// Everything honest that payloads are measured against: a tool, a file, arithmetic, an import.
constexpr std::string_view kHonestCode =
    "import json\n"
    "with open('honest.txt', 'w') as f: f.write(json.dumps([1, 2, 3]))\n"
    "with open('honest.txt') as f: total = sum(json.load(f))\n"
    "tool_echo(total) + len(HOST_FILE)";

Value Echo(Value value) { return value; }
std::string Secret() { return std::string(kSecretAnswer); }
Result<std::string> ReadNothing(const std::string& name) {
  return Fail(ErrorCode::kNotFound,
              fmt::format("there is no file {}", EscapeForTerminal(name.substr(0, 100))));
}

Result<std::shared_ptr<ToolRegistry>> Tools() {
  auto tools = std::make_shared<ToolRegistry>();
  RETURN_IF_ERROR(tools->Add("tool_echo", "Returns its argument.", &Echo, {Arg("value")}));
  RETURN_IF_ERROR(tools->Add("tool_secret", "Nobody is granted it.", &Secret, {}));
  RETURN_IF_ERROR(tools->Add("tool_read_file", "Reads a file.", &ReadNothing, {Arg("name")}));
  return tools;
}

double CpuSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

AttackResult ResultOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
    case Outcome::kError:
      return AttackResult::kContained;
    case Outcome::kDenied:
      return AttackResult::kRefused;
    case Outcome::kTimeout:
    case Outcome::kMemory:
    case Outcome::kOutputLimit:
      return AttackResult::kLimited;
    default:
      return AttackResult::kDied;
  }
}

void Append(std::vector<std::string>& all, std::vector<std::string> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::string_view AttackResultName(AttackResult result) {
  switch (result) {
    case AttackResult::kContained:
      return "contained";
    case AttackResult::kLimited:
      return "limited";
    case AttackResult::kDied:
      return "died";
    case AttackResult::kRefused:
      return "refused";
    case AttackResult::kVisible:
      return "visible";
    case AttackResult::kEscaped:
      return "ESCAPED";
  }
  return "ESCAPED";
}

AttackBench::AttackBench(AttackSetting setting, Policy policy, AttackSurroundings& surroundings,
                         std::unique_ptr<Runtime> runtime)
    : setting_(setting),
      policy_(std::move(policy)),
      surroundings_(surroundings),
      runtime_(std::move(runtime)) {}

Result<std::unique_ptr<AttackBench>> AttackBench::Make(AttackSetting setting, std::chrono::milliseconds time,
                                                       AttackSurroundings& surroundings) {
  ASSIGN_OR_RETURN(Policy policy, AttackPolicy(setting, time));
  // Nothing forked ahead, so that processes and descriptors can be counted.
  ASSIGN_OR_RETURN(auto runtime, Runtime::Create({.min_ready = 0}));
  std::unique_ptr<AttackBench> bench(
      new AttackBench(setting, std::move(policy), surroundings, std::move(runtime)));
  ASSIGN_OR_RETURN(bench->tools_, Tools());
  RETURN_IF_ERROR(bench->RunHonestCode());
  return bench;
}

Result<std::unique_ptr<Session>> AttackBench::Open() {
  SessionOptions options;
  options.policy = policy_;
  options.tools = tools_;
  ASSIGN_OR_RETURN(auto session, runtime_->Open(std::move(options)));
  const Value variables = surroundings_.Variables();
  for (const auto& [name, value] : variables.as_map())
    RETURN_IF_ERROR(session->SetVariable(name.as_text(), value));
  if (!TakesHookOut(setting_)) return session;
  ASSIGN_OR_RETURN(const CellResult taken, session->Run(AttackPrelude(), {.inspect = InspectMode::kOff}));
  if (taken.outcome == Outcome::kOk && taken.value == Value(1)) return session;
  return Fail(ErrorCode::kInternal,
              "the audit hook could not be taken out, so payloads would not meet the kernel alone");
}

Status AttackBench::RunHonestCode() {
  ASSIGN_OR_RETURN(const auto session, Open());
  const auto& layers = session->layers();
  const bool own_root = std::ranges::any_of(
      layers, [](const LayerStatus& layer) { return layer.name == "own_root" && layer.active; });
  if (setting_ == AttackSetting::kDegraded && own_root) {
    return Fail(ErrorCode::kInvalidArgument, "there is an own root here, so the degraded mode is not used",
                "try it where user namespaces are refused");
  }
  ASSIGN_OR_RETURN(const CellResult result,
                   session->Run(kHonestCode, {.inspect = AttackInspection(setting_)}));
  if (result.outcome == Outcome::kOk && result.value == Value(6 + static_cast<int>(kCanaryPath.size())))
    return {};
  return Fail(ErrorCode::kInternal,
              fmt::format("honest code ended with outcome {}{}", OutcomeName(result.outcome),
                          result.error ? ": " + EscapeForTerminal(result.error->message) : ""));
}

AttackTrial AttackBench::Try(const AttackPayload& payload) {
  AttackTrial trial;
  trial.id = payload.id;
  AttackSnapshot before = surroundings_.Look();
  const double cpu_before = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  // One payload has three variants, which it tells apart by a variable.
  const int variants = payload.code.find("\"WHICH\"") == std::string::npos ? 1 : 3;
  for (int which = 0; which < variants; ++which) {
    for (int session = 1; session <= payload.sessions; ++session)
      RunIn(payload, which, session == payload.sessions, before, trial);
  }
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  trial.host_cpu_seconds = CpuSeconds() - cpu_before;
  if (trial.host_peak_growth > kMostHostGrowth)
    trial.effects.push_back(fmt::format("the host grew by {} MiB", trial.host_peak_growth >> 20));
  if (const Status honest = RunHonestCode(); !honest)
    trial.effects.push_back("the next session does not work: " + honest.error().message);
  LookAround(before, trial);
  if (!trial.effects.empty()) {
    const bool only_seen = std::ranges::all_of(
        trial.effects, [](const std::string& effect) { return effect.starts_with("ESCAPED:"); });
    const bool stated =
        setting_ == AttackSetting::kDegraded && !payload.visible_when_degraded.empty() && only_seen;
    trial.result = stated ? AttackResult::kVisible : AttackResult::kEscaped;
  }
  return trial;
}

void AttackBench::RunIn(const AttackPayload& payload, std::int64_t which, bool last, AttackSnapshot& before,
                        AttackTrial& trial) {
  const auto fail = [&](std::string_view what, const Error& error) {
    trial.outcome = fmt::format("{}: {}", what, error.message);
    trial.effects.push_back(trial.outcome);
  };
  auto session = Open();
  if (!session) return fail("cannot open a session", session.error());
  if (which > 0) {
    if (const Status set = (*session)->SetVariable("WHICH", Value(which)); !set)
      return fail("cannot set", set.error());
  }
  if (setting_ == AttackSetting::kDegraded && payload.code.find("canary") != std::string::npos) {
    const auto uid = (*session)->Run("import os; os.getuid()", {.inspect = InspectMode::kOff});
    if (uid && uid->value.is_int()) surroundings_.GiveCanaryTo(static_cast<uid_t>(uid->value.as_int()));
    const AttackSnapshot now = surroundings_.Look();
    before.canary = now.canary;
    before.canary_owner = now.canary_owner;
  }
  ResetPeakResident();
  const std::uint64_t peak_before = PeakResidentBytes();
  const auto result = (*session)->Run(payload.code, {.inspect = AttackInspection(setting_)});
  const std::uint64_t peak = PeakResidentBytes();
  trial.host_peak_growth = std::max(trial.host_peak_growth, peak - std::min(peak, peak_before));
  if (!result) return fail("the cell could not be run", result.error());
  trial.outcome = OutcomeName(result->outcome);
  trial.result = ResultOf(result->outcome);
  if (last) Append(trial.effects, EscapedLines(*result));
  Append(trial.effects, LeakedSecrets(*result));
  Append(trial.effects, JudgeResult(payload.id, *result, policy_.limits.wall));
  Append(trial.effects, JudgeSession(payload.id, **session, AttackInspection(setting_)));
}

// What a session leaves goes with it, but not at once.
void AttackBench::LookAround(const AttackSnapshot& before, AttackTrial& trial) {
  const Deadline settled = Deadline::After(kSettleTime);
  std::vector<std::string> differences;
  do {
    differences = surroundings_.Differences(before, surroundings_.Look());
  } while (!differences.empty() && !settled.passed() && ::poll(nullptr, 0, kLookAgainMs) == 0);
  Append(trial.effects, std::move(differences));
  Append(trial.effects, surroundings_.Intrusions());
}

}  // namespace gloveport
