#include "gloveport/policy/landlock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "gloveport/core/base/unique_fd.h"

namespace gloveport {
namespace {

// Debian 12's headers stop at ABI 2, so the constants of the kernel's documentation stand here.
constexpr std::uint64_t kExecute = 1u << 0;
constexpr std::uint64_t kWriteFile = 1u << 1;
constexpr std::uint64_t kReadFile = 1u << 2;
constexpr std::uint64_t kReadDir = 1u << 3;
constexpr std::uint64_t kTruncate = 1u << 14;
constexpr std::uint64_t kIoctlDevice = 1u << 15;
constexpr std::uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;
constexpr std::uint64_t kMakeChar = 1u << 6;
constexpr std::uint64_t kMakeSocket = 1u << 9;
constexpr std::uint64_t kMakeFifo = 1u << 10;
constexpr std::uint64_t kMakeBlock = 1u << 11;

constexpr int kCreateRulesetVersion = 1;
constexpr int kRulePathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // ABI 4
  std::uint64_t scoped;              // ABI 6
};

struct __attribute__((packed)) PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

std::uint64_t FileRightsOf(int abi) {
  if (abi >= 5) return (1u << 16) - 1;
  if (abi >= 3) return (1u << 15) - 1;
  if (abi == 2) return (1u << 14) - 1;
  return (1u << 13) - 1;
}

RulesetAttributes AttributesOf(int abi) {
  RulesetAttributes attributes{FileRightsOf(abi), 0, 0};
  if (abi >= 4) attributes.handled_access_net = 3;  // bind and connect over TCP
  if (abi >= 6) attributes.scoped = 3;              // abstract sockets and signals
  return attributes;
}

std::size_t SizeOf(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

Status AddPath(int ruleset, const std::string& path, std::uint64_t rights) {
  // Not through a link: a rule for /lib would be one for the whole of /usr/lib. What a link names has its own
  // rule.
  UniqueFd fd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return {};
  if (!fd) return FailErrno(fmt::format("landlock: cannot open {}", path), errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(fmt::format("landlock: cannot stat {}", path), errno);
  if (S_ISLNK(info.st_mode)) return {};
  if (!S_ISDIR(info.st_mode)) rights &= kFileRights;
  const PathBeneath rule{rights, fd.get()};
  if (::syscall(__NR_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0) != 0) {
    return FailErrno(fmt::format("landlock: cannot add a rule for {}", path), errno);
  }
  return {};
}

}  // namespace

int LandlockAbi() {
  const long abi = ::syscall(__NR_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

Status ApplyLandlock(const LandlockRules& rules, int newest_abi) {
  const int abi = std::min(LandlockAbi(), newest_abi);
  if (abi <= 0) return Fail(ErrorCode::kConfinementUnavailable, "this kernel has no Landlock");
  const RulesetAttributes attributes = AttributesOf(abi);
  UniqueFd ruleset(static_cast<int>(::syscall(__NR_landlock_create_ruleset, &attributes, SizeOf(abi), 0)));
  if (!ruleset) return FailErrno("landlock: cannot create a ruleset", errno);

  const std::uint64_t all = attributes.handled_access_fs;
  const std::uint64_t read = kReadFile | kReadDir;
  const std::uint64_t write =
      all & ~(kExecute | kMakeChar | kMakeBlock | kMakeSocket | kMakeFifo | kIoctlDevice);
  for (const auto& path : rules.read_only) RETURN_IF_ERROR(AddPath(ruleset.get(), path, read));
  for (const auto& path : rules.read_write) RETURN_IF_ERROR(AddPath(ruleset.get(), path, write));
  if (::syscall(__NR_landlock_restrict_self, ruleset.get(), 0) != 0)
    return FailErrno("landlock: cannot restrict", errno);
  return {};
}

}  // namespace gloveport
