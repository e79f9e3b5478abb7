// Time limits, interrupts and final answers: how a cell is brought to its end, and what is left of its state.
#include <gmock/gmock.h>
#include <signal.h>

#include <string>
#include <thread>
#include <vector>

#include "gloveport/tests/interp/child/session_fixture.h"

namespace gloveport::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr milliseconds kShort(300);

struct Snippet {
  const char* name;
  const char* code;
};
std::string NameOf(const ::testing::TestParamInfo<Snippet>& info) { return info.param.name; }

// ---- the time limit ----

class TimeLimit : public SessionFixture, public ::testing::WithParamInterface<Snippet> {};

TEST_P(TimeLimit, EndsTheCellAndKeepsTheState) {
  ASSERT_EQ(Eval("kept = 41"), "null");
  const CellRun run = Run(GetParam().code, kShort);
  EXPECT_TRUE(run.timed_out);
  EXPECT_FALSE(run.killed);
  EXPECT_EQ(Status(run), "timeout");
  EXPECT_EQ(ErrorType(run), "CellTimeout");
  EXPECT_THAT(run.out, Not(HasSubstr("alive")));
  EXPECT_EQ(Eval("kept + 1"), "42");
  EXPECT_EQ(Eval("import sys; sys.exc_info()[0], sys.gettrace()"), "{\"$tuple\":[null,null]}");
}

INSTANTIATE_TEST_SUITE_P(
    Cells, TimeLimit,
    ::testing::Values(
        Snippet{"Loop", "while True: pass"},
        Snippet{"LoopThatCatches",
                "while True:\n    try:\n        while True: pass\n    except: pass\nprint('alive')"},
        Snippet{"LoopThatCatchesBaseException",
                "n = 0\nwhile True:\n    try:\n        n += 1\n    except BaseException as e:\n        "
                "print('alive')"},
        Snippet{"FinallyThatReturns",
                "def f():\n    while True:\n        try:\n            while True: pass\n"
                "        finally:\n            return 1\nwhile True: f()"},
        Snippet{"FinallyThatLoops", "try:\n    while True: pass\nfinally:\n    while True: pass"},
        Snippet{"Sleep", "import time\ntime.sleep(100)\nprint('alive')"},
        Snippet{"LockWait", "import threading\nl = threading.Lock(); l.acquire(); l.acquire()"},
        Snippet{"QueueWait", "import queue\nqueue.Queue().get()"}, Snippet{"LargePower", "9**9**9"},
        Snippet{"CatastrophicPattern", "import re\nre.match(r'(a+)+$', 'a'*40 + 'b')"},
        Snippet{"WithThatSuppresses",
                "class Eat:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\n"
                "while True:\n    with Eat():\n        while True: pass\nprint('alive')"},
        Snippet{"Comprehension", "[x for x in iter(int, 1)]"},
        Snippet{"Generator", "def g():\n    while True: yield 1\nfor x in g(): pass"},
        Snippet{"Await", "import asyncio\nawait asyncio.sleep(100)\nprint('alive')"},
        Snippet{"AwaitLoop", "import asyncio\nwhile True: await asyncio.sleep(0)"},
        Snippet{"AsyncioRun",
                "import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nasyncio.run(f())"},
        Snippet{"JoinOfThread",
                "import threading\nt = threading.Thread(target=lambda: [None for _ in iter(int, 1)])\n"
                "t.start(); t.join()"},
        Snippet{"ThreadPool",
                "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as ex:\n"
                "    list(ex.map(lambda n: [None for _ in iter(int, 1)], [1, 2]))"},
        Snippet{"Repr", "class R:\n    def __repr__(self):\n        while True: pass\nR()"},
        Snippet{"Sort", "class K:\n    def __lt__(self, o):\n        while True: pass\nsorted([K(), K()])"},
        Snippet{"Exec", "exec('while True:\\n  try: 1\\n  except: pass')"}),
    NameOf);

