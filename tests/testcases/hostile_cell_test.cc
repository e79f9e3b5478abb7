#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <stop_token>
#include <thread>
#include <vector>

#include "hostile_host.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class HostileCellTest : public HostileHost {};

struct CellCase {
  const char* misdeed;
  std::vector<Outcome> outcomes;  // the first is the usual one
  const char* message = "";       // part of the error's
};

constexpr Outcome kOk = Outcome::kOk;
constexpr Outcome kTimeout = Outcome::kTimeout;
constexpr Outcome kCrashed = Outcome::kCrashed;
constexpr Outcome kProtocol = Outcome::kProtocolError;
constexpr Outcome kFlood = Outcome::kOutputLimit;

// How long the host may take over what a child sent: a large value is slow to read with sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr milliseconds kReading{60'000};
constexpr std::size_t kMostMib = 400;  // with their shadows
#else
constexpr milliseconds kReading{4'000};
constexpr std::size_t kMostMib = 100;
#endif

// Runs one cell in a session whose misdeed is this; then another, in what has taken its place.
void Judge(const CellCase& c, Runtime& runtime, const SessionOptions& options) {
  SCOPED_TRACE(c.misdeed);
  const auto session = runtime.Open(options);
  ASSERT_TRUE(session) << session.error().message;
  RunOptions run;
  run.inspect = InspectMode::kOff;
  for (int cell = 0; cell < (c.outcomes.front() == kTimeout ? 1 : 2); ++cell) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = (*session)->Run("pass", run);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(c.outcomes, testing::Contains(result->outcome))
        << OutcomeName(result->outcome) << ": " << (result->error ? result->error->message : "");
    if (*c.message) {
      ASSERT_TRUE(result->error);
      EXPECT_THAT(result->error->message, HasSubstr(c.message));
    }
    EXPECT_EQ(result->state, result->outcome == kOk ? SessionState::kKept : SessionState::kLost);
    // Wall time, the time to stop when asked, and a busy machine.
    const milliseconds limit =
        (c.outcomes.front() == kTimeout ? options.policy.limits.wall : milliseconds(0)) + kReading;
    EXPECT_LT(std::chrono::steady_clock::now() - start, limit);
  }
}

const std::vector<CellCase> kEndings = {
    {"cell-silence", {kTimeout}, "wall time: 0.3 s limit reached"},
    {"cell-stop", {kTimeout}, "wall time"},
    {"cell-ignore", {kTimeout}, "wall time"},
    {"cell-spin", {kTimeout}, "wall time"},
    {"cell-exit", {kCrashed}, "exit status 5"},
    {"cell-exit-zero", {kCrashed}, "exit status 0"},
    {"cell-segv", {kCrashed}, "SIGSEGV"},
    {"cell-sigkill", {Outcome::kKilled}, "SIGKILL"},
    {"socket-half-exit", {kCrashed}, "exit status 5"},
};

const std::vector<CellCase> kFrames = {
    {"frame-empty", {kProtocol}, "malformed"},
    {"frame-garbage", {kProtocol}, "malformed"},
    {"frame-unknown-type", {kProtocol}, "unknown message type 99"},
    {"frame-huge-type", {kProtocol}, "unknown message type"},
    {"frame-few-fields", {kProtocol}, "malformed"},
    {"frame-many-fields", {kProtocol}, "wrong number of fields"},
    {"frame-bad-text", {kProtocol}, "not UTF-8"},
    {"frame-tail", {kProtocol}, "bytes after the end"},
    {"frame-setup-failed", {kProtocol}, "does not belong"},
    {"frame-ready-again", {kProtocol}, "does not belong"},
    {"frame-reply", {kProtocol}, "does not belong"},
    {"frame-deep-message", {kProtocol}, "unknown message type"},
    {"frame-wide-cell", {kProtocol}, "beyond 32 bits"},
    {"ring-long-record", {kProtocol}, "impossible position"},
    {"ring-half-record", {kProtocol}, "impossible position"},
    {"ring-short", {kProtocol}, "impossible position"},
    {"ring-bad-head", {kProtocol}, "impossible position"},
    {"socket-unannounced", {kProtocol}, "not announced"},
    {"socket-huge", {kProtocol}, "4294967295 bytes was announced"},
    {"socket-96-mib", {kProtocol}, "malformed"},
};

