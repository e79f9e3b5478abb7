// What /proc and the clocks of the host say about a session's process: seen by the host, not reported by the
// child.
#ifndef GLOVEPORT_CORE_HOST_PROC_STAT_H_
#define GLOVEPORT_CORE_HOST_PROC_STAT_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

// The process behind a pidfd, as this host numbers it.
Result<pid_t> PidOf(int pidfd);

// The process that started `pid`, as this host numbers it; 0 where it cannot be read.
pid_t ReadParentProcess(pid_t pid);

struct MemoryUse {
  std::uint64_t address_space_bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t data_bytes = 0;  // private writable mappings, what RLIMIT_DATA counts
};
Result<MemoryUse> ReadMemoryUse(pid_t pid);

std::uint64_t ReadPeakResidentBytes(pid_t pid);  // 0 where it cannot be read
std::uint64_t ReadAnonymousBytes(pid_t pid);     // resident, of no file; 0 where it cannot be read
std::uint64_t ReadThreadCount(pid_t pid);        // 0 where it cannot be read

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

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_PROC_STAT_H_
