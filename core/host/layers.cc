#include "gloveport/core/host/layers.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "gloveport/core/host/scratch_folder.h"
#include "gloveport/policy/landlock.h"

namespace gloveport {
namespace {

LayerStatus Active(std::string name, std::string detail) {
  return {std::move(name), true, std::move(detail), ""};
}
LayerStatus Missing(std::string name, std::string detail, std::string remedy) {
  return {std::move(name), false, std::move(detail), std::move(remedy)};
}

LayerStatus OwnRoot(bool own_root) {
  if (own_root)
    return Active("own_root",
                  "own user, mount, pid, ipc, uts and net namespaces; /proc and /etc/shadow do not exist");
  return Missing("own_root",
                 "degraded mode: the host's folders exist for the session, and their names can be probed",
                 "allow user namespaces, and require own_root in the policy");
}

LayerStatus Landlock(std::int64_t abi) {
  if (abi > 0)
    return Active("landlock",
                  fmt::format("ABI {}: files outside the work folder and the runtime cannot be opened", abi));
  return Missing("landlock", "the kernel has no Landlock; the own root holds alone",
                 "run on Linux 5.13 or later with landlock in lsm=");
}

LayerStatus Cgroup() {
  std::error_code error;
  const bool delegated = std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers", error) &&
                         ::access("/sys/fs/cgroup/cgroup.procs", W_OK) == 0;
  return Missing("cgroup",
                 delegated
                     ? "not used by this version: limits hold per process, and a session is one process"
                     : "no cgroup v2 delegated here: limits hold per process, and a session is one process",
                 "");
}

}  // namespace

std::vector<LayerStatus> LayersOf(const TemplateProcess& parent, const SessionProcess& process) {
  const Value& report = process.report();
  std::vector<LayerStatus> layers;
  layers.push_back(
      Active("process", "own process, constant environment, no inherited descriptors, dies with its host"));
  layers.push_back(Active(
      "identity", ::geteuid() == 0 ? "spare uid that is not 0, no capabilities, no_new_privs"
                                   : "the host's uid under another number, no capabilities, no_new_privs"));
  layers.push_back(
      Active("seccomp", "default deny: socket and execve refused, writable and executable memory refused"));
  layers.push_back(OwnRoot(parent.options().own_root));
  layers.push_back(Landlock(report.IntOr("landlock_abi", 0)));
  layers.push_back(Active("rlimits", "memory, file size, open files, stack; wall and CPU time by the host"));
  layers.push_back(report.BoolOr("mdwe", false)
                       ? Active("mdwe", "PR_SET_MDWE: memory cannot become executable")
                       : Missing("mdwe", "kernel before 6.3; the seccomp filter refuses such mappings alone",
                                 "run on Linux 6.3 or later"));
  layers.push_back(Cgroup());
  return layers;
}

Status RequireLayers(const Policy& policy, const std::vector<LayerStatus>& layers) {
  for (const std::string& required : policy.required_layers) {
    // Two names of policies stand for what is told and applied as one.
    const std::string_view name =
        required == "no_new_privs" || required == "capabilities" ? "identity" : std::string_view(required);
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    if (found != layers.end() && found->active) continue;
    return Fail(
        ErrorCode::kConfinementUnavailable,
        fmt::format("the policy \"{}\" requires the layer {}, which cannot be had here{}{}", policy.name,
                    required, found == layers.end() ? "" : ": ", found == layers.end() ? "" : found->detail),
        found == layers.end() || found->remedy.empty() ? "see `gloveport doctor`, or do not require it"
                                                       : found->remedy);
  }
  return {};
}

std::vector<LayerStatus> ProbeLayersWith(TemplatePool& pool) {
  TemplateOptions options;
  options.policy.name = "probe";
  std::optional<ScratchFolder> scratch;
  auto process = [&]() -> Result<std::unique_ptr<SessionProcess>> {
    ASSIGN_OR_RETURN(auto parent, pool.StartPrivate(options));
    return SessionProcess::Start(parent, std::nullopt, Deadline::After(std::chrono::seconds(10)));
  };
  auto full = process();
  if (full) return LayersOf((*full)->parent(), **full);

  std::vector<LayerStatus> layers = {Missing("own_root", full.error().message, full.error().hint)};
  auto folder = ScratchFolder::Make();
  if (folder) scratch.emplace(std::move(*folder));
  options.own_root = false;
  options.workdir = scratch ? scratch->path() : "";
  options.scratch = true;
  options.policy.required_layers = {"seccomp", "landlock"};
  auto degraded = process();
  if (!degraded) {
    layers.push_back(Missing("seccomp", degraded.error().message, degraded.error().hint));
    layers.push_back(Landlock(LandlockAbi()));
    return layers;
  }
  for (LayerStatus& layer : LayersOf((*degraded)->parent(), **degraded)) {
    if (layer.name != "own_root") layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace gloveport
