// How cells call tools: from everywhere, at the same time, and what happens when a call does not end well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

#include "session_fixture.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Waits as a slow service would; ends early when told to stop. True where it waited to the end.
bool Pause(CallContext& context, milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  condition.wait_for(lock, context.stop, time, [] { return false; });
  return !context.stop.stop_requested();
}

class SessionCallsTest : public SessionFixture {
 protected:
  std::unique_ptr<Session> OpenWithTools(std::string_view members = "") {
    const auto double_it = [](std::int64_t x) { return 2 * x; };
    const auto slow = [](std::int64_t x, CallContext& context) {
      Pause(context, milliseconds(100));
      return 2 * x;
    };
    EXPECT_TRUE(tools_->Add("twice", "Doubles a number.", double_it, {Arg("x", "the number", 21)}));
    EXPECT_TRUE(tools_->Add("slow", "Doubles, slowly.", slow, {Arg("x", "the number")}));
    EXPECT_TRUE(tools_->Add("fetch", "Doubles, slowly, beside others.", slow, {Arg("x", "the number")},
                            {.is_async = true}));
    EXPECT_TRUE(tools_->Add("limited", "Never ends.",
                            [this](CallContext& context) {
                              told_to_stop_ = !Pause(context, std::chrono::minutes(1));
                              stopped_.count_down();
                              return 1;
                            },
                            {}, {.timeout = milliseconds(50)}));
    return Open(members, tools_);
  }

  std::shared_ptr<ToolRegistry> tools_ = std::make_shared<ToolRegistry>();
  std::atomic<bool> told_to_stop_{false};
  std::latch stopped_{1};
};

struct Place {
  const char* name;
  const char* code;
};

TEST_F(SessionCallsTest, ToolsAreCalledFromEverywhere) {
  auto session = OpenWithTools();
  const Place places[] = {
      {"thread",
       "import threading\nr = []\nt = threading.Thread(target=lambda: r.append(twice(21)))\n"
       "t.start(); t.join(); r[0]"},
      {"pool",
       "import concurrent.futures as f\nwith f.ThreadPoolExecutor(4) as p: r = sum(p.map(twice, [10, "
       "11]))\nr"},
      {"comprehension", "sum([twice(x) for x in (10, 11)])"},
      {"generator", "sum(twice(x) for x in (10, 11))"},
      {"decorator", "def d(f): return lambda: twice(f())\n@d\ndef g(): return 21\ng()"},
      {"class body", "class C:\n    v = twice(21)\nC.v"},
      {"default argument", "def f(v=twice(21)): return v\nf()"},
      {"map", "sum(map(twice, [10, 11]))"},
      {"sorted key", "sorted([3, 21, 1], key=twice)[-1] * 2"},
      {"functools", "import functools\nfunctools.partial(twice, x=21)()"},
      {"coroutine", "async def c(): return twice(21)\nawait c()"},
      {"own event loop", "import asyncio\nasync def c(): return await fetch(21)\nasyncio.run(c())"},
      {"own event loop in a thread",
       "import asyncio, threading\nr = []\nasync def c(): r.append(await fetch(21))\n"
       "t = threading.Thread(target=lambda: asyncio.run(c()))\nt.start(); t.join(); r[0]"},
      {"awaited", "await fetch(21)"},
      {"async comprehension", "sum([await fetch(x) for x in (10, 11)])"},
      {"destructor", "r = []\nclass D:\n    def __del__(self): r.append(twice())\nD(); r[0]"},
      {"property", "class P:\n    @property\n    def v(self): return twice()\nP().v"},
      {"exception handler", "try: 1 / 0\nexcept ZeroDivisionError: v = twice()\nv"},
      {"default of the tool", "twice()"},
      {"lambda", "(lambda *a, **k: twice(*a, **k))(x=21)"},
  };
  for (const Place& place : places) {
    const CellResult result = Run(*session, place.code);
    EXPECT_EQ(result.value, Value(42))
        << place.name << ": " << (result.error ? result.error->traceback : result.repr);
  }
}

