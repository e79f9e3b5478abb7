#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class SessionLimitsTest : public SessionFixture {};

struct TimeoutCase {
  const char* what;
  const char* code;
  SessionState state;
};

TEST_F(SessionLimitsTest, TheWallClockStopsEveryKindOfCode) {
  auto session = Open(R"("limits":{"wall_s":0.5})");
  for (const TimeoutCase& c :
       {TimeoutCase{"a loop", "while True: pass", SessionState::kKept},
        TimeoutCase{"a sleep", "import time; time.sleep(100)", SessionState::kKept},
        TimeoutCase{"a large power", "9**9**9", SessionState::kKept},
        TimeoutCase{"a lock", "import threading; l = threading.Lock(); l.acquire(); l.acquire()",
                    SessionState::kKept},
        TimeoutCase{"catastrophic re", "import re; re.match('(a+)+$', 'a' * 40 + 'b')", SessionState::kKept},
        TimeoutCase{"code that catches it",
                    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
                    SessionState::kKept},
        TimeoutCase{"a loop in C",
                    "from collections import deque; from itertools import repeat; deque(repeat(0), maxlen=0)",
                    SessionState::kLost}}) {
    Run(*session, "kept = 1");
    const CellResult result = Run(*session, c.code);
    EXPECT_EQ(result.outcome, Outcome::kTimeout) << c.what;
    EXPECT_EQ(result.state, c.state) << c.what;
    ASSERT_TRUE(result.limit) << c.what;
    EXPECT_EQ(result.limit->limit, "wall");
    EXPECT_THAT(result.error->message, HasSubstr("wall time: 0.5 s limit reached")) << c.what;
    EXPECT_EQ(Run(*session, "1 + 1").value, Value(2)) << c.what;
  }
}

TEST_F(SessionLimitsTest, ATimeoutOfTheCallIsNeverLongerThanThePolicys) {
  auto session = Open(R"("limits":{"wall_s":0.3})");
  RunOptions options;
  options.inspect = InspectMode::kOff;
  options.timeout = std::chrono::milliseconds(3'600'000);
  EXPECT_EQ(session->Run("while True: pass", options)->outcome, Outcome::kTimeout);
}

TEST_F(SessionLimitsTest, CpuTimeIsLimitedApartFromTheWallClock) {
  auto session = Open(R"("limits":{"wall_s":20,"cpu_s":0.3})");
  const CellResult busy = Run(*session, "while True: pass");
  EXPECT_EQ(busy.outcome, Outcome::kTimeout);
  EXPECT_EQ(busy.limit->limit, "cpu");
  EXPECT_EQ(Run(*session, "import time; time.sleep(0.5)").outcome, Outcome::kOk);
}

struct MemoryCase {
  const char* what;
  const char* code;
};

TEST_F(SessionLimitsTest, MemoryOverTheLimitIsAMemoryErrorAndTheStateStays) {
  auto session = Open(R"("limits":{"memory_mib":128})");
  for (const MemoryCase& c : {MemoryCase{"a list", "[0] * 10**9"}, MemoryCase{"bytes", "b'x' * 10**9"},
                              MemoryCase{"growing", "a = []\nwhile True: a.append(bytearray(10**6))"}}) {
    const CellResult result = Run(*session, c.code);
    EXPECT_EQ(result.outcome, Outcome::kMemory) << c.what;
    EXPECT_EQ(result.state, SessionState::kKept) << c.what;
    EXPECT_EQ(result.limit->message, "memory: 128 MiB limit reached") << c.what;
    Run(*session, "a = None");
  }
  EXPECT_EQ(Run(*session, "len(bytearray(64 * 2**20))").outcome, Outcome::kOk);
}

TEST_F(SessionLimitsTest, SharedMappingsCountAsMemoryToo) {
  auto session = Open(R"("limits":{"memory_mib":128,"wall_s":20})");
  const CellResult result = Run(
      *session,
      "import mmap, time\nm = mmap.mmap(-1, 10**9)\nfor i in range(0, 10**9, 4096): m[i] = 1\ntime.sleep(2)");
  EXPECT_NE(result.outcome, Outcome::kOk);
}

TEST_F(SessionLimitsTest, OutputIsCutAndCountedAndCostsTheHostNothing) {
  auto session = Open(R"("limits":{"output_kib":16})");
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const CellResult result = Run(*session, "for i in range(150): print('x' * 50_000)");
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_EQ(result.usage.output_bytes, 150u * 50'001);
  EXPECT_EQ(result.truncated_out_bytes, 150u * 50'001 - 16 * 1024);
  EXPECT_LT(result.out.size(), 17u * 1024);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // those keep what was freed, and shadows
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20'000) << "KiB";
#endif
}

TEST_F(SessionLimitsTest, AFloodOfOutputEndsTheCell) {
  auto session = Open(R"("limits":{"output_kib":1})");
  const CellResult result = Run(*session, "while True: print('x' * 10_000)");
  EXPECT_EQ(result.outcome, Outcome::kOutputLimit);
  EXPECT_EQ(Run(*session, "1").value, Value(1));
}

TEST_F(SessionLimitsTest, ThreadsFilesAndDiskAreLimited) {
  auto session = Open(R"("limits":{"threads":4,"open_files":16,"disk_mib":4})");
  EXPECT_EQ(Run(*session, R"(
import threading
stop = threading.Event()
threads = []
try:
    for i in range(50):
        t = threading.Thread(target=stop.wait); t.start(); threads.append(t)
except RuntimeError:
    pass
stop.set()
for t in threads: t.join()
len(threads))")
                .value,
            Value(4));
  EXPECT_LT(Run(*session, R"(
files = []
try:
    while True: files.append(open('f', 'w'))
except OSError:
    n = len(files)
files.clear()
n)")
                .value.as_int(),
            32);
  EXPECT_LE(Run(*session, R"(
written = 0
try:
    for i in range(100):
        with open(f'big{i}', 'wb') as f: written += f.write(b'x' * 2**20)
except OSError:
    pass
written)")
                .value.as_int(),
            4 << 20);
}

TEST_F(SessionLimitsTest, ProcessesCannotBeMade) {
  auto session = Open();
  const CellResult result = Run(*session, "import os\nos.fork()");
  EXPECT_EQ(result.outcome, Outcome::kError);
  EXPECT_EQ(Run(*session, "import subprocess\nsubprocess.run(['true'])").outcome, Outcome::kError);
}

}  // namespace
}  // namespace gloveport
