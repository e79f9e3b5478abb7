#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostile_host.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr Patience kShort{milliseconds(60'000), milliseconds(250), milliseconds(250), milliseconds(250)};

class HostileSessionTest : public HostileHost {};

TEST_F(HostileSessionTest, OpenFailsClearlyWhateverTheSessionDoesBeforeItIsReady) {
  for (const OpenCase& c : {
           OpenCase{"setup-exit", ErrorCode::kClosed, "did not confine itself"},
           OpenCase{"setup-silence", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"setup-stop", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"setup-no-fds", ErrorCode::kProtocol, "something else than was agreed"},
           OpenCase{"setup-one-fd", ErrorCode::kProtocol, "something else than was agreed"},
           OpenCase{"setup-three-fds", ErrorCode::kProtocol, "descriptors that nobody asked for"},
           OpenCase{"setup-many-fds", ErrorCode::kProtocol, "descriptors that nobody asked for"},
           OpenCase{"setup-other-byte", ErrorCode::kProtocol, "something else than was agreed"},
           OpenCase{"setup-no-with-fds", ErrorCode::kProtocol, "something else than was agreed"},
           OpenCase{"setup-failed", ErrorCode::kConfinementUnavailable, "could not be confined"},
           OpenCase{"setup-failed-silence", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"ready-exit", ErrorCode::kClosed, "closed"},
           OpenCase{"ready-silence", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"ready-stop", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"ready-other", ErrorCode::kProtocol, "did not report that it is ready"},
           OpenCase{"ready-garbage", ErrorCode::kProtocol, "malformed"},
           OpenCase{"ready-bad-report", ErrorCode::kProtocol, "malformed"},
           OpenCase{"ready-bad-head", ErrorCode::kProtocol, "impossible position"},
           OpenCase{"ready-half-frame", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"ready-no-wake", ErrorCode::kClosed, "closed"},
           OpenCase{"question-exit", ErrorCode::kClosed, "closed"},
           OpenCase{"question-silence", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"question-stop", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"question-wrong-id", ErrorCode::kProtocol, "something else"},
           OpenCase{"question-events", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"question-displays", ErrorCode::kDeadlineExceeded, "in time"},
           OpenCase{"question-cell-done", ErrorCode::kProtocol, "something else"},
       }) {
    const auto cpu = CpuTimeOfThisProcess();
    ExpectThatOpenFails(c, kShort);
    EXPECT_LT(CpuTimeOfThisProcess() - cpu, std::chrono::seconds(2)) << c.misdeed;
  }
}

TEST_F(HostileSessionTest, AListenerThatIsNoneEndsTheSession) {
  const auto runtime = Start("setup-no-listener");
  auto options = Options();
  options.tools = nullptr;  // else the first question would find out
  const auto session = runtime->Open(options);
  if (!session) {
    EXPECT_EQ(session.error().code, ErrorCode::kProtocol) << session.error().message;
    return;
  }
  const auto cpu = CpuTimeOfThisProcess();
  const auto result = Run(**session);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->outcome, testing::AnyOf(Outcome::kOk, Outcome::kProtocolError));
  EXPECT_LT(CpuTimeOfThisProcess() - cpu, milliseconds(500));
}

TEST_F(HostileSessionTest, AWorkFolderThatIsNoneGivesErrors) {
  const auto runtime = Start("setup-no-folder");
  const auto session = runtime->Open(Options());
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_FALSE((*session)->ListFiles());
  EXPECT_FALSE((*session)->GetFile("x"));
  EXPECT_FALSE((*session)->PutFile("x", {}));
}

// A copy that never came to be, and processes that nobody asked for: the session is lost, and no process
// stays.
TEST_F(HostileSessionTest, ACopyIsMadeAsAskedOrNotAtAll) {
  for (const char* misdeed : {"copy-lie", "copy-stray", "question-silence", "question-exit",
                              "question-wrong-id", "question-events"}) {
    SCOPED_TRACE(misdeed);
    const auto runtime = Start(misdeed, kShort);
    auto options = Options(R"("wall_s":5)");
    options.tools = nullptr;
    const auto session = runtime->Open(options);
    ASSERT_TRUE(session) << session.error().message;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE((*session)->Checkpoint());
    EXPECT_FALSE((*session)->Branch(2));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
    const auto result = Run(**session);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->outcome, Outcome::kOk);
    EXPECT_LE(HostileProcesses(), 3u) << "launcher or template, and one session";
  }
}

TEST_F(HostileSessionTest, AValueThatIsNoneIsAnError) {
  const auto runtime = Start("question-bad-value");
  auto options = Options();
  options.tools = nullptr;
  const auto session = runtime->Open(options);
  ASSERT_TRUE(session) << session.error().message;
  const auto value = (*session)->GetVariable("x");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kProtocol);
}

}  // namespace
}  // namespace gloveport
