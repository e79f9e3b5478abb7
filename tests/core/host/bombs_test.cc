// Code that takes all it can get: each bomb ends as it should, the result names the limit with its value and
// what was used, the next cell runs, and the host itself stays as it was.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

struct Bomb {
  const char* what;
  const char* code;
  Outcome outcome;
  const char* limit = "";  // that the result names
  const char* error = "";  // part of the error's type and message
};

// Long where the wall clock is not what should end it: the machine may be busy.
std::string LimitsFor(const Bomb& bomb) {
  const std::string_view limit = bomb.limit;
  return fmt::format(
      R"("limits":{{"cpu_s":{},"wall_s":{},"memory_mib":128,"output_kib":16,"threads":8,"open_files":32,)"
      R"("disk_mib":4,"tool_calls":50}})",
      limit == "cpu" ? 0.5 : 30, limit == "wall" ? 1 : 60);
}

constexpr Bomb kMemoryBombs[] = {
    {"a list", "[0] * 10**12", Outcome::kMemory, "memory"},
    {"a text", "'x' * 10**11", Outcome::kMemory, "memory"},
    {"growth", "a = []\nwhile True: a.append(bytearray(2**20))", Outcome::kMemory, "memory"},
    {"a dictionary", "d = {}\nwhile True: d[len(d)] = str(len(d)) * 9", Outcome::kMemory, "memory"},
    {"numpy", "import numpy\nnumpy.ones(10**11)", Outcome::kMemory, "memory"},
    {"numpy, touched", "import numpy\nkeep = []\nwhile True: keep.append(numpy.ones(10**6))",
     Outcome::kMemory, "memory"},
    {"a zip bomb",
     "import zlib\nc = zlib.compressobj(9)\n"
     "z = b''.join(c.compress(bytes(2**20)) for _ in range(200)) + c.flush()\nzlib.decompress(z)",
     Outcome::kMemory, "memory"},
    {"a private mapping", "import mmap\nm = mmap.mmap(-1, 2**36, flags=mmap.MAP_PRIVATE)", Outcome::kError,
     "", "OSError"},
    {"a shared mapping, touched",
     "import mmap, time\nm = mmap.mmap(-1, 10**9)\nfor i in range(0, 10**9, 4096): m[i] = 1\ntime.sleep(2)",
     Outcome::kMemory, "memory"},
};

constexpr Bomb kTimeBombs[] = {
    {"a power", "9**9**9", Outcome::kTimeout, "cpu"},
    {"a sleep", "import time\ntime.sleep(10**6)", Outcome::kTimeout, "wall"},
    {"a loop", "while True: pass", Outcome::kTimeout, "cpu"},
    {"a loop with signals blocked",
     "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
     Outcome::kTimeout, "cpu"},
    {"a loop in C", "sum(range(10**15))", Outcome::kTimeout, "cpu"},
    {"a regular expression", "import re\nre.match('(a+)+$', 'a' * 50 + 'b')", Outcome::kTimeout, "cpu"},
    {"a number as text", "import sys\nsys.set_int_max_str_digits(0)\nstr(7**10_000_000)", Outcome::kTimeout,
     "cpu"},
    {"threads that work",
     "import threading\n"
     "def burn():\n  while True: pass\n"
     "for _ in range(4): threading.Thread(target=burn).start()\nburn()",
     Outcome::kTimeout, "cpu"},
};

constexpr Bomb kOtherBombs[] = {
    {"recursion", "def f(): f()\nf()", Outcome::kError, "", "RecursionError"},
    {"recursion in C", "a = []\nfor _ in range(10**5): a = [a]\nrepr(a)", Outcome::kError, "",
     "RecursionError"},
    {"deep source", "compile('(' * 10**5, 'x', 'eval')", Outcome::kError, "", "too many nested parentheses"},
    {"recursion without a limit", "i = []\nfor _ in range(3 * 10**5): i = filter(None, i)\nlist(i)",
     Outcome::kCrashed, "", "SIGSEGV"},
    {"threads",
     "import threading, time\nfor _ in range(100): threading.Thread(target=time.sleep, args=(60,)).start()",
     Outcome::kError, "", "can't start new thread"},
    {"processes", "import os\nwhile True: os.fork()", Outcome::kError, "", "PermissionError"},
    {"descriptors", "keep = [open('/dev/null') for _ in range(100)]", Outcome::kError, "",
     "Too many open files"},
    {"one large file", "open('f', 'wb').truncate(2**40)", Outcome::kError, "", "File too large"},
    {"many files", "for i in range(100): open(f'f{i}', 'wb').write(bytes(2**20))", Outcome::kError, "",
     "No space left"},
    {"empty files", "for i in range(10**6): open(f'e{i}', 'wb').close()", Outcome::kError, "",
     "No space left"},
    {"output", "while True: print('x' * 10_000)", Outcome::kOutputLimit, "output"},
    {"errors", "import sys\nwhile True: sys.stderr.write('x' * 10_000)", Outcome::kOutputLimit, "output"},
    {"tool calls", "while True: tick()", Outcome::kError, "tool_calls", "limit of 50 in one cell"},
    {"tool calls that go on", "while True:\n  try: tick()\n  except Exception: pass", Outcome::kError,
     "tool_calls", "were refused"},
    {"an exception's text", "raise ValueError('x' * 10**8)", Outcome::kError, "", "ValueError"},
    {"a value", "bytes(100 * 2**20)", Outcome::kOk},
};