const std::vector<CellCase> kValues = {
    {"value-deep", {kProtocol}, "nested too deeply"},
    {"value-at-depth", {kOk}},
    {"value-many-items", {kOk}},
    {"value-very-deep", {kProtocol}, "nested too deeply"},
    {"value-too-many-items", {kProtocol}, "too many items"},
    {"value-announced", {kProtocol}, "more items than what is there"},
    {"value-nested-announced", {kProtocol}},
    {"value-huge-int", {kProtocol}, "too large"},
    {"value-two", {kProtocol}, "bytes after the end"},
    {"value-none", {kProtocol}, "ends too early"},
};

const std::vector<CellCase> kForgeries = {
    {"forged-cell", {kProtocol}, "cell that does not run"},
    {"forged-timeout", {kProtocol}, "time-out that nobody asked for"},
    {"forged-answer-cell", {kProtocol}, "cell that does not run"},
    {"forged-answer-second", {kOk}},
    {"forged-display-cell", {kProtocol}, "cell that does not run"},
    {"forged-display-kind", {kProtocol}, "no map"},
    {"forged-event-kind", {kProtocol}, "no map"},
    {"forged-call-cell", {kProtocol}, "cell that does not run"},
    {"forged-call-twice", {kProtocol}, "number that is in use"},
    {"forged-call-unknown", {kOk}},
};

const std::vector<CellCase> kDescriptors = {
    {"fd-close-streams", {kTimeout}},
    {"fd-reopen-streams", {kOk}},
    {"fd-close-channel", {kProtocol}, "closed its channel and went on"},
    {"fd-shut-channel", {kProtocol}, "closed its channel and went on"},
    {"fd-close-wake", {kProtocol}, "closed its channel and went on"},
    {"fd-shut-wake", {kProtocol}, "closed its channel and went on"},
    {"fd-blocking", {kTimeout}},
    {"fd-pass", {kProtocol}, "not announced"},
    {"ring-lying-cpu", {kTimeout}},
    {"socket-half", {kTimeout}},
    {"socket-96-mib-half", {kTimeout}},
};

const std::vector<CellCase> kFloods = {
    {"flood-output", {kFlood}, "output"},
    {"flood-events", {kProtocol}, "more events"},
    {"flood-large-events", {kTimeout}},
    {"flood-displays", {kTimeout}},
    {"flood-answers", {kTimeout}},
    {"flood-wakes", {kTimeout}},
    {"flood-calls", {kTimeout}},
    {"flood-unknown-calls", {Outcome::kKilled}, "1000 tool calls of one cell were refused"},
    {"flood-unread-replies", {kTimeout, Outcome::kKilled}},
    {"flood-large-calls", {kTimeout, Outcome::kKilled}},
    {"flood-large-displays", {kTimeout, kFlood}},
    {"socket-drip", {kTimeout}},
    {"ring-rewrite", {kProtocol, kTimeout}},
    {"ring-flip", {kTimeout, kProtocol}},
};

std::string WallFor(const CellCase& c) {
  // A long one proves that the end came from the misdeed and not from the clock.
  return c.outcomes.front() == kTimeout ? R"("wall_s":0.3)" : R"("wall_s":20)";
}

TEST_F(HostileCellTest, EveryEndingHasItsOutcome) {
  for (const CellCase& c : kEndings) Judge(c, *Start(c.misdeed), Options(WallFor(c)));
}

TEST_F(HostileCellTest, WhatIsNoFrameIsAProtocolError) {
  for (const CellCase& c : kFrames) Judge(c, *Start(c.misdeed), Options(WallFor(c)));
}

TEST_F(HostileCellTest, ValuesBeyondTheLimitsAreProtocolErrors) {
  for (const CellCase& c : kValues) Judge(c, *Start(c.misdeed), Options(WallFor(c)));
}

TEST_F(HostileCellTest, NothingCanBeForged) {
  for (const CellCase& c : kForgeries) Judge(c, *Start(c.misdeed), Options(WallFor(c)));
}

TEST_F(HostileCellTest, NoPlayWithDescriptorsKeepsTheHostBusy) {
  for (const CellCase& c : kDescriptors) {
    const auto cpu = CpuTimeOfThisProcess();
    Judge(c, *Start(c.misdeed), Options(WallFor(c)));
    EXPECT_LT(CpuTimeOfThisProcess() - cpu, milliseconds(700)) << c.misdeed;
  }
}

