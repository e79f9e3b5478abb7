#include "gloveport/policy/syscall_filter.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <system_error>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/syscall_lists.h"

namespace gloveport {
namespace {

std::uint32_t TokenOf(SyscallArchitecture architecture) {
  switch (architecture) {
    case SyscallArchitecture::kX86_64:
      return SCMP_ARCH_X86_64;
    case SyscallArchitecture::kArm64:
      return SCMP_ARCH_AARCH64;
    case SyscallArchitecture::kNative:
      break;
  }
  return seccomp_arch_native();
}

class Builder {
 public:
  explicit Builder(std::uint32_t architecture)
      : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), &seccomp_release) {
    if (context_ == nullptr || architecture == seccomp_arch_native()) return;
    Note(seccomp_arch_remove(context_.get(), SCMP_ARCH_NATIVE));
    Note(seccomp_arch_add(context_.get(), architecture));
  }

  bool ok() const { return context_ != nullptr && error_ == 0; }
  int error() const { return error_; }

  void Attribute(scmp_filter_attr attribute, std::uint32_t value) {
    Note(seccomp_attr_set(context_.get(), attribute, value));
  }

  // Names that this architecture lacks are passed over.
  void Rule(std::uint32_t action, std::string_view name, std::initializer_list<scmp_arg_cmp> arguments = {}) {
    const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
    if (number < 0) return;
    Note(seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(arguments.size()),
                                const_cast<scmp_arg_cmp*>(arguments.begin())));
  }
  void Allow(std::string_view name, std::initializer_list<scmp_arg_cmp> arguments = {}) {
    Rule(SCMP_ACT_ALLOW, name, arguments);
  }
  void AllowEach(std::string_view name, unsigned argument, std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) Allow(name, {Is(argument, value)});
  }

  // The 32 low bits only: the kernel ignores what stands above in an int argument, and so must the
  // comparison.
  static scmp_arg_cmp Is(unsigned argument, std::uint64_t value) {
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, 0xFFFFFFFFu, value);
  }
  static scmp_arg_cmp Clear(unsigned argument, std::uint64_t bits) {
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bits, 0);
  }
  static scmp_arg_cmp Masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, value);
  }

  Result<BpfProgram> Export() {
    auto pipe = MakePipe();
    if (!pipe) return tl::unexpected<Error>(pipe.error());
    // 300 instructions of 8 bytes are far below a pipe's capacity, so nobody needs to read meanwhile.
    const int status = seccomp_export_bpf(context_.get(), pipe->write_end.get());
    if (status < 0) return FailErrno("seccomp_export_bpf", -status);
    pipe->write_end.reset();
    BpfProgram program;
    RETURN_IF_ERROR(ReadAvailable(pipe->read_end.get(), 1u << 20, program.bytes));
    return program;
  }

 private:
  void Note(int status) {
    if (status < 0 && error_ == 0) error_ = -status;
  }
  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  int error_ = 0;
};

constexpr std::uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
constexpr std::uint64_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                          CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE |
                                          CLONE_UNTRACED | CLONE_PIDFD;
constexpr std::uint64_t kSetIdBits = S_ISUID | S_ISGID;
constexpr std::uint64_t kSelf = 0;  // where a call takes the number of a process
constexpr std::uint64_t kForeignClock = 1u << 31;
constexpr std::uint64_t kThreadClock = 6;  // in the three low bits: of a thread, by its scheduled time

void AddMemoryRules(Builder& b, bool executable_mappings) {
  // Never writable and executable at once; what is executable comes from a file of the read-only runtime.
  b.Allow("mmap", {Builder::Clear(2, PROT_EXEC)});
  if (executable_mappings)
    b.Allow("mmap",
            {Builder::Masked(2, PROT_EXEC | PROT_WRITE, PROT_EXEC), Builder::Clear(3, MAP_ANONYMOUS)});
  b.Allow("mprotect", {Builder::Clear(2, PROT_EXEC)});
  b.AllowEach("madvise", 2,
              {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE,
               MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTFORK, MADV_DOFORK, MADV_DONTDUMP});
}

void AddThreadRules(Builder& b) {
  b.Allow("clone", {Builder::Masked(0, kThreadFlags | kNamespaceFlags, kThreadFlags)});
  // No priority inheritance and no requeueing to it: old kernels had holes there.
  for (const std::uint64_t op : {FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP,
                                 FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET}) {
    b.Allow("futex", {Builder::Masked(1, FUTEX_CMD_MASK & 0xFFFFFFFFu, op)});
  }
  b.Allow("prlimit64", {Builder::Is(0, kSelf), SCMP_CMP(2, SCMP_CMP_EQ, 0)});
  b.Allow("getrlimit");
  b.Allow("prctl", {Builder::Is(0, PR_SET_NAME)});
  b.Allow("prctl", {Builder::Is(0, PR_GET_NAME)});
}

