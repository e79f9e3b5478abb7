#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostile_host.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr Patience kShort{milliseconds(250), milliseconds(250), milliseconds(250), milliseconds(250)};

class HostileTemplateTest : public HostileHost {};

// Open fails with a clear error, in time, and a second try is as good as the first.
TEST_F(HostileTemplateTest, OpenFailsClearlyWhateverTheTemplateDoes) {
  for (const OpenCase& c : {
           OpenCase{"start-exit", ErrorCode::kInternal, "ended while it started"},
           OpenCase{"start-silence", ErrorCode::kDeadlineExceeded, "not ready in time"},
           OpenCase{"start-stop", ErrorCode::kDeadlineExceeded, "not ready in time"},
           OpenCase{"start-ignore", ErrorCode::kDeadlineExceeded, "not ready in time"},
           OpenCase{"start-chatter", ErrorCode::kDeadlineExceeded, "not ready in time"},
           OpenCase{"start-last-words", ErrorCode::kInternal, "(it wrote: \\x1b[31mcannot go on)"},
           OpenCase{"start-garbage", ErrorCode::kProtocol, "malformed"},
           OpenCase{"start-empty", ErrorCode::kInternal, "ended while it started"},
           OpenCase{"start-large", ErrorCode::kProtocol, "malformed"},
           OpenCase{"start-no-pidfd", ErrorCode::kProtocol, "did not say which process it is"},
           OpenCase{"start-two-pidfds", ErrorCode::kProtocol, "descriptors that nobody asked for"},
           OpenCase{"start-many-fds", ErrorCode::kProtocol, "descriptors that nobody asked for"},
           OpenCase{"start-pidfd-host", ErrorCode::kProtocol, "another process"},
           OpenCase{"start-pidfd-init", ErrorCode::kProtocol, "another process"},
           OpenCase{"start-no-pidfd-fd", ErrorCode::kClosed, "ended"},
           OpenCase{"start-refusal", ErrorCode::kConfinementUnavailable, "it does not want to"},
           OpenCase{"fork-exit", ErrorCode::kClosed, "closed"},
           OpenCase{"fork-silence", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"fork-garbage", ErrorCode::kProtocol, "no map"},
           OpenCase{"fork-no-pidfd", ErrorCode::kProtocol, "without a pidfd"},
           OpenCase{"fork-many-fds", ErrorCode::kProtocol, "descriptors that nobody asked for"},
           OpenCase{"fork-pidfd-host", ErrorCode::kProtocol, "not its child"},
           OpenCase{"fork-pidfd-init", ErrorCode::kProtocol, "not its child"},
           OpenCase{"fork-pidfd-self", ErrorCode::kProtocol, "not its child"},
           OpenCase{"fork-no-pidfd-fd", ErrorCode::kClosed, "ended"},
           OpenCase{"fork-refusal", ErrorCode::kConfinementUnavailable, "it does not want to"},
       }) {
    ExpectThatOpenFails(c, kShort);
  }
}

TEST_F(HostileTemplateTest, AnHonestOneOfTheSameMakeServes) {
  for (const std::size_t min_ready : {0, 2}) {
    const auto runtime = Start("honest", {}, min_ready);
    for (int i = 0; i < 3; ++i) {
      auto session = runtime->Open(Options());
      ASSERT_TRUE(session) << session.error().message;
      EXPECT_EQ(Run(**session)->value, Value(0));
      EXPECT_EQ(Run(**session)->value, Value(1));
      EXPECT_TRUE((*session)->SetVariable("x", Value(1)));
    }
  }
}

// A late answer would otherwise be taken for that to the next question.
TEST_F(HostileTemplateTest, OneThatDidNotAnswerIsReplaced) {
  const auto runtime = Start("fork-silence", kShort);
  EXPECT_FALSE(runtime->Open(Options()));
  EXPECT_FALSE(runtime->Open(Options()));
  EXPECT_TRUE(HostileProcesses() <= 1) << "the one before is gone";
}

// Nobody asked again, so nothing is started again.
TEST_F(HostileTemplateTest, TheReadyPoolGivesUpOnAnImageThatCannotStart) {
  const auto runtime = Start("setup-exit", {}, 2);
  EXPECT_FALSE(runtime->Open(Options()));
  const auto cpu = CpuTimeOfThisProcess();
  EXPECT_FALSE(AllHostileProcessesEnd(milliseconds(300))) << "the template itself is alive";
  EXPECT_EQ(HostileProcesses(), 1u);
  EXPECT_LT(CpuTimeOfThisProcess() - cpu, milliseconds(250));
}

}  // namespace
}  // namespace gloveport