// A tool whose arguments are as many as the caller likes.
class Collect : public Tool {
 public:
  Collect() {
    const Value anything{Value::Map()};
    spec_ = {.name = "collect", .description = "Gives back what it got."};
    spec_.parameters = {{.name = "first", .schema = anything},
                        {.name = "rest", .schema = anything, .kind = ParameterKind::kVariadic},
                        {.name = "sep", .schema = anything, .default_value = Value("-")},
                        {.name = "options", .schema = anything, .kind = ParameterKind::kKeywordVariadic}};
  }
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments& arguments, CallContext&) override { return Value(arguments.all()); }

 private:
  ToolSpec spec_;
};

TEST_F(SessionCallsTest, VariadicParametersTakeAllTheRest) {
  ASSERT_TRUE(tools_->Add(std::make_shared<Collect>()));
  auto session = OpenWithTools();
  EXPECT_EQ(Run(*session, "collect(1)").repr, "{'first': 1, 'rest': [], 'sep': '-', 'options': {}}");
  EXPECT_EQ(Run(*session, "collect(1, 2, 3, sep='', z=4)").repr,
            "{'first': 1, 'rest': [2, 3], 'sep': '', 'options': {'z': 4}}");
  EXPECT_EQ(Run(*session, "collect(*[1, 2], **{'sep': 0})").repr,
            "{'first': 1, 'rest': [2], 'sep': 0, 'options': {}}");
  EXPECT_EQ(Run(*session, "import inspect\nstr(inspect.signature(collect))").value,
            Value("(first, *rest, sep='-', **options)"));
  EXPECT_EQ(Run(*session, "collect()").error->type, "TypeError");
}

TEST_F(SessionCallsTest, HelpShowsSignatureAndWords) {
  auto session = OpenWithTools();
  EXPECT_THAT(Run(*session, "help(twice)").out,
              HasSubstr("twice(x: int = 21) -> int\n    Doubles a number."));
  EXPECT_THAT(Run(*session, "help(fetch)").out, HasSubstr("async fetch(x: int) -> int"));
  EXPECT_EQ(Run(*session, "import inspect\n[inspect.iscoroutinefunction(f) for f in (twice, fetch)]").repr,
            "[False, True]");
}

TEST_F(SessionCallsTest, AsyncToolsRunAtTheSameTime) {
  auto session = OpenWithTools();
  const CellResult result =
      Run(*session,
          "import asyncio, threading, time\nbefore = threading.active_count()\n"
          "start = time.monotonic()\n"
          "r = await asyncio.gather(*[fetch(x) for x in range(20)])\n"
          "[sum(r), time.monotonic() - start < 0.3, threading.active_count() - before]");
  EXPECT_EQ(result.repr, "[380, True, 0]") << (result.error ? result.error->traceback : "");
}

TEST_F(SessionCallsTest, ThreadsOverPlainToolsRunAtTheSameTime) {
  auto session = OpenWithTools();
  const CellResult result =
      Run(*session,
          "import time\nfrom concurrent.futures import ThreadPoolExecutor\nstart = time.monotonic()\n"
          "with ThreadPoolExecutor(20) as pool: r = list(pool.map(slow, range(20)))\n"
          "[sum(r), time.monotonic() - start < 0.3]");
  EXPECT_EQ(result.repr, "[380, True]") << (result.error ? result.error->traceback : "");
}

TEST_F(SessionCallsTest, CancellingAnAwaitedCallLeavesTheOthersAlone) {
  auto session = OpenWithTools();
  const CellResult result = Run(*session,
                                "import asyncio\nother = asyncio.create_task(fetch(21))\n"
                                "try: await asyncio.wait_for(fetch(1), 0.02); r = 'answered'\n"
                                "except asyncio.TimeoutError: r = 'gave up'\n"
                                "[r, await other, await fetch(3)]");
  EXPECT_EQ(result.repr, "['gave up', 42, 6]") << (result.error ? result.error->traceback : "");
}

