// What a cell tries, from native code too, and what becomes known of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gloveport/tests/core/host/recorded_evidence.h"
#include "gloveport/tests/core/host/session_fixture.h"

namespace gloveport {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

class SessionEvidenceTest : public SessionFixture {
 protected:
  std::unique_ptr<Session> OpenWitnessed() {
    return Open(R"("evidence":{"opens":"kernel"})", nullptr, evidence_);
  }
  // Of the kernel, "what: message".
  static std::vector<std::string> Refused(const CellResult& result) {
    std::vector<std::string> texts;
    for (const Refusal& refusal : result.usage.denied) {
      if (refusal.source == "kernel") texts.push_back(refusal.what + ": " + refusal.message);
    }
    return texts;
  }

  std::shared_ptr<RecordedEvidence> evidence_ = std::make_shared<RecordedEvidence>();
};

constexpr std::string_view kNative = R"(
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
)";

struct Attempt {
  const char* code;
  const char* call;
  const char* detail;
};

// Details that stand in memory are asked for in sessions whose memory an ordinary user's host may read too.
constexpr Attempt kAttempts[] = {
    {"libc.socket(2, 1, 0)", "socket", "socket(AF_INET, SOCK_STREAM)"},
    {"libc.socket(10, 2 | 0o2000000, 0)", "socket", "socket(AF_INET6, SOCK_DGRAM)"},
    {"libc.connect(0, struct.pack('=HH4s8x', 2, 0x5000, bytes([127, 0, 0, 1])), 16)", "connect",
     "connect(127.0.0.1:80)"},
    {"libc.connect(0, struct.pack('=H', 1) + b'/run/x.sock', 13)", "connect", "connect(/run/x.sock)"},
    {"libc.bind(0, struct.pack('=H', 1) + bytes(1) + b'name', 7)", "bind", "bind(@name)"},
    {"libc.execve(b'/bin/sh', 0, 0)", "execve", "execve(/bin/sh)"},
    {"libc.syscall(322, -100, b'/bin/true', 0, 0, 0)", "execveat", "execveat(/bin/true)"},
    {"libc.syscall(57)", "fork", "fork was"},
    {"libc.syscall(58)", "vfork", "vfork was"},
    {"libc.syscall(56, 17, 0, 0, 0, 0)", "clone", "clone(0x11)"},
    {"libc.syscall(435, struct.pack('=11Q', *[0]*4, 17, *[0]*6), 88)", "clone3", "clone3(0x0)"},
    {"libc.kill(1, 9)", "kill", "kill(1, SIGKILL)"},
    {"libc.syscall(434, 1, 0)", "pidfd_open", "pidfd_open(1)"},
    {"libc.memfd_create(b'code', 0)", "memfd_create", "memfd_create(code)"},
    {"libc.syscall(29, 1, 4096, 0o1600)", "shmget", "shmget was"},
    {"libc.execve(b'/bin/\\xff', 0, 0)", "execve", "execve(/bin/\xEF\xBF\xBD)"},
};

TEST_F(SessionEvidenceTest, EachRefusedCallOfNativeCodeIsKnownWithItsArguments) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the numbers are those of x86-64";
#endif
  const auto session = OpenWitnessed();
  for (const Attempt& attempt : kAttempts) {
    const CellResult result = Run(*session, std::string(kNative) + attempt.code);
    EXPECT_EQ(result.outcome, Outcome::kOk) << attempt.code;
    EXPECT_EQ(result.repr, "-1") << attempt.code;
    EXPECT_THAT(Refused(result), Contains(AllOf(StartsWith(attempt.call), HasSubstr(attempt.detail))))
        << attempt.code;
  }
}

TEST_F(SessionEvidenceTest, TheSameCallWithOtherArgumentsIsAnotherAttempt) {
  const auto session = Open();
  const CellResult result =
      Run(*session, std::string(kNative) + "for kind in (1, 2, 1, 2): libc.socket(2, kind, 0)");
  EXPECT_EQ(Refused(result).size(), 2u);
}

TEST_F(SessionEvidenceTest, WhatTheSelfCheckTriedIsNoAttemptOfTheFirstCell) {
  const auto session = Open();
  const CellResult result =
      Run(*session, std::string(kNative) + "libc.syscall(157, 38, 1); libc.socket(17, 3, 0)");
  EXPECT_THAT(Refused(result), ElementsAre(HasSubstr("socket(AF_PACKET, SOCK_RAW)")));
}

struct Violation {
  const char* code;
  const char* written;
};

