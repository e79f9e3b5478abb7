// C++ types and kinds of tools, called from Python in a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <span>
#include <thread>

#include "gloveport/policy/codec.h"
#include "gloveport/tools/task.h"

#include "session_fixture.h"

namespace gloveport {

enum class Channel { kPhone, kMail };
constexpr auto ToolEnum(const Channel*) {
  return std::array{EnumName("phone", Channel::kPhone), EnumName("mail", Channel::kMail)};
}

struct Campaign {
  std::string name;
  Channel channel = Channel::kPhone;
  std::optional<std::chrono::seconds> length;
  std::variant<std::int64_t, std::string> budget;
};
constexpr auto ToolFields(const Campaign*) {
  return std::make_tuple(Field("name", &Campaign::name, "as it is in the ledger"),
                         Field("channel", &Campaign::channel), Field("length", &Campaign::length),
                         Field("budget", &Campaign::budget, "EUR, or a word"));
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SessionTypedToolsTest : public SessionFixture {
 protected:
  template <typename Function>
  void Add(std::string_view name, Function function, std::vector<Arg> args = {},
           const ToolOptions& options = {}) {
    const Status added = tools_->Add(name, "", std::move(function), std::move(args), options);
    ASSERT_TRUE(added) << added.error().message;
  }
  std::string Says(std::string_view code) {
    if (!session_) session_ = Open(R"("imports":{"allow":["*"]})", tools_, sink_);
    const CellResult result = Run(*session_, code);
    return result.error ? result.error->type + ": " + result.error->message : result.repr;
  }

  std::shared_ptr<ToolRegistry> tools_ = std::make_shared<ToolRegistry>();
  std::shared_ptr<EventSink> sink_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTypedToolsTest, StructsWithEnumsUnionsAndTimes) {
  Add("echo", [](const Campaign& campaign) { return campaign; }, {Arg("campaign", "")});
  EXPECT_EQ(
      Says("import datetime\n"
           "echo({'name': 'x', 'channel': 'mail', 'length': datetime.timedelta(hours=1), 'budget': 5})"),
      "{'name': 'x', 'channel': 'mail', 'length': datetime.timedelta(seconds=3600), 'budget': 5}");
  EXPECT_EQ(Says("echo({'name': 'x', 'channel': 'phone', 'budget': 'little'})"),
            "{'name': 'x', 'channel': 'phone', 'length': None, 'budget': 'little'}");
  EXPECT_THAT(Says("echo({'name': 'x', 'channel': 'fax', 'budget': 1})"), HasSubstr("TypeError: "));
  EXPECT_THAT(Says("echo({'name': 'x', 'channel': 'mail', 'budget': 1.5})"), HasSubstr("TypeError: "));
  EXPECT_THAT(
      Says("echo({'name': 'x', 'channel': 'mail', 'length': datetime.timedelta(seconds=1.5), 'budget': 1})"),
      HasSubstr("coarser units"));
}

TEST_F(SessionTypedToolsTest, EnumsAreLiterals) {
  Add("opposite", [](Channel c) { return c == Channel::kMail ? Channel::kPhone : Channel::kMail; },
      {Arg("c", "which", Channel::kPhone)});
  EXPECT_EQ(Says("opposite(), opposite('mail')"), "('mail', 'phone')");
  EXPECT_EQ(Says("import enum\nclass C(enum.StrEnum):\n    MAIL = 'mail'\nopposite(C.MAIL)"), "'phone'");
  EXPECT_EQ(Says("import typing\ntyping.get_type_hints(opposite)['c']"), "typing.Literal['phone', 'mail']");
}

TEST_F(SessionTypedToolsTest, UnionsTakeEachOfTheirTypes) {
  Add("which",
      [](const std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>&
             v) { return v.index(); },
      {Arg("v", "")});
  EXPECT_EQ(Says("[which(v) for v in (None, True, 1, 1.5, 'x', [1, 2])]"), "[0, 1, 2, 3, 4, 5]");
  EXPECT_THAT(Says("which({})"), HasSubstr("TypeError: "));
}

TEST_F(SessionTypedToolsTest, TimesAreThoseOfPython) {
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;
  Add("later", [](Time time, std::chrono::milliseconds by) { return time + by; },
      {Arg("time", ""), Arg("by", "")});
  Add("next_day",
      [](std::chrono::year_month_day day) {
        return std::chrono::year_month_day(std::chrono::sys_days(day) + std::chrono::days(1));
      },
      {Arg("day", "")});
  EXPECT_EQ(Says("import datetime\nfrom datetime import *\n"
                 "later(datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))), "
                 "timedelta(milliseconds=1500))"),
            "datetime.datetime(2026, 5, 1, 10, 0, 1, 500000, tzinfo=datetime.timezone.utc)");
  EXPECT_EQ(Says("next_day(date(2024, 2, 28))"), "datetime.date(2024, 2, 29)");
  EXPECT_THAT(Says("later('soon', 1)"), HasSubstr("expected datetime.datetime"));
}

TEST_F(SessionTypedToolsTest, SpansLookAtArraysInPlace) {
  Add("total",
      [](std::span<const double> xs) {
        double sum = 0;
        for (const double x : xs) sum += x;
        return sum;
      },
      {Arg("xs", "")});
  EXPECT_EQ(Says("import numpy\ntotal(numpy.arange(4.0))"), "6.0");
}

TEST_F(SessionTypedToolsTest, StreamsAreIterators) {
  std::atomic<int> made{0};
  Add("count",
      [&made](std::int64_t end) {
        return ToolStream<std::int64_t>(
            [&made, end, at = std::int64_t{0}](CallContext&) mutable -> Result<std::optional<std::int64_t>> {
              ++made;
              if (at == 1000) return Fail(ErrorCode::kIo, "the line broke");
              return at < end ? std::optional(at++) : std::nullopt;
            });
      },
      {Arg("end", "")});
  EXPECT_EQ(Says("sum(count(500)), list(count(3)), list(count(0))"), "(124750, [0, 1, 2], [])");
  EXPECT_EQ(Says("import inspect\ncount(1).__class__.__name__, str(inspect.signature(count))"),
            "('generator', '(end: int) -> Iterator[int]')");
  made = 0;
  EXPECT_EQ(Says("stream = count(10**6)\nnext(stream), next(stream)"), "(0, 1)");
  EXPECT_LE(made, 100) << "it is asked for as much as the cell takes";
  EXPECT_EQ(Says("next(stream)"), "2");  // in another cell
  EXPECT_EQ(Says("got = []\ntry:\n    for i in stream: got.append(i)\nexcept ToolError as error: "
                 "got.append(str(error))\ngot[-2:]"),
            "[999, 'the line broke']");
  EXPECT_THAT(Says("count('x')"), HasSubstr("TypeError"));
}

TEST_F(SessionTypedToolsTest, StreamsObeyTheRulesOfTheirTool) {
  Add("rows", [] {
    return ToolStream<std::int64_t>(
        [at = std::int64_t{0}](CallContext&) mutable -> Result<std::optional<std::int64_t>> {
          return at < 200 ? std::optional(at++) : std::nullopt;
        });
  });
  session_ = Open(R"("tools":{"default":"deny","rules":[{"tool":"rows","effect":"allow"}]})", tools_);
  EXPECT_EQ(Says("len(list(rows()))"), "200");
  session_ = Open(R"("tools":{"rules":[{"tool":"rows","effect":"deny"}]})", tools_);
  EXPECT_THAT(Says("rows()"), HasSubstr("NameError"));
}

TEST_F(SessionTypedToolsTest, FuturesAndCallbacksAnswerLater) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  Add("by_future", [](std::int64_t n) { return std::async(std::launch::async, [n] { return n + 1; }); },
      {Arg("n", "")});
  Add("by_callback",
      [&](std::int64_t n, ToolReply<std::int64_t> reply) {
        const std::lock_guard lock(mutex);
        threads.emplace_back([n, reply = std::move(reply)] {
          n < 0 ? reply(Fail(ErrorCode::kIo, "below zero")) : reply(2 * n);
        });
      },
      {Arg("n", "")});
  ToolOptions async;
  async.is_async = true;
  Add(
      "awaited", [](std::int64_t n) { return std::async(std::launch::async, [n] { return n * n; }); },
      {Arg("n", "")}, async);
  EXPECT_EQ(Says("by_future(1), by_callback(4)"), "(2, 8)");
  EXPECT_EQ(Says("by_callback(-1)"), "ToolError: below zero");
  EXPECT_EQ(Says("import asyncio\nawait asyncio.gather(*[awaited(n) for n in range(5)])"),
            "[0, 1, 4, 9, 16]");
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SessionTypedToolsTest, AnAnswerThatDoesNotComeEndsWithTheToolsTime) {
  std::vector<ToolReply<int>> kept;
  ToolOptions options;
  options.timeout = std::chrono::milliseconds(50);
  Add(
      "never", [&](ToolReply<int> reply) { kept.push_back(std::move(reply)); }, {}, options);
  EXPECT_THAT(Says("never()"),
              HasSubstr("ToolTimeoutError: never() did not answer within its time limit of 0.05 s"));
  session_.reset();
}

// Says when it has gone.
struct Guard {
  std::atomic<int>* gone;
  explicit Guard(std::atomic<int>& counter) : gone(&counter) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { ++*gone; }
};

TEST_F(SessionTypedToolsTest, CoroutinesAnswerLaterAndEndWithTheirCall) {
  std::atomic<int> gone = 0;
  std::promise<int> never;
  ToolOptions limited;
  limited.is_async = true;
  limited.timeout = std::chrono::milliseconds(50);
  ToolOptions async;
  async.is_async = true;
  Add(
      "squared",
      [](std::int64_t n) -> ToolTask<Result<std::int64_t>> {
        if (n > 9) co_return Fail(ErrorCode::kIo, "too large");
        co_return co_await std::async(std::launch::async, [n] { return n * n; });
      },
      {Arg("n", "")}, async);
  Add(
      "never",
      [&]() -> ToolTask<int> {
        const Guard guard(gone);
        co_return co_await never.get_future();
      },
      {}, limited);
  EXPECT_EQ(Says("import asyncio\nawait asyncio.gather(*[squared(n) for n in range(5)])"),
            "[0, 1, 4, 9, 16]");
  EXPECT_EQ(Says("await squared(10)"), "ToolError: too large");
  EXPECT_THAT(Says("await never()"),
              HasSubstr("ToolTimeoutError: never() did not answer within its time limit of 0.05 s"));
  session_.reset();
  EXPECT_EQ(gone, 1);
}

class Progress : public EventSink {
 public:
  void OnToolProgress(std::string_view, std::uint32_t, std::uint64_t, std::string_view tool,
                      const ToolProgress& progress) override {
    const std::lock_guard lock(mutex);
    seen.push_back(std::string(tool) + " " + std::to_string(progress.done / progress.total.value_or(1)) +
                   " " + progress.message);
  }
  std::mutex mutex;
  std::vector<std::string> seen;
};

TEST_F(SessionTypedToolsTest, ProgressReachesTheSinkAndDisplaysTheResult) {
  const auto progress = std::make_shared<Progress>();
  sink_ = progress;
  Add("work", [](CallContext& context) {
    context.Progress(1, 2.0, "half");
    context.Progress(2, 2.0);
    context.Display("text/html", Value("<b>done</b>"));
    return context.session.empty() ? 0 : 7;
  });
  session_ = Open("", tools_, sink_);
  const CellResult result = Run(*session_, "work()");
  EXPECT_EQ(result.repr, "7");
  EXPECT_THAT(progress->seen, ElementsAre("work 0.500000 half", "work 1.000000 "));
  ASSERT_EQ(result.displays.size(), 1u);
  EXPECT_EQ(result.displays[0].TextOr("text/html", ""), "<b>done</b>");
}

TEST_F(SessionTypedToolsTest, AToolMayHaveABudgetOfItsOwn) {
  ToolOptions options;
  options.max_calls_per_cell = 2;
  Add(
      "dear", [] { return 1; }, {}, options);
  EXPECT_EQ(Says("dear() + dear()"), "2");
  EXPECT_EQ(Says("dear() + dear()"), "2");
  EXPECT_EQ(Says("dear(); dear(); dear()"), "ToolError: dear() may be called 2 times in a cell, and was");
}

// Answers after a while, from another thread, as a person does.
class SlowApprover : public Approver {
 public:
  explicit SlowApprover(bool allows) : allows_(allows) {}
  ~SlowApprover() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void Ask(const ApprovalRequest& request, Answer answer) override {
    const std::lock_guard lock(mutex);
    asked.push_back(request);
    threads_.emplace_back([this, answer] {
      std::this_thread::sleep_for(std::chrono::milliseconds(700));  // longer than the cell may run
      ApprovalDecision decision;
      decision.allowed = allows_;
      decision.reason = "not today";
      decision.by = "test";
      answer(decision);
    });
  }
  std::mutex mutex;
  std::vector<ApprovalRequest> asked;