class Stops : public SessionFixture {};

TEST_F(Stops, TimeOutNamesTheLineItInterrupted) {
  const CellRun run = Run("x = 1\n\nwhile True:\n    x += 1\n", kShort);
  EXPECT_EQ(ErrorOf(run).IntOr("cell", -1), 0);
  EXPECT_THAT(ErrorOf(run).IntOr("line", 0), ::testing::AnyOf(3, 4));
}

TEST_F(Stops, FinallyBodiesRunAfterATimeOut) {
  const CellRun run = Run(
      "import threading\nl = threading.Lock()\nwith l:\n    try:\n        x = 0\n        while True: x += 1\n"
      "    finally:\n        print('cleaned', 'up')",
      kShort);
  EXPECT_EQ(run.out, "cleaned up\n");
  EXPECT_EQ(Eval("l.locked()"), "false");
}

// From Python 3.12 on the comprehension's variable is one of the function's own, which it has to give back.
TEST_F(Stops, VariableHiddenByAComprehensionIsBackInTheFinallyBody) {
  const CellRun run =
      Run("import itertools\ndef f(x, y):\n    try:\n        [0 for x in itertools.count() for y in [x] if x "
          "< 0]\n"
          "    finally:\n        print(x, y)\nf('outer', 'value')",
          kShort);
  EXPECT_EQ(Status(run), "timeout");
  EXPECT_EQ(run.out, "outer value\n");
}

TEST_F(Stops, LateSignalDoesNotHitTheNextCell) {
  ASSERT_EQ(Eval("1"), "1");
  session().Signal(SIGUSR1, 0);
  session().Signal(SIGUSR2, 0);
  EXPECT_EQ(Eval("import time\ntime.sleep(0.05)\n2"), "2");
}

TEST_F(Stops, SignalThatOvertakesItsCellIsNotLost) {
  ASSERT_EQ(Eval("1"), "1");
  session().Signal(SIGUSR2, 1);
  const CellRun run = Run("while True: pass", std::chrono::seconds(20));
  EXPECT_FALSE(run.timed_out);
  EXPECT_EQ(Status(run), "interrupted");
}

TEST_F(Stops, ThreadOfAnEarlierCellOutlivesATimeOut) {
  ASSERT_EQ(Eval("import threading\ngo, got = threading.Event(), []\n"
                 "t = threading.Thread(target=lambda: (go.wait(20), got.append(1))); t.start()"),
            "null");
  ASSERT_EQ(Status(Run("while True: pass", kShort)), "timeout");
  EXPECT_EQ(Eval("go.set(); t.join(20); got"), "[1]");
}

TEST_F(Stops, CellThatTimedOutInATaskLeavesAUsableLoop) {
  ASSERT_EQ(Status(Run("import asyncio\nawait asyncio.sleep(100)", kShort)), "timeout");
  EXPECT_EQ(Eval("await asyncio.sleep(0, 'works')"), "\"works\"");
}

// ---- interrupts ----

// Interrupts the session as soon as the cell has printed something.
class Interrupt : public SessionFixture {
 protected:
  CellRun RunInterrupted(const std::string& code) {
    bool sent = false;
    session().set_watch([&](const CellRun& run) {
      if (sent || run.out.empty()) return;
      sent = true;
      session().Signal(SIGUSR2, static_cast<int>(session().next_cell()) - 1);
    });
    CellRun run = Run(code, std::chrono::seconds(20));
    session().set_watch(nullptr);
    return run;
  }
};

TEST_F(Interrupt, IsAKeyboardInterrupt) {
  const CellRun run = RunInterrupted("print('go')\nwhile True: pass");
  EXPECT_EQ(Status(run), "interrupted");
  EXPECT_EQ(ErrorType(run), "KeyboardInterrupt");
  EXPECT_EQ(Eval("'next'"), "\"next\"");
}

