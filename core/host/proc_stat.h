// What /proc and the clocks of the host say about a session's process: seen by the host, not reported by the
// child.
#ifndef GLOVEPORT_CORE_HOST_PROC_STAT_H_
#define GLOVEPORT_CORE_HOST_PROC_STAT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

// The process behind a pidfd, as this host numbers it.
Result<pid_t> PidOf(int pidfd);

// The process that started `pid`, as this host numbers it; 0 where it cannot be read.
pid_t ReadParentProcess(pid_t pid);

// As whom the kernel runs it, in this host's numbers; nobody where it cannot be read.
struct ProcessOwner {
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
};
ProcessOwner ReadProcessOwner(pid_t pid);

struct MemoryUse {
  std::uint64_t address_space_bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t data_bytes = 0;  // private writable mappings, what RLIMIT_DATA counts
};
Result<MemoryUse> ReadMemoryUse(pid_t pid);

struct ResidentBytes {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;  // since the process began
};
ResidentBytes ReadResidentBytes(pid_t pid);   // 0 where it cannot be read
std::uint64_t ReadAnonymousBytes(pid_t pid);  // resident, of no file; 0 where it cannot be read
std::uint64_t ReadThreadCount(pid_t pid);     // 0 where it cannot be read

pid_t ReadProcessOf(pid_t tid);  // the process of a thread; 0 where it cannot be read

// Children of a process with one thread, as this host numbers them.
std::vector<pid_t> ReadChildren(pid_t pid);

// The number that the process of thread `tid` has in its own pid namespace; 0 where it cannot be read.
pid_t ReadInnerProcessNumber(pid_t tid);

struct CpuUse {
  std::chrono::nanoseconds user{0};
  std::chrono::nanoseconds system{0};
};
// In clock ticks of 10 ms; user and system apart. Zero where it cannot be read.
CpuUse ReadCpuUse(pid_t pid);
// Nanosecond resolution, user and system together. Zero where it cannot be read.
std::chrono::nanoseconds ReadCpuClock(pid_t pid);

// What the kernel counts of a process since it began.
struct ProcessCounters {
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;  // of the threads that are alive
  std::uint64_t involuntary_switches = 0;
  std::optional<std::uint64_t> bytes_read;  // both absent where the host may not look
  std::optional<std::uint64_t> bytes_written;
};
// Nothing where the process is gone.
std::optional<ProcessCounters> ReadProcessCounters(pid_t pid);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_PROC_STAT_H_