constexpr Violation kViolations[] = {
    {"libc.ptrace(16, 1, 0, 0)", "ptrace(PTRACE_ATTACH 1)"},
    {"libc.mount(b'none', b'/mnt', b'tmpfs', 0, 0)", "mount(none, /mnt, tmpfs)"},
    {"libc.unshare(0x10000000)", "unshare(CLONE_NEWUSER)"},
    {"libc.setns(5, 0x40000000)", "setns(5, CLONE_NEWNET)"},
    {"libc.syscall(321, 5, 0, 0)", "bpf(5)"},
    {"libc.syscall(425, 8, 0)", "io_uring_setup(8)"},
    {"libc.syscall(250, 0, 0)", "keyctl(0)"},
    {"libc.syscall(298, 0, 7, 0, 0, 0)", "perf_event_open(7)"},
    {"libc.syscall(323, 0)", "userfaultfd(0x0)"},
    {"libc.syscall(310, 1, 0, 0, 0, 0, 0)", "process_vm_readv(1)"},
    {"libc.syscall(246, 0, 0, 0, 0)", "kexec_load"},
    {"libc.syscall(313, 3, b'x=1', 0)", "finit_module(3, x=1)"},
    {"libc.chroot(b'/workdir')", "chroot(/workdir)"},
};

TEST_F(SessionEvidenceTest, ACallThatOnlyAnAttackMakesEndsTheProcessAndIsNamed) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the numbers are those of x86-64";
#endif
  const auto session = OpenWitnessed();
  for (const Violation& violation : kViolations) {
    const CellResult result = Run(*session, std::string(kNative) + violation.code + "\nprint('went on')");
    EXPECT_EQ(result.outcome, Outcome::kViolation) << violation.code;
    EXPECT_EQ(result.state, SessionState::kLost) << violation.code;
    EXPECT_EQ(result.out, "") << violation.code;
    ASSERT_TRUE(result.error);
    EXPECT_THAT(result.error->message, HasSubstr(violation.written)) << violation.code;
    EXPECT_THAT(Refused(result), ElementsAre(HasSubstr(violation.written))) << violation.code;
  }
}

TEST_F(SessionEvidenceTest, ANewFilterIsEndedByTheKernelItself) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the numbers are those of x86-64";
#endif
  const auto session = Open();
  const CellResult result = Run(*session, std::string(kNative) + "libc.syscall(317, 1, 8, 0)");
  EXPECT_EQ(result.outcome, Outcome::kViolation);
  EXPECT_THAT(Refused(result), ElementsAre(StartsWith("violation")));
}

TEST_F(SessionEvidenceTest, ThreadsOfPythonAreNoAttempts) {
  const auto session = OpenWitnessed();
  const CellResult result = Run(*session, R"(
import threading
done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
len(done)
)");
  EXPECT_EQ(result.repr, "4");
  EXPECT_THAT(result.usage.denied, IsEmpty());
}

TEST_F(SessionEvidenceTest, TheKernelsWitnessSeesWhatNativeCodeOpens) {
  const auto session = OpenWitnessed();
  Run(*session, kNative);
  evidence_->TakeOpens("kernel");
  const CellResult result = Run(*session, R"(
AT, RD, WR, CREATE = -100, 0, 1, 0o100
fds = [libc.open(b'made.txt', CREATE | WR, 0o600), libc.open(b'/workdir/made.txt', RD), libc.open(b'/etc/passwd', RD),
       libc.openat(AT, b'/usr/lib/python3/x', CREATE | WR, 0o600), libc.creat(b'sub/../other', 0o600),
       libc.open(b'/workdir/made.txt', RD), libc.open(b'/', RD | 0o200000)]
[fd >= 0 for fd in fds]
)");
  EXPECT_EQ(result.repr, "[True, True, False, False, False, True, False]");
  EXPECT_THAT(evidence_->TakeOpens("kernel"),
              ElementsAre("create /workdir/made.txt", "read /workdir/made.txt", "read /etc/passwd refused",
                          "create /usr/lib/python3/x refused", "create /workdir/sub/../other refused",
                          "read / refused"));
  EXPECT_THAT(evidence_->TakeOpens("interpreter"), IsEmpty());
}

TEST_F(SessionEvidenceTest, RelativePathsBeginWhereTheCellIs) {
  const auto session = OpenWitnessed();
  Run(*session, std::string(kNative) +
                    "import os\nos.mkdir('sub')\nos.chdir('sub')\nd = os.open('/scratch', os.O_RDONLY)");
  evidence_->TakeOpens("kernel");
  const CellResult result = Run(*session,
                                "libc.open(b'a', 0o101, 0o600) >= 0, libc.openat(d, b'b', 0o101, 0o600) >= "
                                "0, libc.open(b'../sub/a', 0) >= 0");
  EXPECT_EQ(result.repr, "(True, True, True)");
  EXPECT_THAT(evidence_->TakeOpens("kernel"),
              ElementsAre("create /workdir/sub/a", "create /scratch/b", "read /workdir/sub/../sub/a"));
}