TEST_F(Interrupt, MayBeCaught) {
  EXPECT_EQ(Json(RunInterrupted("import time\ntry:\n    print('go')\n    time.sleep(100)\n"
                                "except KeyboardInterrupt:\n    caught = 1\ncaught")),
            "1");
}

TEST_F(Interrupt, CallsTheHandlerThatTheCellHasSet) {
  EXPECT_EQ(Json(RunInterrupted("import signal, time\nhits = []\n"
                                "signal.signal(signal.SIGINT, lambda n, f: hits.append(n))\nprint('go')\n"
                                "while not hits: time.sleep(0.01)\nhits == [signal.SIGINT]")),
            "true");
}

TEST_F(Interrupt, EndsAWaitForATool) {
  session().Ask("define_tools",
                Value::Object({{"tools", Value(Value::List{Value::Object({{"name", "slow"}})})}}));
  CellRun run;
  tools_ = [&](const wire::ToolCall&) {
    session().Signal(SIGUSR2, static_cast<int>(session().next_cell()) - 1);
    std::this_thread::sleep_for(milliseconds(0));
    return wire::ToolReply{.ok = true, .value = EncodeValue(Value(1))};
  };
  run = Run("slow()\nwhile True: pass", std::chrono::seconds(20));
  EXPECT_EQ(Status(run), "interrupted");
}

TEST_F(Interrupt, RaisedByTheCellItselfIsAnOrdinaryError) {
  const CellRun run = Run("raise KeyboardInterrupt");
  EXPECT_EQ(Status(run), "error");
  EXPECT_EQ(ErrorType(run), "KeyboardInterrupt");
}

// ---- final answers ----

class FinalAnswerEnds : public SessionFixture, public ::testing::WithParamInterface<Snippet> {};

TEST_P(FinalAnswerEnds, TheCellWhateverItCatches) {
  const CellRun run = Run(GetParam().code, std::chrono::seconds(10));
  EXPECT_FALSE(run.timed_out);
  ASSERT_TRUE(run.final_answer.has_value());
  EXPECT_EQ(DumpJson(Decoded(run.final_answer->value)), "1");
  EXPECT_EQ(Status(run), "ok");
  EXPECT_THAT(run.out, Not(HasSubstr("alive")));
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(Eval("'next'"), "\"next\"");
  EXPECT_EQ(Eval("import sys; sys.exc_info()[0], sys.gettrace()"), "{\"$tuple\":[null,null]}");
}

