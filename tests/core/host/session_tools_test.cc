#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class SessionToolsTest : public SessionFixture {};

std::shared_ptr<ToolRegistry> Registry() { return std::make_shared<ToolRegistry>(); }

TEST_F(SessionToolsTest, AFunctionOfTheHostIsAFunctionOfTheCell) {
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("scale", "Scales.",
                         [](double x, std::int64_t by) { return x * static_cast<double>(by); },
                         {Arg("x", "what"), Arg("by", "how much", 2)}));
  auto session = Open("", tools);
  EXPECT_EQ(Run(*session, "scale(1.5), scale(1.5, 3), scale(x=2, by=4)").repr, "(3.0, 4.5, 8.0)");
  EXPECT_EQ(Run(*session, "import inspect; str(inspect.signature(scale))").value,
            Value("(x: float, by: int = 2) -> float"));
  const CellResult result = Run(*session, "scale(1.0)");
  ASSERT_EQ(result.tool_calls.size(), 1u);
  EXPECT_EQ(result.tool_calls[0].name, "scale");
  EXPECT_EQ(result.tool_calls[0].args.IntOr("by", 0), 2);
}

TEST_F(SessionToolsTest, WrongArgumentsNeverReachTheHost) {
  std::atomic<int> calls{0};
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("count", "Counts.",
                         [&](std::int64_t n) {
                           ++calls;
                           return n;
                         },
                         {Arg("n", "number")}));
  auto session = Open("", tools);
  for (const char* code :
       {"count()", "count(1, 2)", "count('x')", "count(m=1)", "count(1.5)", "count(True)"}) {
    const CellResult result = Run(*session, code);
    ASSERT_TRUE(result.error) << code;
    EXPECT_EQ(result.error->type, "TypeError") << code;
  }
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(Run(*session, "count(7)").value, Value(7));
}

TEST_F(SessionToolsTest, AFailureOfTheToolIsAnExceptionOfTheCell) {
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("broken", "Fails.",
                         []() -> Result<int> { return Fail(ErrorCode::kIo, "the disk is gone"); }));
  ASSERT_TRUE(tools->Add("throws", "Throws.", []() -> int { throw std::runtime_error("out of paper"); }));
  auto session = Open("", tools);
  EXPECT_THAT(Run(*session, "broken()").error->message, HasSubstr("the disk is gone"));
  EXPECT_THAT(Run(*session, "throws()").error->message, HasSubstr("out of paper"));
  EXPECT_EQ(Run(*session, "try:\n    broken()\nexcept Exception as e:\n    r = 'caught'\nr").value,
            Value("caught"));
}

TEST_F(SessionToolsTest, CallsFromThreadsRunAtTheSameTimeInTheHost) {
  std::latch all_there(4);
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("meet", "Waits for the others.", [&]() {
    all_there.arrive_and_wait();
    return true;
  }));
  auto session = Open("", tools);
  const CellResult result = Run(*session,
                                "from concurrent.futures import ThreadPoolExecutor\nwith "
                                "ThreadPoolExecutor(4) as p: r = list(p.map(lambda _: meet(), range(4)))\nr");
  EXPECT_EQ(result.repr, "[True, True, True, True]");
}

TEST_F(SessionToolsTest, AToolThatHangsIsToldToStopAndTheHostGoesOn) {
  std::atomic<bool> stopped{false};
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("hang", "Hangs.", [&](CallContext& context) {
    while (!context.stop.stop_requested()) std::this_thread::yield();
    stopped = true;
    return 1;
  }));
  auto session = Open(R"("limits":{"wall_s":0.3})", tools);
  EXPECT_EQ(Run(*session, "hang()").outcome, Outcome::kTimeout);
  EXPECT_EQ(Run(*session, "1").value, Value(1));
  session->Close();
  session.reset();
  EXPECT_TRUE(stopped);
}

TEST_F(SessionToolsTest, RulesOfThePolicyDecideEachCall) {
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("send", "Sends.", [](std::string to) { return to; }, {Arg("to", "address")}));
  ASSERT_TRUE(tools->Add("secret", "Tells.", []() { return 42; }));
  auto session = Open(
      R"json("tools":{"default":"allow","rules":[{"tool":"send","effect":"deny","where":{"to":{"matches":"@evil\\.example$"}}},
                              {"tool":"secret","effect":"deny"}]})json",
      tools);
  EXPECT_EQ(Run(*session, "send('a@good.example')").value, Value("a@good.example"));
  const CellResult refused = Run(*session, "send('a@evil.example')");
  EXPECT_EQ(refused.error->type, "PermissionError");
  EXPECT_EQ(refused.tool_calls.size(), 0u);
  EXPECT_EQ(Run(*session, "secret()").error->type, "NameError");
}

TEST_F(SessionToolsTest, TheNumberOfCallsIsLimited) {
  std::atomic<int> calls{0};
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("tick", "Counts.", [&]() { return ++calls; }));
  auto session = Open(R"("limits":{"tool_calls":5})", tools);
  const CellResult result = Run(*session, "for i in range(100): tick()");
  EXPECT_EQ(result.outcome, Outcome::kError);
  EXPECT_EQ(calls, 5);
  ASSERT_TRUE(result.limit);
  EXPECT_EQ(result.limit->limit, "tool_calls");
  EXPECT_EQ(Run(*session, "tick()").value, Value(6));  // the limit is per cell
}

TEST_F(SessionToolsTest, AToolThatIsQuickRunsOnTheThreadOfTheCell) {
  const auto here = std::this_thread::get_id();
  const auto is_here = [here] { return std::this_thread::get_id() == here; };
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("quick", "Says whether.", is_here, {}, {.is_quick = true}));
  ASSERT_TRUE(tools->Add("slow", "Says whether.", is_here));
  ASSERT_TRUE(tools->Add("timed", "Says whether.", is_here, {},
                         {.timeout = std::chrono::milliseconds(5000), .is_quick = true}));
  ASSERT_TRUE(tools->Add("broken", "Fails.",
                         []() -> Result<int> { return Fail(ErrorCode::kIo, "the disk is gone"); }, {},
                         {.is_quick = true}));
  auto session = Open("", tools);
  const CellResult result = Run(*session, "[quick(), slow(), timed(), quick()]");
  EXPECT_EQ(result.repr, "[True, False, False, True]");
  ASSERT_EQ(result.tool_calls.size(), 4u);
  EXPECT_EQ(result.tool_calls[0].name, "quick");
  EXPECT_THAT(Run(*session, "broken()").error->message, HasSubstr("the disk is gone"));
  EXPECT_EQ(Run(*session,
                "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as p: r = "
                "list(p.map(lambda i: quick() != slow(), range(400)))\nall(r)")
                .repr,
            "True");
}

TEST_F(SessionToolsTest, LargeValuesCross) {
  auto tools = Registry();
  ASSERT_TRUE(tools->Add("size", "Measures.",
                         [](std::string text) { return static_cast<std::int64_t>(text.size()); },
                         {Arg("text", "")}));
  ASSERT_TRUE(tools->Add("make", "Makes.",
                         [](std::int64_t n) { return std::string(static_cast<std::size_t>(n), 'x'); },
                         {Arg("n", "")}));
  auto session = Open("", tools);
  EXPECT_EQ(Run(*session, "size('x' * 5_000_000)").value, Value(5'000'000));
  EXPECT_EQ(Run(*session, "len(make(5_000_000))").value, Value(5'000'000));
}

}  // namespace
}  // namespace gloveport
