#include "gloveport/core/cli/doctor_command.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/cli/attack_command.h"
#include "gloveport/core/cli/version.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/presets.h"

namespace gloveport {
namespace {

// A trial run of a preset, as a user's first cell would be.
struct PolicyTrial {
  std::string name;
  std::optional<Error> error;  // why a session with it could not run
  double seconds = 0;          // from opening to the first result
};

struct Diagnosis {
  std::optional<Error> runtime;  // why there is none
  std::optional<Error> probing;
  std::vector<LayerStatus> layers;
  std::vector<PolicyTrial> policies;
  std::optional<Error> inspector;
  std::string python;                                  // its version
  std::vector<std::pair<std::string, bool>> packages;  // importable or not

  bool can_run() const {
    return !runtime && std::ranges::any_of(policies, [](const PolicyTrial& trial) {
      return trial.name == "default" && !trial.error;
    });
  }
};

// find_spec says whether a package is there without the time that its import takes.
constexpr std::string_view kWhatIsThere = R"(
import importlib.util, sys
{"python": sys.version.split()[0],
 "packages": {name: importlib.util.find_spec(name) is not None for name in ("numpy", "pandas", "matplotlib")}}
)";

Status TryPolicy(Runtime& runtime, std::string_view name) {
  SessionOptions options;
  ASSIGN_OR_RETURN(options.policy, PresetPolicy(name));
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, runtime.Open(std::move(options)));
  ASSIGN_OR_RETURN(const CellResult result, session->Run("1 + 1"));
  if (result.outcome == Outcome::kOk && result.value == Value(2)) return {};
  return Fail(ErrorCode::kInternal,
              fmt::format("a session opened, but 1 + 1 ended with outcome {}{}", OutcomeName(result.outcome),
                          result.error ? ": " + result.error->message : ""));
}

PolicyTrial TimePolicy(Runtime& runtime, std::string_view name) {
  PolicyTrial trial{std::string(name), std::nullopt, 0};
  const auto start = std::chrono::steady_clock::now();
  if (const Status tried = TryPolicy(runtime, name); !tried) trial.error = tried.error();
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trial;
}

void LookAround(Runtime& runtime, Diagnosis& diagnosis) {
  SessionOptions options;
  auto policy = PresetPolicy("open");
  if (!policy) return;
  options.policy = std::move(*policy);
  const auto session = runtime.Open(std::move(options));
  if (!session) return;  // the trial of the policies says why
  const auto result = (*session)->Run(kWhatIsThere, {.inspect = InspectMode::kOff});
  if (!result || result->outcome != Outcome::kOk) return;
  diagnosis.python = result->value.TextOr("python", "");
  const Value* packages = result->value.Find("packages");
  if (packages == nullptr || !packages->is_map()) return;
  for (const auto& [name, there] : packages->as_map()) {
    if (name.is_text() && there.is_bool()) diagnosis.packages.emplace_back(name.as_text(), there.as_bool());
  }
}

Diagnosis Diagnose() {
  Diagnosis diagnosis;
  auto created = Runtime::Create();
  if (!created) {
    diagnosis.runtime = created.error();
    return diagnosis;
  }
  Runtime& runtime = **created;
  auto layers = runtime.ProbeLayers();
  if (layers) {
    diagnosis.layers = std::move(*layers);
  } else {
    diagnosis.probing = layers.error();
  }
  for (const Preset& preset : Presets()) diagnosis.policies.push_back(TimePolicy(runtime, preset.name));
  const auto valid = runtime.Validate(Value(1), Value::Object({{"type", Value("integer")}}));
  if (!valid) diagnosis.inspector = valid.error();
  LookAround(runtime, diagnosis);
  return diagnosis;
}

