// Many sessions, opened, used and killed at any moment; all that they took comes back.
//
// GLOVEPORT_SOAK_SESSIONS says how many; scripts/test --full runs 10,000. With 100,000 there are a million
// cells.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/codec.h"

#include "surroundings.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

int WantedSessions() {
  const char* wanted = std::getenv("GLOVEPORT_SOAK_SESSIONS");
  return wanted ? std::atoi(wanted) : 300;
}

SessionOptions Options() {
  SessionOptions options;
  auto policy = ParsePolicy(
      R"({"imports":{"allow":["*"]},"inspection":"optional","limits":{"wall_s":5,"memory_mib":64}})", "soak");
  EXPECT_TRUE(policy) << policy.error().message;
  options.policy = std::move(*policy);
  return options;
}

Result<CellResult> RunCell(Session& session, std::string_view code) {
  RunOptions options;
  options.inspect = InspectMode::kOff;
  return session.Run(code, options);
}

class Soak {
 public:
  explicit Soak(Runtime& runtime) : runtime_(runtime) {}

  void LiveOnce() {
    const auto session = OpenSoon();
    ASSERT_TRUE(session);
    switch (random_() % 10) {
      case 0:  // closed unused
        break;
      case 1:
        RunHonestly(*session);
        break;
      case 2:
        (void)session->PutFile("a/b", {});
        (void)session->ListFiles();
        break;
      case 7:
        (void)session->Checkpoint();
        (void)RunCell(*session, "import os; os._exit(3)");
        (void)session->Rollback();
        break;
      case 8:
        if (auto branches = session->Branch(1 + random_() % 3)) {
          session->Close();
          for (const auto& branch : *branches) (void)RunCell(*branch, "x = 2");
          KillSomething();
          (void)branches->front()->Checkpoint();
        }
        break;
      case 3:
        (void)RunCell(*session, "import os; os._exit(3)");
        break;
      case 4:
        RunAnd(*session, [&] { KillSomething(); });
        (void)RunCell(*session, "1");
        break;
      case 5:
        RunAnd(*session, [&] { session->Close(); });
        break;
      case 6:
        RunAnd(*session, [&] { (void)session->Interrupt(); });
        break;
      default:
        KillSomething();
        (void)RunCell(*session, "1");
    }
  }

  int kills() const { return kills_; }
  int cells() const { return cells_; }

 private:
  static constexpr int kCellsOfOne = 100;  // of every tenth session: ten times as many cells as sessions

  // A kill of the template may hit the middle of an opening: that is an error, and the next one works.
  std::unique_ptr<Session> OpenSoon() {
    for (int attempt = 0; attempt < 5; ++attempt) {
      auto session = runtime_.Open(Options());
      if (session) return std::move(*session);
      EXPECT_FALSE(session.error().message.empty());
    }
    ADD_FAILURE() << "no session can be opened any more";
    return nullptr;
  }

  // A template that was killed just before takes its sessions with it, a moment later.
  void RunHonestly(Session& session) {
    for (int i = 0; i < kCellsOfOne; ++i) {
      const auto result = RunCell(session, "x = 1");
      ++cells_;
      ASSERT_TRUE(result);
      EXPECT_TRUE(result->outcome == Outcome::kOk || result->outcome == Outcome::kKilled)
          << OutcomeName(result->outcome);
    }
  }

  template <typename Act>
  void RunAnd(Session& session, Act act) {
    std::atomic<bool> over = false;
    std::thread runner([&] {
      (void)RunCell(session, "while True: pass");
      over = true;
    });
    ::poll(nullptr, 0, static_cast<int>(random_() % 4));
    act();
    // Where something else was hit, the cell would run on; and what comes before it began interrupts nothing.
    while (!over) {
      ::poll(nullptr, 0, 1);
      (void)session.Interrupt();
    }
    runner.join();
  }

  // A session in use or one that stands ready; every twentieth time any process below this one, launchers and
  // templates too, which takes as long as twenty sessions.
  void KillSomething() {
    const auto below = random_() % 20 == 0 ? Descendants() : Leaves();
    if (below.empty()) return;
    BuryOrphans();
    ::kill(below[random_() % below.size()], SIGKILL);
    ++kills_;
  }

  Runtime& runtime_;
  std::minstd_rand random_{11};
  int kills_ = 0;
  int cells_ = 0;
};

// Folders are counted, and those of other programs come and go meanwhile.
class OwnTempFolder : public testing::Environment {
 public:
  void SetUp() override {
    char path[] = "/tmp/soak-XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    ASSERT_EQ(::chmod(path, 0755), 0);  // in the degraded mode a session's user works in a folder below
    ::setenv("TMPDIR", path, 1);
    path_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

 private:
  std::string path_;
};
const auto* const g_own_temp_folder = testing::AddGlobalTestEnvironment(new OwnTempFolder);

TEST(SoakTest, AllThatSessionsTakeComesBack) {
  AdoptOrphans();
  const int sessions = WantedSessions();
  const Surroundings before = Surroundings::Now();
  std::size_t resident_early = 0;
  {
    auto runtime = Runtime::Create();
    ASSERT_TRUE(runtime) << runtime.error().message;
    Soak soak(**runtime);
    for (int i = 0; i < sessions && !testing::Test::HasFatalFailure(); ++i) {
      if (i == sessions / 3) resident_early = ResidentMib();
      soak.LiveOnce();
    }
    EXPECT_GT(soak.kills(), sessions / 10);
    std::printf("%d sessions, %d cells of honest ones, %d kills\n", sessions, soak.cells(), soak.kills());
    EXPECT_LE(ResidentMib(), resident_early + 16);
  }
  EXPECT_TRUE(DescendantsShrinkTo(before.descendants, milliseconds(2000)));
  EXPECT_EQ(BuryOrphans(), 0u) << "zombies that the host did not wait for";
  EXPECT_EQ(Surroundings::Now(), before);
}

TEST(SoakTest, ARuntimeThatIsClosedUnderItsSessionsTakesAllWithIt) {
  const Surroundings before = Surroundings::Now();
  for (int i = 0; i < 3; ++i) {
    auto runtime = Runtime::Create({.min_ready = 2});
    ASSERT_TRUE(runtime);
    std::vector<std::unique_ptr<Session>> sessions;
    for (int k = 0; k < 4; ++k) {
      auto session = (*runtime)->Open(Options());
      ASSERT_TRUE(session) << session.error().message;
      sessions.push_back(std::move(*session));
    }
    for (const auto& session : sessions) (void)RunCell(*session, "x = [0] * 1000");
    sessions.clear();
  }
  EXPECT_TRUE(DescendantsShrinkTo(before.descendants, milliseconds(2000)));
  EXPECT_EQ(BuryOrphans(), 0u) << "zombies that the host did not wait for";
  EXPECT_EQ(Surroundings::Now(), before);
}

}  // namespace
}  // namespace gloveport