// Sessions of one template share a pid namespace: what these say of another process would tell that it
// exists.
void AddIdentityRules(Builder& b) {
  for (const std::string_view name : {"getpgid", "getsid", "sched_getparam", "sched_getscheduler"})
    b.Allow(name, {Builder::Is(0, kSelf)});
  b.Allow("getpriority", {Builder::Is(0, PRIO_PROCESS), Builder::Is(1, kSelf)});
  // glibc asks by thread number too, and takes ENOSYS for "unknown".
  b.Allow("sched_getaffinity", {Builder::Is(0, kSelf)});
  b.Rule(SCMP_ACT_ERRNO(ENOSYS), "sched_getaffinity", {SCMP_CMP(0, SCMP_CMP_NE, kSelf)});
  // Clocks with a number below zero are those of a process, a thread or a descriptor. Of threads the kernel
  // lets only those of the same process be asked.
  for (const std::string_view name : {"clock_gettime", "clock_getres", "clock_nanosleep"}) {
    b.Allow(name, {Builder::Clear(0, kForeignClock)});
    b.Allow(name, {Builder::Masked(0, 7, kThreadClock)});
  }
}

void AddDescriptorRules(Builder& b) {
  b.AllowEach("fcntl", 1,
              {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW,
               F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ});
  b.AllowEach("ioctl", 1, {TCGETS, TIOCGWINSZ, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD});
  // What asyncio needs to wake itself up.
  b.Allow("socketpair", {Builder::Is(0, AF_UNIX), Builder::Masked(1, 0xF, SOCK_STREAM)});
  b.Allow("sendto", {SCMP_CMP(4, SCMP_CMP_EQ, 0)});
  // Not who the peer is: that would be the host's process and user.
  for (const std::uint64_t option : {SO_TYPE, SO_ERROR, SO_DOMAIN, SO_PROTOCOL, SO_SNDBUF, SO_RCVBUF})
    b.Allow("getsockopt", {Builder::Is(1, SOL_SOCKET), Builder::Is(2, option)});
}

void AddPathRules(Builder& b, bool host_root_visible) {
  // Opening is free in the filter (the file system decides), but no file may be created with a set-id bit.
  constexpr std::uint64_t kCreates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  b.Allow("open", {Builder::Clear(1, kCreates)});
  b.Allow("open", {Builder::Clear(2, kSetIdBits)});
  b.Allow("openat", {Builder::Clear(2, kCreates)});
  b.Allow("openat", {Builder::Clear(3, kSetIdBits)});
  b.Allow("creat", {Builder::Clear(1, kSetIdBits)});
  if (host_root_visible) return;  // Landlock does not cover what follows
  b.Allow("fchmod", {Builder::Clear(1, kSetIdBits)});
  b.Allow("chmod", {Builder::Clear(1, kSetIdBits)});
  b.Allow("fchmodat", {Builder::Clear(2, kSetIdBits)});
  b.Allow("utimensat");
  b.Allow("utimes");
  b.Allow("utime");
  b.Allow("truncate");
}

// Honest answers for libraries that have a second way: ENOSYS makes glibc fall back, EPERM would not.
void AddSoftRefusals(Builder& b, bool witness_opens) {
  for (const std::string_view name : {"close_range", "futex_waitv", "map_shadow_stack", "rseq_slice"})
    b.Rule(SCMP_ACT_ERRNO(ENOSYS), name);
  if (!witness_opens) b.Rule(SCMP_ACT_ERRNO(ENOSYS), "openat2");
  for (const std::string_view name :
       {"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "setxattr",
        "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"}) {
    b.Rule(SCMP_ACT_ERRNO(ENOTSUP), name);
  }
}

// The host answers these; the main program must let them through to the notify program, whose answer is
// weaker than any refusal of the main one. Where no host listens any more, the kernel answers ENOSYS.
void AddNotified(Builder& b, bool witness_opens) {
  for (const std::string_view name : kViolations) b.Allow(name);
  for (const std::string_view name : kWitnessed) b.Allow(name);
  for (const std::string_view name : kUnsupported) b.Allow(name);
  if (witness_opens) b.Allow("openat2");
  b.Allow("kill");
  b.Allow("tgkill");
  b.Allow("clone", {Builder::Clear(0, CLONE_THREAD)});
}

Result<BpfProgram> CompileMain(const SyscallFilterOptions& options) {
  Builder b(TokenOf(options.architecture));
  if (!b.ok())
    return Fail(ErrorCode::kConfinementUnavailable, "libseccomp cannot make a filter for this machine");
  b.Attribute(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const std::string_view name : kAllowed) b.Allow(name);
  for (const std::string_view name : kEnding) b.Rule(SCMP_ACT_KILL_PROCESS, name);
  AddMemoryRules(b, !options.host_root_visible);
  AddThreadRules(b);
  AddIdentityRules(b);
  AddDescriptorRules(b);
  AddPathRules(b, options.host_root_visible);
  AddSoftRefusals(b, options.witness_opens);
  AddNotified(b, options.witness_opens);
  b.Attribute(SCMP_FLTATR_CTL_OPTIMIZE, 2);
  // libseccomp asks the kernel what it can do, so that this fails too where the kernel can do nothing.
  if (!b.ok()) {
    return Fail(
        ErrorCode::kConfinementUnavailable,
        fmt::format("cannot compile the system call filter: {}", std::generic_category().message(b.error())),
        "run on a kernel with seccomp filters (CONFIG_SECCOMP_FILTER), where the host itself may install "
        "them");
  }
  return b.Export();
}