 private:
  const bool allows_;
  std::vector<std::thread> threads_;
};

TEST_F(SessionTypedToolsTest, AToolMayAskAPersonWhileItRuns) {
  for (const bool allows : {true, false}) {
    const auto approver = std::make_shared<SlowApprover>(allows);
    auto tools = std::make_shared<ToolRegistry>();
    ASSERT_TRUE(tools->Add(
        "send", "",
        [](const std::string& to, CallContext& context) -> Result<std::string> {
          const ApprovalDecision decision = context.Ask("it costs 5 EUR", Value::Object({{"to", to}}));
          if (!decision.allowed) return Fail(ErrorCode::kDenied, "not sent: " + decision.reason);
          if (context.stopped()) return Fail(ErrorCode::kDeadlineExceeded, "no time is left");
          return "sent to " + to;
        },
        {Arg("to", "")}));
    SessionOptions options;
    options.policy = *ParsePolicy(R"({"extends":"open","limits":{"wall_s":0.5}})", "test");
    options.tools = tools;
    options.approver = approver;
    auto session = runtime().Open(std::move(options));
    ASSERT_TRUE(session) << session.error().message;
    const CellResult result = Run(**session, "send('bob')");
    ASSERT_EQ(approver->asked.size(), 1u);
    EXPECT_EQ(approver->asked[0].reason, "it costs 5 EUR");
    EXPECT_EQ(approver->asked[0].arguments.TextOr("to", ""), "bob");
    if (allows) {
      EXPECT_EQ(result.repr, "'sent to bob'") << (result.error ? result.error->message : "");
    } else {
      ASSERT_TRUE(result.error);
      EXPECT_EQ(result.error->message, "not sent: not today");
    }
  }
}

TEST_F(SessionTypedToolsTest, NobodyToAskIsADenial) {
  Add("send", [](CallContext& context) { return context.Ask("why not").allowed; });
  ToolOptions quick;
  quick.is_quick = true;
  Add(
      "quick", [](CallContext& context) { return context.Ask("why not").reason; }, {}, quick);
  EXPECT_EQ(Says("send(), quick()"), "(False, 'nobody can be asked here')");
}

TEST_F(SessionTypedToolsTest, TheClockStandsStillWhileAToolWaitsForAPerson) {
  ToolOptions waits;
  waits.waits_for_person = true;
  const auto wait = [](CallContext& context) {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    return context.stopped();
  };
  Add("person", wait, {}, waits);
  Add("machine", wait);
  session_ = Open(R"("limits":{"wall_s":0.5})", tools_);
  EXPECT_EQ(Says("person()"), "False");
  EXPECT_EQ(Run(*session_, "machine()").outcome, Outcome::kTimeout);
}

}  // namespace
}  // namespace gloveport
