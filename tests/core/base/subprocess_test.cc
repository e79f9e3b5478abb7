#include "gloveport/core/base/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace gloveport {
namespace {

using testing::HasSubstr;

SubprocessOptions Shell(const std::string& script) {
  SubprocessOptions options;
  options.argv = {"sh", "-c", script};
  options.deadline = Deadline::After(std::chrono::seconds(30));
  return options;
}

TEST(Subprocess, GivesOutputAndExitCode) {
  SubprocessOptions options = Shell("cat; pwd; echo err >&2; exit 3");
  options.input = std::string(200'000, 'x') + "\n";
  options.folder = "/usr";
  options.errors = SubprocessOptions::Errors::kWithOutput;
  const auto ended = RunSubprocess(options);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->output, options.input + "/usr\nerr\n");
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->signal, 0);
}

TEST(Subprocess, MayLeaveItsInputUnread) {
  SubprocessOptions options = Shell("exit 0");
  options.input = std::string(10u << 20, 'x');
  const auto ended = RunSubprocess(options);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 0);
}

TEST(Subprocess, SaysWhichSignalEndedIt) {
  const auto ended = RunSubprocess(Shell("kill -TERM $$"));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->signal, 15);
  EXPECT_EQ(ended->exit_code, -1);
}

TEST(Subprocess, HoldsItsLimits) {
  SubprocessOptions slow = Shell("sleep 60");
  slow.deadline = Deadline::After(std::chrono::milliseconds(50));
  EXPECT_EQ(RunSubprocess(slow).error().code, ErrorCode::kDeadlineExceeded);
  SubprocessOptions loud = Shell("yes");
  loud.max_output_bytes = 1000;
  EXPECT_EQ(RunSubprocess(loud).error().code, ErrorCode::kResourceExhausted);
  SubprocessOptions absent;
  absent.argv = {"/nowhere/program"};
  EXPECT_THAT(RunSubprocess(absent).error().message, HasSubstr("cannot start it"));
}

}  // namespace
}  // namespace gloveport