std::vector<std::uint32_t> NotifiedNumbers(const SyscallFilterOptions& options) {
  std::vector<std::uint32_t> numbers;
  const auto add = [&](std::string_view name) {
    const int number =
        seccomp_syscall_resolve_name_arch(TokenOf(options.architecture), std::string(name).c_str());
    if (number >= 0) numbers.push_back(static_cast<std::uint32_t>(number));
  };
  for (const std::string_view name : kViolations) add(name);
  for (const std::string_view name : kWitnessed) add(name);
  for (const std::string_view name : kDecided) add(name);
  for (const std::string_view name : kUnsupported) add(name);
  if (options.witness_opens) {
    for (const std::string_view name : kOpens) add(name);
    add("openat2");
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// A tree of comparisons over sorted numbers: each call passes through it, and few are held. The kernel
// translates it for each session anew, so it is short before it is quick: a leaf holds several numbers.
void AppendTree(std::span<const std::uint32_t> numbers, std::vector<sock_filter>& code) {
  constexpr std::size_t kLeaf = 8;
  if (numbers.size() <= kLeaf) {
    for (std::size_t left = numbers.size(); left > 0; --left) {
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[numbers.size() - left],
                              static_cast<std::uint8_t>(left), 0));
    }
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    return;
  }
  const std::size_t middle = numbers.size() / 2;
  std::vector<sock_filter> below;
  AppendTree(numbers.first(middle), below);
  // A jump reaches 255 instructions; 60 numbers need fewer.
  code.push_back(
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, numbers[middle], static_cast<std::uint8_t>(below.size()), 0));
  code.insert(code.end(), below.begin(), below.end());
  AppendTree(numbers.subspan(middle), code);
}

// Written by hand: libseccomp would add its own architecture actions to it.
Result<BpfProgram> CompileNotify(const SyscallFilterOptions& options) {
  constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber)};
  const std::vector<std::uint32_t> numbers = NotifiedNumbers(options);
  if (numbers.size() > 120)
    return Fail(ErrorCode::kInternal, "too many calls to notify the host of for one tree");
  AppendTree(numbers, code);
  BpfProgram program;
  program.bytes.assign(reinterpret_cast<const char*>(code.data()), code.size() * sizeof(sock_filter));
  return program;
}

template <std::size_t kCount>
std::set<int> NativeNumbers(const std::string_view (&names)[kCount]) {
  std::set<int> numbers;
  for (const std::string_view name : names)
    numbers.insert(seccomp_syscall_resolve_name(std::string(name).c_str()));
  return numbers;
}

bool IsViolation(int number) {
  static const std::set<int> numbers = NativeNumbers(kViolations);
  return numbers.contains(number);
}

bool IsOpen(int number) {
  static const std::set<int> numbers = NativeNumbers(kOpens);
  return numbers.contains(number);
}

}  // namespace

Result<SyscallFilter> CompileSyscallFilter(const SyscallFilterOptions& options) {
  const std::uint32_t arch = TokenOf(options.architecture);
  if (arch != SCMP_ARCH_X86_64 && arch != SCMP_ARCH_AARCH64) {
    return Fail(ErrorCode::kConfinementUnavailable, "there is no system call table for this architecture",
                "run on x86-64 or arm64");
  }
  SyscallFilter filter;
  ASSIGN_OR_RETURN(filter.main, CompileMain(options));
  ASSIGN_OR_RETURN(filter.notify, CompileNotify(options));
  return filter;
}

std::string SyscallName(int number, SyscallArchitecture architecture) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      seccomp_syscall_resolve_num_arch(TokenOf(architecture), number), &std::free);
  return name ? std::string(name.get()) : fmt::format("#{}", number);
}

NotifiedCall ClassifyNotified(int number, std::uint64_t first_argument) {
  if (number == __NR_kill || number == __NR_tgkill) return NotifiedCall::kSignal;
  if (number == __NR_clone3) return NotifiedCall::kClone3;
  if (number == __NR_openat2) return NotifiedCall::kOpenat2;
  if (IsOpen(number)) return NotifiedCall::kOpen;
  if (number != __NR_clone) return IsViolation(number) ? NotifiedCall::kViolation : NotifiedCall::kRefuse;
  if (first_argument == BranchCloneFlags()) return NotifiedCall::kBranch;
  const bool thread = (first_argument & (kThreadFlags | kNamespaceFlags)) == kThreadFlags;
  return thread ? NotifiedCall::kThreadStart : NotifiedCall::kRefuse;
}

std::uint64_t BranchCloneFlags() {
  return CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | std::uint64_t{SIGCHLD};
}

}  // namespace gloveport
