// Whatever happens to the host, nothing of it stays.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>
#include <string>

#include "gloveport/core/host/scratch_folder.h"
#include "gloveport/tests/support/temporary_folder.h"

#include "surroundings.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

class KilledHostTest : public testing::Test {
 protected:
  KilledHostTest() {
    AdoptOrphans();
    if (const char* before = ::getenv("TMPDIR")) tmpdir_before_ = before;
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  ~KilledHostTest() override {
    tmpdir_before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", tmpdir_before_.c_str(), 1);
  }

  void Start(const char* mode, const char* sessions) {
    std::array<int, 2> pipe;
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    host_ = ::fork();
    if (host_ == 0) {
      ::dup2(pipe[1], 1);
      ::execl(DOOMED_HOST, "doomed_host", mode, sessions, nullptr);
      ::_exit(127);
    }
    ::close(pipe[1]);
    output_ = pipe[0];
  }

  // False where the host ended, or was silent for too long, before it said so.
  bool Hears(const std::string& word) {
    std::string heard;
    char c;
    pollfd entry{output_, POLLIN, 0};
    while (::poll(&entry, 1, 60'000) == 1 && ::read(output_, &c, 1) == 1) {
      if (c == '\n') {
        if (heard == word) return true;
        heard.clear();
      } else {
        heard.push_back(c);
      }
    }
    return false;
  }

  void Kill() {
    ::kill(host_, SIGKILL);
    ::waitpid(host_, nullptr, 0);
    ::close(output_);
  }

  const TemporaryFolder folder_{kOpenToAll};  // a root host's sessions are another user
  std::string tmpdir_before_;
  pid_t host_ = -1;
  int output_ = -1;
};

void ReapOrphans() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

TEST_F(KilledHostTest, ASecondAfterTheKillNothingIsLeft) {
  std::minstd_rand random(7);
  const Surroundings before = Surroundings::Now();
  for (const char* mode : {"busy", "opening", "busy", "opening", "opening", "opening"}) {
    SCOPED_TRACE(mode);
    Start(mode, "2");
    ASSERT_TRUE(Hears("ready"));
    EXPECT_GE(Descendants().size(), 3u) << "a positive control: host, template, sessions";
    ::poll(nullptr, 0, static_cast<int>(random() % 60));
    Kill();
    EXPECT_TRUE(DescendantsShrinkTo(before.descendants, milliseconds(1000)));
    ReapOrphans();
  }
  EXPECT_EQ(Surroundings::Now(), before);
}

// Also at moments at which nothing is ready yet.
TEST_F(KilledHostTest, AHostThatIsKilledWhileItStartsLeavesNothing) {
  const Surroundings before = Surroundings::Now();
  for (const int moment : {1, 5, 20, 50, 100, 150, 250, 400}) {
    Start("busy", "2");
    ::poll(nullptr, 0, moment);
    Kill();
    EXPECT_TRUE(DescendantsShrinkTo(before.descendants, milliseconds(1000))) << moment << " ms";
    ReapOrphans();
  }
  EXPECT_EQ(Surroundings::Now(), before);
}

TEST_F(KilledHostTest, SessionsLiveOnWhenTheThreadThatOpenedThemEnds) {
  Start("thread", "3");
  EXPECT_TRUE(Hears("alive"));
  EXPECT_TRUE(Hears("ready"));
  Kill();
  EXPECT_TRUE(DescendantsShrinkTo(0, milliseconds(1000)));
  ReapOrphans();
}

TEST_F(KilledHostTest, TheNextHostSweepsTheFoldersOfTheDegradedMode) {
  const Surroundings before = Surroundings::Now();
  Start("degraded", "2");
  if (!Hears("ready")) {
    Kill();
    GTEST_SKIP() << "the degraded mode cannot be had here: no Landlock";
  }
  Kill();
  EXPECT_TRUE(DescendantsShrinkTo(before.descendants, milliseconds(1000)));
  ReapOrphans();
  EXPECT_GE(Surroundings::Now().folders, 2u) << "a positive control: each with its lock";
  ScratchFolder::SweepAbandoned();
  EXPECT_EQ(Surroundings::Now(), before);
}

}  // namespace
}  // namespace gloveport
