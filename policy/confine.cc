#include "gloveport/policy/confine.h"

#include <fmt/core.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gloveport {
namespace {

constexpr int kSetMdwe = 65;  // PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN: newer than Debian 12's headers
constexpr int kGetMdwe = 66;
constexpr unsigned long kRefuseExecGain = 1;
constexpr std::uint64_t kStackBytes = 8u << 20;

Status SetLimit(__rlimit_resource resource, std::uint64_t value, const char* name) {
  rlimit limit{};
  // What the host itself may not have cannot be given; less is no error.
  if (::getrlimit(resource, &limit) != 0)
    return FailErrno(fmt::format("rlimits: cannot read {}", name), errno);
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(value, limit.rlim_max);
  if (::setrlimit(resource, &limit) != 0)
    return FailErrno(fmt::format("rlimits: cannot set {}", name), errno);
  return {};
}

Status SetResourceLimits(const ResourceLimits& limits) {
  RETURN_IF_ERROR(SetLimit(RLIMIT_CORE, 0, "RLIMIT_CORE"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_DATA, limits.data_bytes, "RLIMIT_DATA"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_AS, limits.address_space_bytes, "RLIMIT_AS"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_CPU, limits.cpu_seconds, "RLIMIT_CPU"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_FSIZE, limits.file_bytes, "RLIMIT_FSIZE"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_NOFILE, limits.open_files, "RLIMIT_NOFILE"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_STACK, kStackBytes, "RLIMIT_STACK"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_MEMLOCK, 0, "RLIMIT_MEMLOCK"));
  RETURN_IF_ERROR(SetLimit(RLIMIT_MSGQUEUE, 0, "RLIMIT_MSGQUEUE"));
  return SetLimit(RLIMIT_SIGPENDING, 1024, "RLIMIT_SIGPENDING");
}

Status DropCapabilities() {
  for (int capability = 0; capability <= 63; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EINVAL)
      break;  // beyond the kernel's last
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(__NR_capset, &header, none) != 0) return FailErrno("capabilities: cannot drop them", errno);
  __user_cap_data_struct left[2] = {};
  if (::syscall(__NR_capget, &header, left) != 0) return FailErrno("capabilities: cannot read them", errno);
  for (const auto& half : left) {
    if (half.effective | half.permitted | half.inheritable)
      return Fail(ErrorCode::kInternal, "capabilities: some are left after dropping them");
  }
  if (::geteuid() == 0 || ::getuid() == 0)
    return Fail(ErrorCode::kInternal, "capabilities: a session must not run as uid 0");
  return {};
}

Status CloseAllBut(std::vector<int> keep) {
  std::ranges::sort(keep);
  unsigned first = 0;
  for (const int fd : keep) {
    if (static_cast<unsigned>(fd) > first && ::syscall(__NR_close_range, first, fd - 1, 0) != 0) {
      return FailErrno("descriptors: close_range", errno);
    }
    first = static_cast<unsigned>(fd) + 1;
  }
  if (::syscall(__NR_close_range, first, ~0u, 0) != 0) return FailErrno("descriptors: close_range", errno);
  return {};
}

Result<UniqueFd> Install(const BpfProgram& program, unsigned flags) {
  sock_fprog code{};
  code.len = static_cast<unsigned short>(program.bytes.size() / sizeof(sock_filter));
  code.filter =
      reinterpret_cast<sock_filter*>(const_cast<char*>(program.bytes.data()));  // the kernel only reads
  const long result = ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &code);
  if (result < 0) return FailErrno("seccomp: cannot install the filter", errno);
  return flags & SECCOMP_FILTER_FLAG_NEW_LISTENER ? UniqueFd(static_cast<int>(result)) : UniqueFd();
}

}  // namespace

bool HasMemoryDenyWriteExecute() {
  return ::prctl(kGetMdwe, 0, 0, 0, 0) == static_cast<int>(kRefuseExecGain);
}

Status Confine(const ConfinePlan& plan, const std::function<Status(UniqueFd)>& send_listener) {
  RETURN_IF_ERROR(SetResourceLimits(plan.limits));
  RETURN_IF_ERROR(DropCapabilities());
  if (::prctl(PR_SET_DUMPABLE, plan.dumpable ? 1 : 0, 0, 0, 0) != 0)
    return FailErrno("cannot set the dumpable flag", errno);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailErrno("no_new_privs", errno);
  if (plan.landlock) RETURN_IF_ERROR(ApplyLandlock(plan.landlock_rules));
  ::prctl(kSetMdwe, kRefuseExecGain, 0, 0,
          0);  // the filter denies write+exec too; kernels before 6.3 lack this one
  RETURN_IF_ERROR(CloseAllBut(plan.keep_fds));
  ASSIGN_OR_RETURN(UniqueFd listener, Install(plan.filter.notify, SECCOMP_FILTER_FLAG_NEW_LISTENER));
  RETURN_IF_ERROR(send_listener(std::move(listener)));
  ASSIGN_OR_RETURN(UniqueFd nothing, Install(plan.filter.main, 0));
  return {};
}

}  // namespace gloveport
