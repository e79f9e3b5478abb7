// Checkpoints, rollbacks, branches, and cells that cost only themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class SessionCopiesTest : public SessionFixture {
 protected:
  static Value Get(Session& session, const char* expression) { return Run(session, expression).value; }
  std::unique_ptr<Session> OpenCareful(std::string_view limits = R"("wall_s":1)") {
    return Open(R"("checkpoint":"each_cell","limits":{)" + std::string(limits) + "}");
  }
};

TEST_F(SessionCopiesTest, ARollbackBringsBackWhatWas) {
  auto session = Open();
  Run(*session, "import random\nx = [1]\nrandom.seed(7)");
  const auto checkpoint = session->Checkpoint();
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const Value drawn = Get(*session, "x.append(2); random.random()");
  for (int i = 0; i < 3; ++i) {
    const Status back = session->Rollback(*checkpoint);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(Get(*session, "len(x)"), Value(1));
    EXPECT_EQ(Get(*session, "x.append(2); random.random()"), drawn) << "random state is part of it";
  }
}

TEST_F(SessionCopiesTest, ALostSessionCanBeRolledBack) {
  auto session = Open();
  Run(*session, "x = 5");
  ASSERT_TRUE(session->Checkpoint());
  EXPECT_EQ(Run(*session, "import os; os._exit(3)").state, SessionState::kLost);
  ASSERT_TRUE(session->Rollback());
  EXPECT_EQ(Get(*session, "x"), Value(5));
}

TEST_F(SessionCopiesTest, CheckpointsAreNamedCountedAndForgotten) {
  auto session = Open(R"("limits":{"copies":2})");
  EXPECT_EQ(session->Rollback().error().code, ErrorCode::kNotFound);
  const std::string first = *session->Checkpoint();
  const std::string second = *session->Checkpoint();
  EXPECT_NE(first, second);
  const auto third = session->Checkpoint();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(third.error().message, HasSubstr("copies: limit of 2"));
  EXPECT_TRUE(session->Forget(first));
  EXPECT_EQ(session->Rollback(first).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(session->Checkpoint());
}

TEST_F(SessionCopiesTest, BranchesGoTheirOwnWaysAndOutliveTheOriginal) {
  auto session = Open();
  Run(*session, "x = {'n': 0}");
  auto branches = session->Branch(3);
  ASSERT_TRUE(branches) << branches.error().message;
  for (int i = 0; i < 3; ++i)
    Run(*(*branches)[static_cast<std::size_t>(i)], "x['n'] += " + std::to_string(i + 1));
  EXPECT_EQ(Get(*session, "x['n']"), Value(0));
  session->Close();
  for (int i = 0; i < 3; ++i) {
    Session& branch = *(*branches)[static_cast<std::size_t>(i)];
    EXPECT_EQ(Get(branch, "x['n']"), Value(i + 1));
    auto again = branch.Branch(1);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(Get(*again->front(), "x['n']"), Value(i + 1));
  }
}

TEST_F(SessionCopiesTest, ABranchHasToolsFilesOutputAndAwaits) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("twice", "", [](std::int64_t x) { return 2 * x; }, {Arg("x", "")}));
  auto session = Open("", tools);
  Run(*session, "import asyncio\nawait asyncio.sleep(0)\nopen('a.txt', 'w').write('seen by all')");
  auto branches = session->Branch(1);
  ASSERT_TRUE(branches) << branches.error().message;
  Session& branch = *branches->front();
  for (Session* each : {session.get(), &branch}) {
    const CellResult result =
        Run(*each, "print('out')\nawait asyncio.sleep(0.01)\ntwice(21), open('a.txt').read()");
    EXPECT_EQ(result.out, "out\n");
    EXPECT_EQ(result.repr, "(42, 'seen by all')") << (result.error ? result.error->traceback : "");
    EXPECT_EQ(result.tool_calls.size(), 1u);
  }
  EXPECT_TRUE(branch.GetFile("a.txt"));
  EXPECT_EQ(Run(branch, "import os; os.getpid() == 1").outcome, Outcome::kOk);
  EXPECT_EQ(Run(branch, "1/0").error->type, "ZeroDivisionError");
}

TEST_F(SessionCopiesTest, WhatACopyWouldLackIsAReasonNotToMakeOne) {
  auto session = Open();
  Run(*session,
      "import threading\nstop = threading.Event()\nt = threading.Thread(target=stop.wait)\nt.start()");
  const auto threads = session->Checkpoint();
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, ErrorCode::kDenied);
  EXPECT_THAT(threads.error().message, HasSubstr("2 threads are alive"));
  Run(*session, "stop.set(); t.join()");
  EXPECT_TRUE(session->Checkpoint());
  Run(*session, "import asyncio\nlater = asyncio.create_task(asyncio.sleep(100))\nawait asyncio.sleep(0)");
  const auto tasks = session->Checkpoint();
  ASSERT_FALSE(tasks);
  EXPECT_THAT(tasks.error().message, HasSubstr("1 tasks of asyncio"));
  EXPECT_EQ(Get(*session, "1 + 1"), Value(2));
}

