// After lock-down every system call of the table is made once, from native code, and the answers are compared
// with the table beside this file. Run with GLOVEPORT_PRINT_TABLE=1 to print what a new kernel or filter
// answers.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/tests/attacks/confined_act.h"

namespace gloveport {
namespace {

#if defined(__x86_64__)

constexpr int kLastNumber = 470;
constexpr long kX32 = 0x40000000;
constexpr long kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;

struct Row {
  std::string what;
  Act act;
};

template <typename... Arguments>
Row Call(std::string what, long number, Arguments... arguments) {
  return {std::move(what), [=] { return ::syscall(number, arguments...); }};
}

// All arguments zero: no path, no buffer, no flag.
std::vector<Row> EveryNumber() {
  std::vector<Row> rows;
  for (int number = 0; number <= kLastNumber; ++number)
    rows.push_back(Call(fmt::format("{} {}", number, SyscallName(number)), number, 0, 0, 0, 0, 0, 0));
  return rows;
}

long ThroughInt80(long number) {
  long result = 0;
  asm volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory");
  return result;
}

std::vector<Row> OtherEntries() {
  return {
      Call("x32 getpid", kX32 | __NR_getpid),
      Call("x32 read", kX32 | 0, 0, 0, 0),
      Call("x32 execve", kX32 | 520, 0, 0, 0),
      {"int 0x80 getpid", [] { return ThroughInt80(20); }},
      {"int 0x80 execve", [] { return ThroughInt80(11); }},
      Call("number -1", -1),
      Call("number 100000", 100000),
  };
}

long MapProgram(int protection) {
  const long fd = ::syscall(__NR_openat, AT_FDCWD, "/usr/bin/env", O_RDONLY);
  return ::syscall(__NR_mmap, 0, 4096, protection, MAP_PRIVATE, fd, 0);
}

// Where the answer depends on arguments: each refusal beside what is allowed.
std::vector<Row> ArgumentsOfMemory() {
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
  return {
      Call("mmap rw", __NR_mmap, 0, 4096, PROT_READ | PROT_WRITE, kPrivate, -1, 0),
      Call("mmap rwx", __NR_mmap, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, kPrivate, -1, 0),
      Call("mmap rx anonymous", __NR_mmap, 0, 4096, PROT_READ | PROT_EXEC, kPrivate, -1, 0),
      {"mmap rx file of the runtime", [] { return MapProgram(PROT_READ | PROT_EXEC); }},
      {"mmap wx file of the runtime", [] { return MapProgram(PROT_WRITE | PROT_EXEC); }},
      Call("mprotect r", __NR_mprotect, 0, 0, PROT_READ),
      Call("mprotect rx", __NR_mprotect, 0, 0, PROT_READ | PROT_EXEC),
      Call("madvise DONTNEED", __NR_madvise, 0, 0, MADV_DONTNEED),
      Call("madvise MERGEABLE", __NR_madvise, 0, 0, 12),
      Call("madvise HWPOISON", __NR_madvise, 0, 0, 100),
  };
}

std::vector<Row> ArgumentsOfThreads() {
  return {
      Call("clone thread", __NR_clone, kThread, 0, 0, 0, 0),
      Call("clone process", __NR_clone, SIGCHLD, 0, 0, 0, 0),
      Call("clone vfork", __NR_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0),
      Call("clone sibling", __NR_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0),
      Call("clone thread in a user namespace", __NR_clone, kThread | CLONE_NEWUSER, 0, 0, 0, 0),
      Call("clone thread in a net namespace", __NR_clone, kThread | CLONE_NEWNET, 0, 0, 0, 0),
      Call("clone thread without shared files", __NR_clone, kThread & ~CLONE_FILES, 0, 0, 0, 0),
      Call("clone traced thread", __NR_clone, kThread | CLONE_PTRACE, 0, 0, 0, 0),
      Call("clone process in a mount namespace", __NR_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0),
      Call("futex WAKE", __NR_futex, 0, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0),
      Call("futex WAIT_BITSET", __NR_futex, 0, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, 0, 0, 1),
      Call("futex LOCK_PI", __NR_futex, 0, FUTEX_LOCK_PI, 0, 0, 0, 0),
      Call("futex CMP_REQUEUE_PI", __NR_futex, 0, FUTEX_CMP_REQUEUE_PI, 1, 0, 0, 0),
      Call("prlimit64 read", __NR_prlimit64, 0, RLIMIT_CORE, 0, 0),
      {"prlimit64 set",
       [] {
         const rlimit none{0, 0};
         return ::syscall(__NR_prlimit64, 0, RLIMIT_CORE, &none, nullptr);
       }},
      Call("prlimit64 of another", __NR_prlimit64, 1, RLIMIT_CORE, 0, 0),
      {"prctl SET_NAME", [] { return ::syscall(__NR_prctl, PR_SET_NAME, "name"); }},
      Call("prctl SET_DUMPABLE", __NR_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0),
      Call("prctl SET_PDEATHSIG", __NR_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0),
      Call("prctl SET_SECCOMP", __NR_prctl, PR_SET_SECCOMP, 2, 0, 0, 0),
      Call("prctl SET_MM", __NR_prctl, PR_SET_MM, 1, 0, 0, 0),
  };
}

std::vector<Row> ArgumentsOfIdentity() {
  const auto process_clock = [](pid_t pid) {
    return static_cast<long>((~static_cast<unsigned>(pid) << 3) | 2u);
  };
  const auto thread_clock = [](pid_t tid) {
    return static_cast<long>((~static_cast<unsigned>(tid) << 3) | 6u);
  };
  return {
      Call("kill 1", __NR_kill, 1, 0),
      Call("kill every process", __NR_kill, -1, 0),
      {"kill itself", [] { return ::syscall(__NR_kill, ::getpid(), 0); }},
      Call("tgkill 1", __NR_tgkill, 1, 1, 0),
      {"tgkill itself", [] { return ::syscall(__NR_tgkill, ::getpid(), ::getpid(), 0); }},
      Call("getpgid of another", __NR_getpgid, 1),
      Call("getsid of another", __NR_getsid, 1),
      Call("getpriority of another", __NR_getpriority, PRIO_PROCESS, 1),
      Call("getpriority of a user", __NR_getpriority, PRIO_USER, 0),
      Call("sched_getaffinity of another", __NR_sched_getaffinity, 1, 0, 0),
      Call("sched_getscheduler of another", __NR_sched_getscheduler, 1),
      Call("clock_gettime MONOTONIC", __NR_clock_gettime, CLOCK_MONOTONIC, 0),
      Call("clock_gettime own process", __NR_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, 0),
      Call("clock_gettime of process 1", __NR_clock_gettime, process_clock(1), 0),
      Call("clock_gettime of a thread", __NR_clock_gettime, thread_clock(1), 0),
      Call("clock_gettime of a descriptor", __NR_clock_gettime, static_cast<long>((~0u << 3) | 3u), 0),
      Call("clock_nanosleep on process 1", __NR_clock_nanosleep, process_clock(1), 0, 0, 0),
  };
}

std::vector<Row> ArgumentsOfDescriptors() {
  return {
      Call("fcntl GETFL", __NR_fcntl, 0, F_GETFL),
      Call("fcntl SETLK", __NR_fcntl, 0, F_SETLK, 0),
      Call("fcntl SETOWN", __NR_fcntl, 0, F_SETOWN, 1),
      Call("fcntl SETSIG", __NR_fcntl, 0, F_SETSIG, SIGIO),
      Call("fcntl SETLEASE", __NR_fcntl, 0, F_SETLEASE, F_RDLCK),
      Call("fcntl NOTIFY", __NR_fcntl, 0, F_NOTIFY, 0),
      Call("fcntl SETPIPE_SZ", __NR_fcntl, 0, F_SETPIPE_SZ, 1 << 20),
      Call("fcntl ADD_SEALS", __NR_fcntl, 0, F_ADD_SEALS, 0),
      Call("ioctl FIONREAD", __NR_ioctl, -1, FIONREAD, 0),
      Call("ioctl TIOCSTI", __NR_ioctl, -1, TIOCSTI, 0),
      Call("ioctl TIOCSTI with high bits", __NR_ioctl, -1, (1L << 32) | TIOCSTI, 0),
      Call("ioctl TIOCLINUX", __NR_ioctl, -1, 0x541C, 0),
      Call("ioctl FS_IOC_SETFLAGS", __NR_ioctl, -1, 0x40086602, 0),
      Call("socketpair stream", __NR_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0),
      Call("socketpair datagram", __NR_socketpair, AF_UNIX, SOCK_DGRAM, 0, 0),
      Call("socketpair tipc", __NR_socketpair, 30, SOCK_STREAM, 0, 0),
      Call("sendto without an address", __NR_sendto, -1, 0, 0, 0, 0, 0),
      {"sendto with an address",
       [] {
         const sockaddr address{AF_INET, {}};
         return ::syscall(__NR_sendto, -1, 0, 0, 0, &address, sizeof address);
       }},
      Call("getsockopt TYPE", __NR_getsockopt, -1, SOL_SOCKET, SO_TYPE, 0, 0),
      Call("getsockopt PEERCRED", __NR_getsockopt, -1, SOL_SOCKET, SO_PEERCRED, 0, 0),
      Call("getsockopt PEERPIDFD", __NR_getsockopt, -1, SOL_SOCKET, 77, 0, 0),
  };
}

std::vector<Row> ArgumentsOfPaths() {
  return {
      Call("open for reading with set-id bits", __NR_open, 0, O_RDONLY, 04755),
      Call("open creating", __NR_open, 0, O_CREAT | O_WRONLY, 0644),
      Call("open creating set-uid", __NR_open, 0, O_CREAT | O_WRONLY, 04755),
      Call("openat creating", __NR_openat, AT_FDCWD, 0, O_CREAT | O_WRONLY, 0644),
      Call("openat creating set-gid", __NR_openat, AT_FDCWD, 0, O_CREAT | O_WRONLY, 02755),
      Call("openat unnamed set-uid", __NR_openat, AT_FDCWD, 0, O_TMPFILE | O_WRONLY, 04755),
      Call("creat set-uid", __NR_creat, 0, 04755),
      Call("chmod", __NR_chmod, 0, 0755),
      Call("chmod set-uid", __NR_chmod, 0, 04755),
      Call("fchmod of nothing", __NR_fchmod, -1, 0755),
      Call("fchmod set-uid", __NR_fchmod, -1, 04755),
      Call("fchmodat set-gid", __NR_fchmodat, AT_FDCWD, 0, 02755),
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (const auto& rows : {EveryNumber(), OtherEntries(), ArgumentsOfMemory(), ArgumentsOfThreads(),
                           ArgumentsOfIdentity(), ArgumentsOfDescriptors(), ArgumentsOfPaths()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

using Table = std::map<std::string, std::string>;  // what -> answer

// "what | answer | answer in the degraded mode, where it differs"; '#' begins a comment; "a or b" where
// kernels differ.
Table ExpectedTable(bool degraded) {
  Table table;
  const auto text = ReadFile(GLOVEPORT_ATTACKS_FOLDER "/syscalls.x86_64.txt");
  EXPECT_TRUE(text) << text.error().message;
  if (!text) return table;
  for (std::string_view line : SplitLines(*text)) {
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> cells;
    while (true) {
      const auto bar = line.find('|');
      cells.emplace_back(Trim(line.substr(0, bar)));
      if (bar == std::string_view::npos) break;
      line.remove_prefix(bar + 1);
    }
    if (cells.size() >= 2) table[cells[0]] = degraded && cells.size() > 2 ? cells[2] : cells[1];
  }
  return table;
}

Table SeenTable(bool degraded) {
  Table table;
  const auto filter = CompileSyscallFilter({.host_root_visible = degraded});
  EXPECT_TRUE(filter) << filter.error().message;
  if (!filter) return table;
  for (const Row& row : AllRows()) {
    const auto answer = AnswerTo(*filter, row.act);
    EXPECT_TRUE(answer) << row.what << ": " << answer.error().message;
    if (!answer) return table;
    EXPECT_TRUE(table.emplace(row.what, *answer).second) << row.what << " stands twice";
  }
  return table;
}

bool IsOneOf(std::string_view answer, std::string_view alternatives) {
  while (true) {
    const auto separator = alternatives.find(" or ");
    if (answer == alternatives.substr(0, separator)) return true;
    if (separator == std::string_view::npos) return false;
    alternatives.remove_prefix(separator + 4);
  }
}

std::string Differences(const Table& seen, const Table& expected) {
  std::string text;
  for (const auto& [what, answer] : seen) {
    const auto found = expected.find(what);
    if (found == expected.end()) {
      text += fmt::format("{}: {} (not in the table)\n", what, answer);
    } else if (!IsOneOf(answer, found->second)) {
      text += fmt::format("{}: {} where the table says {}\n", what, answer, found->second);
    }
  }
  for (const auto& [what, answer] : expected) {
    if (!seen.contains(what)) text += fmt::format("{}: was not tried\n", what);
  }
  return text;
}

TEST(SyscallTable, EveryCallAnswersAsTheTableSays) {
  const Table seen = SeenTable(false);
  if (std::getenv("GLOVEPORT_PRINT_TABLE")) {
    Table degraded = SeenTable(true);
    for (const Row& row : AllRows()) {
      const std::string& other = degraded[row.what];
      const std::string& answer = seen.at(row.what);
      fmt::print("{} | {}{}\n", row.what, answer, other == answer ? "" : " | " + other);
    }
  }
  EXPECT_EQ("", Differences(seen, ExpectedTable(false)));
}

TEST(SyscallTable, DegradedModeRefusesBesidesWhatLandlockDoesNotCover) {
  EXPECT_EQ("", Differences(SeenTable(true), ExpectedTable(true)));
}

#else
TEST(SyscallTable, HasNoExpectedTableForThisArchitecture) { GTEST_SKIP() << "the table is for x86-64"; }
#endif

}  // namespace
}  // namespace gloveport