TEST_F(SessionCallsTest, ErrorsOfAsyncToolsReachTheirOwnCoroutine) {
  ASSERT_TRUE(tools_->Add("fails", "",
                          [](std::int64_t x) -> Result<std::int64_t> {
                            if (x == 1) return Fail(ErrorCode::kIo, "no paper");
                            return x;
                          },
                          {Arg("x", "")}, {.is_async = true}));
  auto session = OpenWithTools();
  EXPECT_EQ(Run(*session,
                "import asyncio\nr = await asyncio.gather(*map(fails, range(3)), return_exceptions=True)\n"
                "[r[0], type(r[1]).__name__, str(r[1]), r[2]]")
                .repr,
            "[0, 'ToolError', 'no paper', 2]");
  const CellResult wrong = Run(*session, "x = 1\nawait fails('many')");
  ASSERT_TRUE(wrong.error);
  EXPECT_EQ(wrong.error->type, "TypeError");
  EXPECT_EQ(wrong.error->line, 2);
}

TEST_F(SessionCallsTest, ACallBeyondItsToolsTimeLimitFailsAndTheCellGoesOn) {
  auto session = OpenWithTools();
  const CellResult result =
      Run(*session,
          "try: limited()\nexcept ToolTimeoutError as e: r = [isinstance(e, (TimeoutError)), "
          "isinstance(e, ToolError), str(e)]\nr + [twice()]");
  EXPECT_EQ(result.repr, "[True, True, 'limited() did not answer within its time limit of 0.05 s', 42]")
      << (result.error ? result.error->traceback : "");
  ASSERT_EQ(result.tool_calls.size(), 2u);
  EXPECT_FALSE(result.tool_calls[0].ok);
  EXPECT_EQ(result.tool_calls[0].name, "limited");
  stopped_.wait();
  EXPECT_TRUE(told_to_stop_);
}

TEST_F(SessionCallsTest, InterruptInTheMiddleOfACallIsAKeyboardInterrupt) {
  std::latch running(1);
  std::latch told(1);
  ASSERT_TRUE(tools_->Add("hang", "", [&](CallContext& context) {
    running.count_down();
    Pause(context, std::chrono::minutes(1));
    told.count_down();
    return 1;
  }));
  auto session = OpenWithTools();
  std::thread interrupter([&] {
    running.wait();
    EXPECT_TRUE(session->Interrupt());
  });
  const CellResult result = Run(*session, "kept = 1\nhang()");
  interrupter.join();
  told.wait();
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "KeyboardInterrupt");
  EXPECT_EQ(result.error->line, 2);
  EXPECT_EQ(result.state, SessionState::kKept);
  EXPECT_EQ(Run(*session, "[kept, twice(), await fetch(1)]").repr, "[1, 42, 2]");
}

TEST_F(SessionCallsTest, ATimeOutAmongAsyncCallsKeepsTheState) {
  ASSERT_TRUE(tools_->Add("hang", "",
                          [](CallContext& context) {
                            Pause(context, std::chrono::minutes(1));
                            return 1;
                          },
                          {}, {.is_async = true}));
  auto session = OpenWithTools();
  const auto ran = session->Run("import asyncio\nkept = 1\nawait asyncio.gather(hang(), hang())",
                                {.timeout = milliseconds(500)});
  ASSERT_TRUE(ran) << ran.error().message;
  const CellResult& result = *ran;
  EXPECT_EQ(result.outcome, Outcome::kTimeout);
  EXPECT_EQ(result.state, SessionState::kKept);
  EXPECT_EQ(Run(*session, "[kept, await fetch(1)]").repr, "[1, 2]");
}

TEST_F(SessionCallsTest, AThreadWhoseCallOutlivesItsCellGetsAnError) {
  std::latch running(1);
  ASSERT_TRUE(tools_->Add("hang", "", [&](CallContext& context) {
    running.count_down();
    Pause(context, std::chrono::minutes(1));
    return 1;
  }));
  ASSERT_TRUE(tools_->Add("hangs", "", [&] { running.wait(); }));
  auto session = OpenWithTools();
  Run(*session,
      "import threading\nr = []\ndef body():\n    try: hang()\n    except ToolError as e: r.append(str(e))\n"
      "t = threading.Thread(target=body); t.start()\nhangs()");
  EXPECT_EQ(Run(*session, "t.join(10)\nr").repr, "['the cell ended before the tool answered']");
}

}  // namespace
}  // namespace gloveport
