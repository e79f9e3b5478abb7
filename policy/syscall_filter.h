// The system calls that a session may make, compiled to seccomp BPF. Pure: built once in the host, applied by
// confine.h in each session.
//
// Two programs are stacked. The notify program holds calls that the host wants to see, or to decide: the
// kernel stops the caller until the host answers. The main program denies by default: with an errno, so that
// honest code gets an exception and keeps its state. Calls that only an attack makes end the process: the
// host ends it, so that it knows what was tried; seccomp itself and the calls of another architecture the
// kernel ends (SIGSYS).
#ifndef GLOVEPORT_POLICY_SYSCALL_FILTER_H_
#define GLOVEPORT_POLICY_SYSCALL_FILTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

// A BPF program in the kernel's layout: struct sock_filter, 8 bytes each.
struct BpfProgram {
  std::string bytes;
};

// There is a table for each of these.
enum class SyscallArchitecture { kNative, kX86_64, kArm64 };

struct SyscallFilterOptions {
  // Without an own root some path calls must go, for Landlock does not cover them (SECURITY.md).
  bool host_root_visible = false;
  // The host is to see each file that is opened, and lets the kernel go on with it.
  bool witness_opens = false;
  SyscallArchitecture architecture = SyscallArchitecture::kNative;
};

struct SyscallFilter {
  BpfProgram notify;
  BpfProgram main;
};

// kConfinementUnavailable on an architecture without a table.
Result<SyscallFilter> CompileSyscallFilter(const SyscallFilterOptions& options);

// "socket" for 41; "#999" for numbers without a name. For records and messages.
std::string SyscallName(int number, SyscallArchitecture architecture = SyscallArchitecture::kNative);

// What a call that the notify program holds is about. The host may let a thread start, a signal go to the
// process that makes the call, which the first argument names by its number in its own pid namespace, a
// session fork when the host itself has asked it to, and a file be opened, which the kernel then decides. It
// answers clone3 and openat2 with ENOSYS, and a violation by ending the process.
enum class NotifiedCall { kRefuse, kViolation, kThreadStart, kSignal, kBranch, kOpen, kOpenat2, kClone3 };
NotifiedCall ClassifyNotified(int number, std::uint64_t first_argument);

// The first argument of clone for a branch: its parent is the template, so that it outlives the session.
std::uint64_t BranchCloneFlags();

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_SYSCALL_FILTER_H_
