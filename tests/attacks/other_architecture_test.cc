// The filter of arm64, judged without such a machine: its programs are run step by step for every number, and
// the answers compared with the table beside this file. The same done for x86-64 must give what the kernel
// itself answered there (syscalls_test.cc). GLOVEPORT_PRINT_TABLE=1 prints what the filter answers now.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>

#include <cstdlib>
#include <map>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/tests/attacks/bpf_machine.h"

namespace gloveport {
namespace {

constexpr int kLastNumber = 470;
constexpr int kFchmod =
    91;  // x86-64: passed, and refused with EPERM by the kernel, for descriptor 0 is another's

// Answers by the first column, of the rows that begin with a number; in both modes.
struct Answers {
  std::string usual;
  std::string degraded;
};
std::map<int, Answers> ReadTable(const std::string& name) {
  std::map<int, Answers> table;
  const auto text = ReadFile(std::string(GLOVEPORT_ATTACKS_FOLDER "/") + name);
  EXPECT_TRUE(text);
  if (!text) return table;
  for (const std::string_view line : SplitLines(*text)) {
    if (line.empty() || line[0] < '0' || line[0] > '9') continue;
    std::vector<std::string> columns;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t bar = std::min(line.find('|', at), line.size());
      columns.emplace_back(Trim(line.substr(at, bar - at)));
      at = bar + 1;
    }
    if (columns.size() >= 2) table[std::atoi(columns[0].c_str())] = {columns[1], columns.back()};
  }
  return table;
}

const SyscallFilter& FilterOf(SyscallArchitecture architecture, bool degraded) {
  static std::map<std::pair<SyscallArchitecture, bool>, SyscallFilter> filters;
  const auto key = std::pair(architecture, degraded);
  if (!filters.contains(key))
    filters[key] =
        CompileSyscallFilter({.host_root_visible = degraded, .architecture = architecture}).value();
  return filters[key];
}

std::string AnswerTo(int number, SyscallArchitecture architecture, bool degraded) {
  seccomp_data call{};
  call.nr = number;
  call.arch = architecture == SyscallArchitecture::kArm64 ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64;
  return AnswerOf(FilterOf(architecture, degraded), call);
}

bool Agrees(const std::string& found, const std::string& expected) {
  if (found == "host") return expected.starts_with("host");
  return (" or " + expected + " or ").find(" or " + found + " or ") != std::string::npos;
}

class OtherArchitectureTest : public testing::Test {
 protected:
  static void Compare(const std::string& file, SyscallArchitecture architecture) {
    const std::map<int, Answers> table = ReadTable(file);
    ASSERT_GT(table.size(), 300u);
    for (const auto& [number, expected] : table) {
      if (architecture == SyscallArchitecture::kX86_64 && number == kFchmod) continue;
      EXPECT_PRED2(Agrees, AnswerTo(number, architecture, false), expected.usual)
          << number << " " << SyscallName(number, architecture);
      EXPECT_PRED2(Agrees, AnswerTo(number, architecture, true), expected.degraded)
          << number << " " << SyscallName(number, architecture) << ", degraded";
    }
  }
};

TEST_F(OtherArchitectureTest, StepByStepX8664AnswersAsItsKernel) {
  Compare("syscalls.x86_64.txt", SyscallArchitecture::kX86_64);
}

TEST_F(OtherArchitectureTest, Arm64AnswersAsItsTableSays) {
  if (std::getenv("GLOVEPORT_PRINT_TABLE")) {
    for (int number = 0; number <= kLastNumber; ++number) {
      const std::string usual = AnswerTo(number, SyscallArchitecture::kArm64, false);
      const std::string degraded = AnswerTo(number, SyscallArchitecture::kArm64, true);
      fmt::print("{} {} | {}{}\n", number, SyscallName(number, SyscallArchitecture::kArm64), usual,
                 usual == degraded ? "" : " | " + degraded);
    }
    GTEST_SKIP() << "printed the table instead";
  }
  Compare("syscalls.aarch64.txt", SyscallArchitecture::kArm64);
}

TEST_F(OtherArchitectureTest, AnotherArchitecturesCallsEndTheProcess) {
  const auto filter = CompileSyscallFilter({.architecture = SyscallArchitecture::kArm64});
  ASSERT_TRUE(filter);
  seccomp_data call{};
  call.nr = 63;  // read
  call.arch = AUDIT_ARCH_AARCH64;
  EXPECT_EQ(AnswerOf(*filter, call), "passed");
  for (const std::uint32_t foreign :
       std::initializer_list<std::uint32_t>{AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64, AUDIT_ARCH_I386}) {
    call.arch = foreign;
    EXPECT_EQ(AnswerOf(*filter, call), "killed");
  }
}

}  // namespace
}  // namespace gloveport