class BombsTest : public SessionFixture, public testing::WithParamInterface<Bomb> {
 protected:
  static std::size_t PeakMib() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      std::size_t kib = 0;
      if (word == "VmHWM:" && status >> kib) return kib / 1024;
    }
    return 0;
  }
  static double CpuSeconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
};

TEST_P(BombsTest, EndsAsItShouldAndTheHostStaysFlat) {
  const Bomb& bomb = GetParam();
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("tick", "Counts.", [] { return 1; }));
  auto session = Open(LimitsFor(bomb), tools);
  ASSERT_TRUE(session);
  Run(*session, "1");
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::size_t memory = PeakMib();
  const double cpu = CpuSeconds();
  const CellResult result = Run(*session, bomb.code);
  EXPECT_LT(CpuSeconds() - cpu, 1.0);
  EXPECT_LT(PeakMib() - memory, 64u);

  EXPECT_EQ(result.outcome, bomb.outcome)
      << OutcomeName(result.outcome) << (result.error ? ": " + result.error->message : "");
  EXPECT_EQ(result.limit ? result.limit->limit : "", bomb.limit);
  if (result.limit) {
    EXPECT_GT(result.limit->value, 0);
    EXPECT_GE(result.limit->used, 0);
    EXPECT_FALSE(result.limit->unit.empty());
    EXPECT_THAT(result.limit->message, HasSubstr("limit"));
    EXPECT_THAT(result.error->message, HasSubstr(bomb.error));
  } else if (*bomb.error) {
    ASSERT_TRUE(result.error);
    EXPECT_THAT(result.error->type + ": " + result.error->message, HasSubstr(bomb.error));
  }
  EXPECT_EQ(Run(*session, "1 + 1").value, Value(2));
}

std::string NameOf(const testing::TestParamInfo<Bomb>& info) {
  std::string name;
  for (const char* c = info.param.what; *c; ++c)
    name += std::isalnum(static_cast<unsigned char>(*c)) ? *c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Memory, BombsTest, testing::ValuesIn(kMemoryBombs), NameOf);
INSTANTIATE_TEST_SUITE_P(Time, BombsTest, testing::ValuesIn(kTimeBombs), NameOf);
INSTANTIATE_TEST_SUITE_P(Other, BombsTest, testing::ValuesIn(kOtherBombs), NameOf);

class TotalsTest : public SessionFixture {};

TEST_F(TotalsTest, CpuTimeOfAllCellsIsLimited) {
  auto session = Open(R"("limits":{"total_cpu_s":0.5,"cpu_s":0.3})");
  const char* burn = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass";
  EXPECT_EQ(Run(*session, burn).outcome, Outcome::kOk);
  EXPECT_EQ(Run(*session, burn).outcome, Outcome::kOk);
  const CellResult result = Run(*session, "while True: pass");
  EXPECT_EQ(result.outcome, Outcome::kTimeout);
  ASSERT_TRUE(result.limit);
  EXPECT_EQ(result.limit->limit, "total_cpu");
  EXPECT_EQ(result.limit->message, "CPU time: 0.5 s limit of the whole session reached");
  EXPECT_GE(result.limit->used, 0.5);
}

TEST_F(TotalsTest, OutputOfAllCellsIsLimited) {
  auto session = Open(R"("limits":{"total_output_mib":1})");
  const char* half = "print('x' * 600_000)";
  EXPECT_EQ(Run(*session, half).outcome, Outcome::kOk);
  const CellResult result = Run(*session, std::string(half) + "\nimport time; time.sleep(5)");
  EXPECT_EQ(result.outcome, Outcome::kOutputLimit);
  ASSERT_TRUE(result.limit);
  EXPECT_EQ(result.limit->limit, "total_output");
}

TEST_F(TotalsTest, ToolCallsOfAllCellsAreLimited) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("tick", "Counts.", [] { return 1; }));
  auto session = Open(R"("limits":{"total_tool_calls":3})", tools);
  EXPECT_EQ(Run(*session, "tick(), tick()").outcome, Outcome::kOk);
  const CellResult result = Run(*session, "tick(), tick()");
  EXPECT_EQ(result.outcome, Outcome::kError);
  ASSERT_TRUE(result.limit);
  EXPECT_EQ(result.limit->limit, "total_tool_calls");
}

TEST_F(TotalsTest, TheSizeOfArgumentsAndResultsIsLimited) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("echo", "Gives it back.",
                         [](const std::string& text, std::int64_t times) {
                           std::string all;
                           for (std::int64_t i = 0; i < times; ++i) all += text;
                           return all;
                         },
                         {Arg("text", "what"), Arg("times", "how often")}));
  auto session = Open(R"("limits":{"tool_call_kib":4})", tools);
  EXPECT_EQ(Run(*session, "len(echo('x' * 4000, 1))").value, Value(4000));
  for (const char* code : {"echo('x' * 5000, 0)", "echo('x' * 3000, 2)"}) {
    const CellResult result = Run(*session, code);
    EXPECT_EQ(result.outcome, Outcome::kError) << code;
    ASSERT_TRUE(result.limit) << code;
    EXPECT_EQ(result.limit->limit, "tool_call_kib") << code;
    EXPECT_THAT(result.error->message, HasSubstr("4 KiB")) << code;
  }
}

}  // namespace
}  // namespace gloveport