TEST_F(SessionCopiesTest, ACellThatIsKilledOrCrashesCostsOnlyItself) {
  auto session = OpenCareful();
  Run(*session, "x = 1");
  struct Case {
    const char* code;
    Outcome outcome;
  };
  for (const Case& c : {Case{"x = 2\nimport os; os._exit(3)", Outcome::kCrashed},
                        Case{"x = 2\nimport ctypes; ctypes.string_at(0)", Outcome::kCrashed},
                        Case{"x = 2\nfrom collections import deque\nfrom itertools import repeat\n"
                             "deque(repeat(0), maxlen=0)",
                             Outcome::kTimeout}}) {
    const CellResult result = Run(*session, c.code);
    EXPECT_EQ(result.outcome, c.outcome) << c.code;
    EXPECT_EQ(result.state, SessionState::kRestored) << c.code;
    EXPECT_EQ(Get(*session, "x"), Value(1)) << c.code;
  }
  EXPECT_EQ(Run(*session, "x = 3\n1/0").state, SessionState::kKept);
  EXPECT_EQ(Get(*session, "x"), Value(3)) << "an exception is no loss: what was done before it stays";
}

TEST_F(SessionCopiesTest, WithThreadsACellTakesTheStateWithIt) {
  auto session = OpenCareful(R"("wall_s":10)");
  Run(*session,
      "import threading\nt = threading.Thread(target=threading.Event().wait, daemon=True)\nt.start()");
  EXPECT_EQ(Run(*session, "import os; os._exit(3)").state, SessionState::kLost);
}

// What asks whether the process can be copied is replaced by code that ends it, the second time: in the
// checkpoint.
TEST_F(SessionCopiesTest, ACheckpointThatBreaksIsForgottenAndTheSessionStays) {
  auto session = Open(R"("limits":{"copies":1})");
  Run(*session, R"(
import os, sys
loop = sys.modules['_gloveport.loop']
asked, calls = loop.obstacle, []
def obstacle():
    calls.append(1)
    if len(calls) > 1: os._exit(3)
    return asked()
loop.obstacle = obstacle
x = 1)");
  const auto checkpoint = session->Checkpoint();
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  Run(*session, "x = 2");
  const Status back = session->Rollback(*checkpoint);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ErrorCode::kClosed);
  EXPECT_THAT(back.error().message, HasSubstr("\"c1\" is lost and was forgotten"));
  EXPECT_EQ(session->Rollback(*checkpoint).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Get(*session, "x"), Value(2));
  Run(*session, "calls.clear()");
  EXPECT_TRUE(session->Checkpoint()) << "it takes no place any more";
}

TEST_F(SessionCopiesTest, ModelCodeCannotForkEvenBesideACopy) {
  auto session = Open(R"("limits":{"wall_s":60,"memory_mib":1024})");
  // Native code that makes the very call of a branch, as often as it can, while the host copies the session.
  const CellResult before = Run(*session, R"(
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def fork():
    pid = libc.syscall(56, 0x8000 | 0x01000000 | 0x00200000 | 17, 0, 0, 0, 0)
    return pid, ctypes.get_errno()
fork())");
  EXPECT_EQ(before.repr, "(-1, 1)");
  EXPECT_THAT(before.usage.denied, testing::Contains(testing::Field(&Refusal::what, "clone")));
  for (int i = 0; i < 5; ++i) {
    auto branches = session->Branch(1);
    ASSERT_TRUE(branches) << branches.error().message;
    EXPECT_EQ(Run(*branches->front(), "fork()").repr, "(-1, 1)") << "the copy has no permit either";
    EXPECT_EQ(Run(*session, "fork()").repr, "(-1, 1)");
  }
}

TEST_F(SessionCopiesTest, OneBudgetOfMemoryForAll) {
  auto session = Open(R"("limits":{"memory_mib":200})");
  Run(*session, "x = bytearray(b'1' * (80 << 20))");
  const auto first = session->Branch(1);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = session->Branch(1);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(second.error().message, HasSubstr("memory: 200 MiB limit"));
  const CellResult more =
      Run(*first->front(), "import time\ny = bytearray(b'2' * (110 << 20))\ntime.sleep(1)");
  EXPECT_EQ(more.outcome, Outcome::kMemory);
  EXPECT_EQ(Get(*session, "len(x)"), Value(80 << 20));
}

}  // namespace
}  // namespace gloveport
