#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "gloveport/policy/presets.h"

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

class SessionTest : public SessionFixture {};

TEST_F(SessionTest, KeepsItsStateOverCells) {
  auto session = Open();
  EXPECT_EQ(Run(*session, "x = 40").outcome, Outcome::kOk);
  const CellResult result = Run(*session, "print('hi')\nx + 2");
  EXPECT_EQ(result.value, Value(42));
  EXPECT_EQ(result.repr, "42");
  EXPECT_EQ(result.type, "int");
  EXPECT_EQ(result.out, "hi\n");
  EXPECT_EQ(result.state, SessionState::kKept);
}

TEST_F(SessionTest, AnErrorIsAValueAndTheStateStays) {
  auto session = Open();
  const CellResult result = Run(*session, "y = 1\n1/0");
  EXPECT_EQ(result.outcome, Outcome::kError);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "ZeroDivisionError");
  EXPECT_EQ(result.error->line, 2);
  EXPECT_EQ(Run(*session, "y").value, Value(1));
}

TEST_F(SessionTest, SessionsShareNothing) {
  auto one = Open();
  auto two = Open();
  Run(*one, "import math; math.secret = 1; open('f', 'w').write('x')");
  EXPECT_EQ(Run(*two, "import math, os; hasattr(math, 'secret'), os.listdir()").repr, "(False, [])");
}

TEST_F(SessionTest, ACrashLosesTheStateAndTheNextCellRuns) {
  auto session = Open();
  Run(*session, "x = 1");
  const CellResult crash = Run(*session, "import ctypes; ctypes.string_at(0)");
  EXPECT_EQ(crash.outcome, Outcome::kCrashed);
  EXPECT_EQ(crash.state, SessionState::kLost);
  EXPECT_THAT(crash.error->message, HasSubstr("SIGSEGV"));
  const CellResult next = Run(*session, "x");
  EXPECT_EQ(next.error->type, "NameError");
  EXPECT_EQ(next.cell, 2u);
}

TEST_F(SessionTest, ASystemCallThatOnlyAnAttackMakesIsAViolation) {
  auto session = Open();
  EXPECT_EQ(Run(*session, "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)").outcome,
            Outcome::kViolation);
}

TEST_F(SessionTest, ARefusedSystemCallIsWitnessed) {
  auto session = Open();
  const CellResult result = Run(*session, "import ctypes\nctypes.CDLL(None).socket(2, 1, 0)");
  EXPECT_EQ(result.value, Value(-1));
  EXPECT_THAT(result.usage.denied,
              Contains(testing::AllOf(Field(&Refusal::source, "kernel"), Field(&Refusal::what, "socket"))));
}

TEST_F(SessionTest, TheFinalAnswerCountsWhateverComesAfterIt) {
  auto session = Open();
  const CellResult result =
      Run(*session,
          "try:\n    final_answer(1, 'why')\nexcept BaseException:\n    final_answer(2)\nprint('after')");
  EXPECT_EQ(result.outcome, Outcome::kOk);
  ASSERT_TRUE(result.final_answer);
  EXPECT_EQ(result.final_answer->value, Value(1));
  EXPECT_EQ(result.final_answer->explanation, "why");
  EXPECT_EQ(result.out, "");
}

TEST_F(SessionTest, VariablesGoInAndOut) {
  auto session = Open();
  ASSERT_TRUE(
      session->SetVariable("rows", Value(Value::List{1, Value(Form::kTuple, Value(Value::List{2}))})));
  EXPECT_EQ(Run(*session, "rows.append(3); rows").repr, "[1, (2,), 3]");
  EXPECT_EQ(session->GetVariable("rows")->as_list().size(), 3u);
  EXPECT_EQ(session->GetVariable("nothing").error().code, ErrorCode::kNotFound);
}

TEST_F(SessionTest, InspectionRefusesBeforeAnythingRuns) {
  SessionOptions options;
  options.policy = *PresetPolicy("default");
  auto session = runtime().Open(options);
  ASSERT_TRUE(session) << session.error().message;
  auto result = (*session)->Run("print('ran')\nimport requests");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->outcome, Outcome::kDenied);
  EXPECT_EQ(result->out, "");
  ASSERT_TRUE(result->verdict);
  EXPECT_EQ(result->verdict->findings.at(0).rule, "import");
  EXPECT_EQ(result->verdict->findings.at(0).line, 2);
  result = (*session)->Run("import math\nmath.pi > 3");
  EXPECT_EQ(result->outcome, Outcome::kOk);
  RunOptions off;
  off.inspect = InspectMode::kOff;
  EXPECT_EQ((*session)->Run("1", off).error().code, ErrorCode::kDenied);
}

TEST_F(SessionTest, TextThatIsNoUtf8IsRefusedBeforeItIsSent) {
  auto session = Open();
  EXPECT_EQ(session->Run("x = '\xFF'").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SessionTest, AnInterruptStopsTheCellAndKeepsTheState) {
  class Started : public EventSink {
   public:
    void OnOutput(std::string_view, std::uint32_t, Stream, std::string_view) override { started = true; }
    std::atomic<bool> started{false};
  };
  auto sink = std::make_shared<Started>();
  auto session = Open("", nullptr, sink);
  std::thread interrupter([&] {
    while (!sink->started) std::this_thread::yield();
    EXPECT_TRUE(session->Interrupt());
  });
  const CellResult result = Run(*session, "x = 1\nprint('go', flush=True)\nwhile True: pass");
  interrupter.join();
  EXPECT_EQ(result.state, SessionState::kKept);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "KeyboardInterrupt");
  EXPECT_EQ(Run(*session, "x").value, Value(1));
}

TEST_F(SessionTest, AClosedSessionSaysSo) {
  auto session = Open();
  session->Close();
  session->Close();
  EXPECT_EQ(session->Run("1").error().code, ErrorCode::kClosed);
}

TEST_F(SessionTest, ThreadsThatAskAtTheSameTimeTakeTurns) {
  auto session = Open();
  Run(*session, "n = 0");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { Run(*session, "n += 1"); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(Run(*session, "n").value, Value(8));
}

// A task that one statement makes is awaited by the next, which may be the last expression.
TEST_F(SessionTest, ACellThatAwaitsRunsWholeInItsLoop) {
  auto session = Open();
  Run(*session, "import asyncio\nasync def f(i):\n  await asyncio.sleep(0.01)\n  return i");
  for (const char* code : {"t = [asyncio.create_task(f(i)) for i in range(3)]\nawait asyncio.gather(*t)",
                           "r = await asyncio.gather(f(0), f(1), f(2))\nasyncio.get_running_loop() and r"}) {
    const CellResult result = Run(*session, code);
    EXPECT_EQ(result.repr, "[0, 1, 2]") << (result.error ? result.error->traceback : "");
  }
  const CellResult failed = Run(*session, "await f(1)\n1/0");
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->line, 2);
  EXPECT_THAT(failed.error->traceback, testing::Not(testing::HasSubstr("_parts")));
}

}  // namespace
}  // namespace gloveport
