#include "gloveport/interp/child/lockdown.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/messages.h"
#include "gloveport/interp/child/launcher.h"
#include "gloveport/policy/confine.h"
#include "gloveport/policy/environment.h"
#include "gloveport/policy/root_filesystem.h"
#include "gloveport/policy/session_rules.h"

namespace gloveport::child {
namespace {

std::string WorkFolderOf(const wire::TemplateStart& start) {
  return start.own_root ? std::string(kWorkFolder) : start.workdir;
}

ConfinePlan PlanOf(const wire::TemplateStart& start, const Policy& policy, const wire::ForkRequest& request,
                   const std::vector<int>& channel) {
  ConfinePlan plan;
  plan.limits.data_bytes = request.data_bytes;
  plan.limits.address_space_bytes = request.address_space_bytes;
  // The host watches each cell; this ends what goes on between cells when nobody looks.
  plan.limits.cpu_seconds = static_cast<std::uint64_t>(policy.limits.total_cpu.count()) / 1000 + 60;
  plan.limits.file_bytes = policy.limits.disk_mib << 20;
  plan.limits.open_files = policy.limits.open_files + wire::kOwnDescriptors + wire::kBranchDescriptors;
  plan.landlock = start.landlock;
  plan.landlock_rules = SessionRules(policy, WorkFolderOf(start), start.own_root);
  plan.dumpable = start.dumpable;
  plan.keep_fds = {0, 1, 2};
  plan.keep_fds.insert(plan.keep_fds.end(), channel.begin(), channel.end());
  plan.filter.notify.bytes = start.notify_filter;
  plan.filter.main.bytes = start.main_filter;
  return plan;
}

std::string ReportOf(const wire::TemplateStart& start) {
  Value report = Value::Object({{"own_root", start.own_root},
                                {"landlock_abi", start.landlock ? LandlockAbi() : 0},
                                {"mdwe", HasMemoryDenyWriteExecute()}});
  return EncodeValue(report);
}

// Fills `report` at the last moment at which the kernel can still be asked.
Status ApplyAll(const wire::TemplateStart& start, const Policy& policy, const wire::ForkRequest& request,
                Channel& channel, std::string& report) {
  RETURN_IF_ERROR(DieWithParent());
  if (start.own_root) {
    RETURN_IF_ERROR(MountSessionFolders(policy.limits.disk_mib << 20, start.workdir.empty()));
  } else if (::chdir(start.workdir.c_str()) != 0) {
    return FailErrno("cannot enter the work folder", errno);
  }
  // Before the filter stands: opening may be a call that it holds for a host which does not listen yet.
  UniqueFd folder(::open(WorkFolderOf(start).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return FailErrno("cannot open the work folder", errno);
  ConfinePlan plan = PlanOf(start, policy, request, channel.fds());
  plan.keep_fds.push_back(folder.get());
  return Confine(plan, [&](UniqueFd listener) -> Status {
    const UniqueFd handed = std::move(folder);
    report = ReportOf(start);
    const std::array<int, 2> fds = {listener.get(), handed.get()};
    return SendWithFds(channel.fd(), AsBytes(std::string_view(&wire::kHandOver, 1)), fds);
  });
}

}  // namespace

Status CheckTemplate(const wire::TemplateStart& start, const Policy& policy) {
  constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  return CheckEndings(PlanOf(start, policy, {kUnlimited, kUnlimited, std::nullopt}, {}));
}

Result<wire::Encoded> LockDown(const wire::TemplateStart& start, const Policy& policy,
                               const wire::ForkRequest& request, Channel& channel) {
  std::string report;
  Status done = ApplyAll(start, policy, request, channel, report);
  if (done) {
    done = SelfCheck({start.own_root, start.landlock, WorkFolderOf(start), StandardLibraryPath()});
  } else if (auto sent =
                 WriteFull(channel.fd(), AsBytes(std::string_view(&wire::kNoHandOver, 1)), Deadline::Never());
             !sent) {
    return tl::unexpected<Error>(done.error());
  }
  if (done) return report;
  (void)channel.Send(
      wire::Encode(wire::SessionMessage(wire::SetupFailed{"confinement", done.error().message})));
  return tl::unexpected<Error>(done.error());
}

}  // namespace gloveport::child