std::string KernelRelease() {
  utsname name = {};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

std::string UserText() { return ::geteuid() == 0 ? "root" : fmt::format("uid {}", ::geteuid()); }

Json ToJson(const std::optional<Error>& error) {
  return error ? Json{{"ok", false}, {"error", gloveport::ToJson(*error)}} : Json{{"ok", true}};
}

Json ToJson(const Diagnosis& diagnosis) {
  Json policies = Json::object();
  for (const PolicyTrial& trial : diagnosis.policies) {
    policies[trial.name] = ToJson(trial.error);
    policies[trial.name]["seconds"] = trial.seconds;
  }
  Json packages = Json::object();
  for (const auto& [name, there] : diagnosis.packages) packages[name] = there;
  return {{"version", kVersion},
          {"kernel", KernelRelease()},
          {"user", UserText()},
          {"can_run", diagnosis.can_run()},
          {"interpreter", ToJson(diagnosis.runtime)},
          {"python", diagnosis.python},
          {"packages", std::move(packages)},
          {"inspector", ToJson(diagnosis.inspector)},
          {"probing", ToJson(diagnosis.probing)},
          {"layers", gloveport::ToJson(diagnosis.layers)},
          {"policies", std::move(policies)}};
}

// ---- the page for people: it is what was asked for, so it goes to stdout ----

std::string Row(bool good, std::string_view bad_word, std::string_view name, std::string_view detail) {
  return fmt::format("  {:<8} {:<16} {}\n", good ? "ok" : bad_word, name, Console::Safe(detail));
}

std::string Advice(std::string_view text) {
  return text.empty() ? "" : fmt::format("{:27} what to do: {}\n", "", Console::Safe(text));
}

std::string ErrorRow(std::string_view name, const Error& error) {
  return Row(false, "FAILED", name, error.message) + Advice(error.hint);
}

std::string InstalledPage(const Diagnosis& diagnosis) {
  std::string page = "\nInstalled\n";
  page += diagnosis.runtime ? ErrorRow("gloveport-interp", *diagnosis.runtime)
                            : Row(true, "", "gloveport-interp",
                                  diagnosis.python.empty() ? "found" : "embeds Python " + diagnosis.python);
  if (diagnosis.runtime) return page;
  page += diagnosis.inspector ? ErrorRow("jsonschema", *diagnosis.inspector)
                              : Row(true, "", "jsonschema", "the inspector validates answers with it");
  for (const auto& [name, there] : diagnosis.packages) {
    page += Row(there, "absent", name, there ? "cells can import it" : "cells cannot import it");
    if (!there) page += Advice(fmt::format("apt-get install python3-{}, if cells need it", name));
  }
  return page;
}

std::string LayersPage(const Diagnosis& diagnosis) {
  std::string page = "\nLayers of confinement, each tried in a process of its own\n";
  if (diagnosis.probing) page += ErrorRow("probing", *diagnosis.probing);
  for (const LayerStatus& layer : diagnosis.layers) {
    page += Row(layer.active, "missing", layer.name, layer.detail);
    if (!layer.active) page += Advice(layer.remedy);
  }
  return page;
}

std::string PoliciesPage(const Diagnosis& diagnosis) {
  std::string page = "\nPolicies, each tried with a session that computes 1 + 1\n";
  for (const PolicyTrial& trial : diagnosis.policies) {
    page += trial.error
                ? ErrorRow(trial.name, *trial.error)
                : Row(true, "", trial.name, fmt::format("first result after {:.0f} ms", trial.seconds * 1e3));
  }
  return page;
}

std::string Page(const Program& program, const Diagnosis& diagnosis) {
  std::string page =
      fmt::format("{} {} on Linux {}, as {}\n", program.name, kVersion, KernelRelease(), UserText());
  page += InstalledPage(diagnosis);
  if (!diagnosis.runtime) page += LayersPage(diagnosis) + PoliciesPage(diagnosis);
  page += diagnosis.can_run() ? "\nCode can run here under the default policy.\n"
                              : "\nNo code can run here under the default policy: see what FAILED above.\n";
  return page;
}

}  // namespace

ExitCode RunDoctor(const Program& program, const DoctorOptions& options, Console& console) {
  if (options.attack) return RunAttackCommand(program, {options.json}, console);
  const Diagnosis diagnosis = Diagnose();
  console.Data(options.json ? DumpJson(ToJson(diagnosis)) + "\n" : Page(program, diagnosis));
  return diagnosis.can_run() ? kExitOk : kExitConfinement;
}

}  // namespace gloveport