INSTANTIATE_TEST_SUITE_P(
    Cells, FinalAnswerEnds,
    ::testing::Values(
        Snippet{"Plain", "final_answer(1)\nprint('alive')"}, Snippet{"Value", "final_answer(value=1)"},
        Snippet{"Except", "try:\n    final_answer(1)\nexcept:\n    print('alive')\nprint('alive')"},
        Snippet{"ExceptOnOneLine", "try: final_answer(1)\nexcept: print('alive')"},
        Snippet{"ExceptSystemExit",
                "try:\n    final_answer(1)\nexcept SystemExit as e:\n    print('alive')\nprint('alive')"},
        Snippet{"ExceptStar",
                "try:\n    final_answer(1)\nexcept* BaseException:\n    print('alive')\nprint('alive')"},
        Snippet{"NestedExcept",
                "try:\n    try:\n        final_answer(1)\n    except:\n        print('alive')\n"
                "except:\n    print('alive')\nelse:\n    print('alive')"},
        Snippet{
            "LoopOfExcepts",
            "while True:\n    try:\n        final_answer(1)\n    except BaseException:\n        continue"},
        Snippet{"FinallyReturn",
                "def f():\n    try:\n        final_answer(1)\n    finally:\n        return "
                "2\nf()\nprint('alive')"},
        Snippet{"FinallyBreak",
                "for i in range(3):\n    try:\n        final_answer(1)\n    finally:\n        "
                "break\nprint('alive')"},
        Snippet{"FinallyContinue",
                "for i in range(3):\n    try:\n        final_answer(1)\n    finally:\n        "
                "continue\nprint('alive')"},
        Snippet{"Suppress",
                "import contextlib\nwith contextlib.suppress(BaseException):\n    "
                "final_answer(1)\nprint('alive')"},
        Snippet{"ExitStack",
                "import contextlib\nwith contextlib.ExitStack() as s:\n    s.push(lambda *a: True)\n"
                "    final_answer(1)\nprint('alive')"},
        Snippet{"ContextManagerGenerator",
                "import contextlib\n@contextlib.contextmanager\ndef eat():\n    try:\n        yield\n"
                "    except BaseException:\n        pass\nwith eat():\n    final_answer(1)\nprint('alive')"},
        Snippet{"AsyncWith",
                "class Eat:\n    async def __aenter__(self): pass\n    async def __aexit__(self, *a): return "
                "True\n"
                "async with Eat():\n    final_answer(1)\nprint('alive')"},
        Snippet{"Sort", "sorted([1, 2], key=lambda n: final_answer(1))\nprint('alive')"},
        Snippet{
            "Generator",
            "def g():\n    try:\n        yield final_answer(1)\n    except BaseException:\n        yield 2\n"
            "list(g())\nprint('alive')"},
        Snippet{"Property",
                "class P:\n    @property\n    def x(self): final_answer(1)\ngetattr(P(), 'x', "
                "0)\nprint('alive')"},
        Snippet{"Repr", "class R:\n    def __repr__(self): final_answer(1)\nR()"},
        Snippet{"Exec", "exec('try:\\n  final_answer(1)\\nexcept: print(\"alive\")')\nprint('alive')"},
        Snippet{"Eval", "eval('final_answer(1)')\nprint('alive')"},
        Snippet{"Thread",
                "import threading, time\nthreading.Thread(target=final_answer, args=(1,)).start()\n"
                "time.sleep(100)\nprint('alive')"},
        Snippet{"ThreadWhileMainComputes",
                "import threading\nthreading.Thread(target=lambda: final_answer(1)).start()\n"
                "while True:\n    try:\n        while True: pass\n    except: pass"},
        Snippet{"ThreadThatIsJoined",
                "import threading\nt = threading.Thread(target=lambda: final_answer(1))\n"
                "t.start()\nt.join()\nwhile True: pass"},
        Snippet{"ThreadPool",
                "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as ex:\n"
                "    list(ex.map(lambda n: final_answer(1), [1, 2]))\nprint('alive')"},
        Snippet{
            "OtherThreadLoops",
            "import threading\ndef w():\n    while True:\n        try:\n            while True: pass\n"
            "        except BaseException: pass\nt = threading.Thread(target=w); t.start()\nfinal_answer(1)"},
        Snippet{"Gather",
                "import asyncio\nasync def f(): final_answer(1)\nasync def g(): await asyncio.sleep(100)\n"
                "await asyncio.gather(f(), g())\nprint('alive')"},
        Snippet{"BackgroundTask",
                "import asyncio\nasync def f(): final_answer(1)\nt = asyncio.create_task(f())\n"
                "await asyncio.sleep(100)\nprint('alive')"},
        Snippet{"AsyncioRunThatCatches",
                "import asyncio\nasync def main():\n    try:\n        final_answer(1)\n"
                "    except BaseException:\n        print('alive')\nasyncio.run(main())"},
        Snippet{"SecondAnswerInFinally", "try:\n    final_answer(1)\nfinally:\n    final_answer(2)"},
        Snippet{"InFinallyOfARaise",
                "try:\n    try:\n        raise ValueError\n    finally:\n        try:\n            "
                "final_answer(1)\n"
                "        except BaseException:\n            print('alive')\nexcept BaseException:\n    "
                "print('alive')"},
        Snippet{"DeepRecursion",
                "def f(n):\n    try:\n        return final_answer(1) if n == 0 else f(n - 1)\n"
                "    except BaseException:\n        print('alive')\nf(500)"},
        Snippet{"DelMethod", "class D:\n    def __del__(self): print('alive')\nd = D()\nfinal_answer(1)"},
        Snippet{"Decorated",
                "import functools\n@functools.lru_cache\ndef f(x): final_answer(x)\ntry: f(1)\nexcept: "
                "print('alive')"}),
    NameOf);