TEST_F(SessionEvidenceTest, Openat2IsSeenThoughItDoesNotExist) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the numbers are those of x86-64";
#endif
  const auto session = OpenWitnessed();
  Run(*session, kNative);
  evidence_->TakeOpens("kernel");
  const CellResult result = Run(
      *session,
      "libc.syscall(437, -100, b'/workdir/x', struct.pack('=3Q', 0o101, 0o600, 0), 24), ctypes.get_errno()");
  EXPECT_EQ(result.repr, "(-1, 38)");
  EXPECT_THAT(evidence_->TakeOpens("kernel"), ElementsAre("create /workdir/x refused"));
}

TEST_F(SessionEvidenceTest, TheRuntimesOwnFilesAreLeftOut) {
  const auto session = OpenWitnessed();
  const CellResult result =
      Run(*session, "import sqlite3, xml.etree.ElementTree\nopen('/dev/null').close()\n1");
  EXPECT_EQ(result.repr, "1");
  EXPECT_THAT(evidence_->TakeOpens("kernel"), Not(Contains(HasSubstr("/usr/lib/python3"))));
}

TEST_F(SessionEvidenceTest, BranchesHaveTheirOwnEvidence) {
  const auto session = OpenWitnessed();
  const auto other = std::make_shared<RecordedEvidence>();
  auto branches = session->Branch(1, [&](std::size_t) { return BranchOptions{nullptr, other}; });
  ASSERT_TRUE(branches) << branches.error().message;
  evidence_->TakeOpens("kernel");
  Run(*branches->front(), "open('from_branch', 'w').close()");
  EXPECT_THAT(other->TakeOpens("kernel"), ElementsAre("create /workdir/from_branch"));
  EXPECT_THAT(evidence_->TakeOpens("kernel"), IsEmpty());
}

TEST_F(SessionEvidenceTest, WithoutTheKernelsEvidenceTheInterpreterTellsOfOpens) {
  const auto session = Open("", nullptr, evidence_);
  const CellResult result = Run(*session, R"(
open('a.txt', 'w').close()
open('a.txt').close()
open('a.txt', 'r+').close()
for path, mode in [('/etc/passwd', 'r'), ('/usr/lib/python3/x', 'w'), ('a.txt', 'x')]:
    try: open(path, mode)
    except OSError: pass
)");
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_THAT(evidence_->TakeOpens("interpreter"),
              ElementsAre("create a.txt", "read a.txt", "write a.txt", "read /etc/passwd refused",
                          "create /usr/lib/python3/x refused", "create a.txt refused"));
  EXPECT_THAT(evidence_->TakeOpens("kernel"), IsEmpty());
  EXPECT_THAT(result.usage.files_read, ElementsAre("a.txt"));
  EXPECT_THAT(result.usage.files_written, ElementsAre("a.txt"));
}

TEST_F(SessionEvidenceTest, ImportsThatACellMakesAreToldOnce) {
  const auto session = Open(R"("imports":{"deny":["socket"]})", nullptr, evidence_);
  Run(*session, R"(
import importlib
for i in range(3):
    import json
    importlib.import_module('col' + 'orsys')
    try: __import__('soc' + 'ket')
    except ImportError: pass
)");
  EXPECT_THAT(evidence_->TakeImports(), ElementsAre(Pair("importlib", true), Pair("json", true),
                                                    Pair("colorsys", true), Pair("socket", false)));
}

TEST_F(SessionEvidenceTest, CountersAreThereForASinkThatWantsThem) {
  const auto session = Open("", nullptr, evidence_);
  const CellResult result =
      Run(*session, "x = bytearray(8 << 20)\nimport time\ntime.sleep(0.01)\nprint('x' * 5000)");
  EXPECT_GE(result.usage.minor_faults.value_or(0), 8u << 8);  // of 4 KiB each, or of larger pages
  EXPECT_TRUE(result.usage.major_faults);
  EXPECT_GE(result.usage.voluntary_switches.value_or(0), 1u);
  EXPECT_TRUE(result.usage.involuntary_switches);
  EXPECT_GE(result.usage.bytes_written.value_or(5000), 5000u);  // absent for an ordinary user
  const CellResult plain = Run(*Open(), "1");
  EXPECT_FALSE(plain.usage.minor_faults);
}

}  // namespace
}  // namespace gloveport