TEST_F(HostileCellTest, FloodsEndInTimeAndCostTheHostLittleMemory) {
  for (const CellCase& c : kFloods) {
    ResetPeakMemory();
    const std::size_t before = PeakMemoryMib();
    Judge(c, *Start(c.misdeed), Options(WallFor(c) + R"(,"output_kib":16)"));
    EXPECT_LT(PeakMemoryMib() - before, 420u) << c.misdeed;
  }
}

TEST_F(HostileCellTest, WhatOneCellMayTakeOfTheHostsMemoryIsLimited) {
  for (const char* misdeed : {"value-many-items", "flood-large-displays"}) {
    const auto runtime = Start(misdeed);
    const auto session = runtime->Open(Options(R"("wall_s":20,"result_mib":40)"));
    ASSERT_TRUE(session);
    ResetPeakMemory();
    const std::size_t before = PeakMemoryMib();
    const auto result = Run(**session);
    EXPECT_EQ(result->outcome, kFlood) << misdeed;
    ASSERT_TRUE(result->limit);
    EXPECT_EQ(result->limit->limit, "result");
    EXPECT_EQ(result->limit->message, "result: 40 MiB limit reached by what one cell sends to the host");
    EXPECT_LT(PeakMemoryMib() - before, kMostMib) << misdeed;
  }
}

TEST_F(HostileCellTest, AnOutcomeWithoutAnErrorGetsOne) {
  const auto runtime = Start("cell-mute");
  const auto session = runtime->Open(Options(R"("wall_s":20)"));
  ASSERT_TRUE(session);
  const auto result = Run(**session);
  EXPECT_EQ(result->outcome, Outcome::kMemory);
  ASSERT_TRUE(result->error);
  EXPECT_THAT(result->error->message, HasSubstr("memory: 512 MiB limit"));
}

TEST_F(HostileCellTest, TheFirstFinalAnswerCountsAndALaterOneEndsTheNextCell) {
  const auto runtime = Start("forged-answer-second");
  const auto session = runtime->Open(Options());
  ASSERT_TRUE(session);
  EXPECT_EQ(Run(**session)->final_answer->value, Value(1));

  const auto late = Start("forged-answer-late");
  const auto other = late->Open(Options());
  ASSERT_TRUE(other);
  EXPECT_FALSE(Run(**other)->final_answer);
  EXPECT_EQ(Run(**other)->outcome, kProtocol);
}

TEST_F(HostileCellTest, AnAnswerThatTheHostHasCountsThoughTheSessionDied) {
  const auto runtime = Start("forged-answer-exit");
  const auto session = runtime->Open(Options());
  ASSERT_TRUE(session);
  const auto result = Run(**session);
  EXPECT_EQ(result->outcome, kOk);
  EXPECT_EQ(result->final_answer->value, Value(1));
  EXPECT_EQ(result->state, SessionState::kLost);
}

TEST_F(HostileCellTest, AMisdeedAfterTheEndOfACellEndsTheNextOneAndTheSessionIsReplaced) {
  for (const CellCase& c :
       {CellCase{"forged-done-twice", {kProtocol}}, CellCase{"cell-done-exit", {kCrashed}},
        // Where it claims to have read up to is looked at only where the host lacks room.
        CellCase{"ring-bad-tail", {kTimeout}}, CellCase{"ring-full", {kTimeout}}}) {
    SCOPED_TRACE(c.misdeed);
    const auto runtime = Start(c.misdeed);
    const auto session = runtime->Open(Options(R"("wall_s":1)"));
    ASSERT_TRUE(session);
    EXPECT_EQ(Run(**session)->outcome, kOk);
    EXPECT_EQ(Run(**session)->outcome, c.outcomes.front());
    EXPECT_EQ(Run(**session)->outcome, kOk);
  }
}

TEST_F(HostileCellTest, AnInterruptEndsWhatDoesNotListen) {
  for (const char* misdeed : {"cell-stop", "cell-ignore", "flood-displays"}) {
    SCOPED_TRACE(misdeed);
    const auto runtime = Start(misdeed);
    const auto session = runtime->Open(Options(R"("wall_s":20)"));
    ASSERT_TRUE(session);
    std::jthread interrupter([&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        (void)(*session)->Interrupt();
        ::usleep(1000);
      }
    });
    const auto start = std::chrono::steady_clock::now();
    const auto result = Run(**session);
    EXPECT_EQ(result->outcome, Outcome::kKilled) << OutcomeName(result->outcome);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(6));
  }
}

}  // namespace
}  // namespace gloveport