class FinalAnswers : public SessionFixture {};

TEST_F(FinalAnswers, FinallyBodiesRunToTheirEnd) {
  const CellRun run =
      Run("def helper(n):\n    for i in range(n):\n        try:\n            int('x')\n"
          "        except ValueError:\n            print('h', i)\n"
          "try:\n    try:\n        final_answer(1)\n    finally:\n        helper(2)\n        print('inner')\n"
          "finally:\n    print('outer')\nprint('alive')");
  EXPECT_EQ(run.out, "h 0\nh 1\ninner\nouter\n");
}

TEST_F(FinalAnswers, ExitMethodsAndGeneratorsCleanUp) {
  const CellRun run =
      Run("import contextlib\n@contextlib.contextmanager\ndef tag(n):\n    try:\n        yield\n"
          "    finally:\n        print('end', n)\nclass C:\n    def __enter__(self): pass\n"
          "    def __exit__(self, *a):\n        print('exit', a[0].__name__)\n        return True\n"
          "with tag(1), tag(2), C():\n    final_answer(1)\nprint('alive')");
  EXPECT_EQ(run.out, "exit CellFinished\nend 2\nend 1\n");
}

TEST_F(FinalAnswers, FinallyBodiesOfCoroutinesRunThoughTheyAwait) {
  const CellRun run =
      Run("import asyncio\nasync def f():\n    try:\n        final_answer(1)\n    finally:\n"
          "        print('one')\ntry:\n    await f()\nfinally:\n    print('two')");
  EXPECT_EQ(run.out, "one\ntwo\n");
}

TEST_F(FinalAnswers, ExplanationGoesWithTheAnswer) {
  const CellRun run = Run("final_answer({'a': (1, 2)}, explanation='because')");
  ASSERT_TRUE(run.final_answer.has_value());
  EXPECT_EQ(run.final_answer->explanation, "because");
  EXPECT_EQ(run.final_answer->repr, "{'a': (1, 2)}");
}

TEST_F(FinalAnswers, ValueThatCannotCrossRaisesAndTheCellGoesOn) {
  const CellRun run =
      Run("a = []\na.append(a)\ntry:\n    final_answer(a)\nexcept ValueError as e:\n    text = str(e)\ntext");
  EXPECT_FALSE(run.final_answer.has_value());
  EXPECT_THAT(Json(run), HasSubstr("contains itself"));
}

TEST_F(FinalAnswers, ObjectWithoutAFaithfulFormIsShown) {
  const CellRun run = Run("class T:\n    def __repr__(self): return 'a T'\nfinal_answer([T(), 1])");
  ASSERT_TRUE(run.final_answer.has_value());
  EXPECT_EQ(DumpJson(Decoded(run.final_answer->value)),
            "[{\"$object\":{\"type\":\"T\",\"repr\":\"a T\"}},1]");
}

TEST_F(FinalAnswers, SignatureIsThatOfAPythonFunction) {
  EXPECT_EQ(Eval("import inspect\nstr(inspect.signature(final_answer))"), "\"(answer, explanation='')\"");
}

TEST_F(FinalAnswers, ThreadsOfTheRunEnd) {
  ASSERT_EQ(
      Eval("import threading, time\ndef w():\n    while True:\n        try:\n            time.sleep(0.01)\n"
           "        except BaseException: pass\nt = threading.Thread(target=w); t.start()"),
      "null");
  ASSERT_TRUE(Run("final_answer(1)").final_answer.has_value());
  EXPECT_EQ(Eval("t.join(20); t.is_alive()"), "false");
}

}  // namespace
}  // namespace gloveport::testing
