// Tools that are coroutines: what they may await, how they fail, and what becomes of them when their call is
// over before they are.
#include "gloveport/tools/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gloveport/tools/registry.h"

#include "call.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

// A thread that runs what it is given, one after the other, when the test lets it.
class Pool {
 public:
  Pool() : thread_([this] { Work(); }) {}
  ~Pool() {
    Post({});
    thread_.join();
  }
  void Post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    count_.release();
  }
  ResumeOn Here() {
    return ResumeOn([this](std::function<void()> work) { Post(std::move(work)); });
  }
  std::thread::id id() const { return thread_.get_id(); }

 private:
  void Work() {
    while (true) {
      count_.acquire();
      std::function<void()> work;
      {
        const std::lock_guard lock(mutex_);
        work = std::move(work_.front());
        work_.pop_front();
      }
      if (!work) return;
      work();
    }
  }
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  std::counting_semaphore<> count_{0};
  std::thread thread_;
};

// What a host might bring along: resumes on a thread of its own, whenever it wants to.
struct Elsewhere {
  std::function<void(std::coroutine_handle<>)> on_suspend;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { on_suspend(handle); }
  int await_resume() const { return 5; }
};

// Says by its flag that it was destroyed.
struct Witness {
  explicit Witness(std::atomic<int>& ended) : gone(ended) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { ++gone; }
  std::atomic<int>& gone;
};

template <typename T>
std::future<T> Later(T value) {
  return std::async(std::launch::async, [value = std::move(value)] { return value; });
}

CallContext StoppedCall() {
  std::stop_source stop;
  stop.request_stop();
  CallContext context;
  context.stop = stop.get_token();
  return context;
}

ToolTask<std::string> Twice(std::string text) { co_return text + text; }

ToolTask<std::string> Greeting(const std::string& name, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += co_await Twice(name);
  co_return co_await Later(all + "!");
}

TEST(ToolTaskTest, IsAToolLikeOthers) {
  const auto tool = Bound(&Greeting, 2);
  EXPECT_EQ(tool->spec().Signature(), "f(a: str, b: int) -> str");
  EXPECT_EQ(Answer(*tool, {Value("ho"), Value(2)}), "'hohohoho!'");
  EXPECT_THAT(Answer(*tool, {Value(3), Value(2)}), HasSubstr("f() argument 'a': expected str"));
  const auto nothing = Bound([]() -> ToolTask<void> { co_return; }, 0);
  EXPECT_EQ(nothing->spec().returns, "None");
  EXPECT_EQ(Answer(*nothing, {}), "None");
  const auto failing = Bound(
      [](int a) -> ToolTask<Result<int>> {
        if (a < 0) co_return Fail(ErrorCode::kIo, "below zero");
        co_return a;
      },
      1);
  EXPECT_EQ(failing->spec().returns, "int");
  EXPECT_EQ(Answer(*failing, {Value(7)}), "7");
  EXPECT_EQ(Answer(*failing, {Value(-7)}), "error: below zero");
}

constexpr int kManyAwaits = 200'000;

TEST(ToolTaskTest, EndsWithoutStackHoweverOftenItAwaits) {
  const auto tool = Bound(
      [](int a) -> ToolTask<std::int64_t> {
        std::size_t length = 0;
        for (int i = 0; i < a; ++i) length += (co_await Twice("x")).size();
        co_return static_cast<std::int64_t>(length);
      },
      1);
  EXPECT_EQ(Answer(*tool, {Value(kManyAwaits)}), std::to_string(2 * kManyAwaits));
}

TEST(ToolTaskTest, AwaitsFuturesOnTheThreadOfTheCall) {
  const auto tool = Bound(
      []() -> ToolTask<bool> {
        const auto before = std::this_thread::get_id();
        auto first = Later(1);  // both run meanwhile
        auto second = Later(std::string("two"));
        const int one = co_await first;
        const std::string two = co_await std::move(second);
        co_await std::async(std::launch::async, [] {});
        co_return one == 1 && two == "two" && std::this_thread::get_id() == before;
      },
      0);
  EXPECT_EQ(Answer(*tool, {}), "True");
  EXPECT_THAT(Answer(*Bound([]() -> ToolTask<int> { co_return co_await std::future<int>(); }, 0), {}),
              HasSubstr("no state"));
}

TEST(ToolTaskTest, AwaitsACallbackOfAnotherThread) {
  Pool pool;
  const auto tool = Bound(
      [&pool](int a) -> ToolTask<Result<int>> {
        const AwaitReply<int> asking([&pool, a](ToolReply<int> reply) {
          pool.Post([a, reply] {
            if (a == 0) reply(Fail(ErrorCode::kIo, "no line"));
            if (a > 0) reply(2 * a);
          });
        });
        co_return co_await co_await asking;
      },
      1);
  EXPECT_EQ(Answer(*tool, {Value(4)}), "8");
  EXPECT_EQ(Answer(*tool, {Value(0)}), "error: no line");
  EXPECT_EQ(Answer(*tool, {Value(-1)}), "error: the tool ended without an answer");
}

TEST(ToolTaskTest, HopsToAnExecutor) {
  Pool pool;
  const auto tool = Bound(
      [&pool](std::string_view a) -> ToolTask<std::string> {
        const auto before = std::this_thread::get_id();
        co_await pool.Here();
        const bool hopped = std::this_thread::get_id() == pool.id();
        const std::string later = co_await Later(std::string("x"));
        const bool returned = std::this_thread::get_id() == before;
        co_await pool.Here();
        co_return std::string(a) + later + (hopped && returned ? " there and back" : "");
      },
      1);
  EXPECT_EQ(Answer(*tool, {Value("a")}), "'ax there and back'");
  const auto inline_hop = Bound(
      []() -> ToolTask<int> {
        co_await ResumeOn([](const std::function<void()>& work) { work(); });
        co_return 1;
      },
      0);
  EXPECT_EQ(Answer(*inline_hop, {}), "1");
}

TEST(ToolTaskTest, EndsTheCallWhereAnExecutorTakesNoWork) {
  std::atomic<int> gone = 0;
  const auto hop = [&gone](task_internal::TaskCall::Executor executor) {
    return Bound(
        [&gone, executor]() -> ToolTask<int> {
          const Witness witness(gone);
          co_await ResumeOn(executor);
          co_return 1;
        },
        0);
  };
  EXPECT_THAT(Answer(*hop([](const std::function<void()>&) {}), {}), HasSubstr("dropped"));
  EXPECT_THAT(Answer(*hop([](const std::function<void()>&) { throw std::runtime_error("closing"); }), {}),
              HasSubstr("closing"));
  EXPECT_EQ(gone, 2);
}

TEST(ToolTaskTest, AwaitsWhatTheHostSupplies) {
  std::thread thread;
  const auto tool = Bound(
      [&thread]() -> ToolTask<bool> {
        const auto before = std::this_thread::get_id();
        const Elsewhere elsewhere{[&thread](std::coroutine_handle<> handle) {
          thread = std::thread([handle] { handle.resume(); });
        }};
        const int five = co_await elsewhere;
        co_return five == 5 && std::this_thread::get_id() != before;
      },
      0);
  EXPECT_EQ(Answer(*tool, {}), "True");
  thread.join();
}

// The other forms that an awaitable may have.
struct Wrapped {
  struct Awaiter {
    std::function<bool(std::coroutine_handle<>)> on_suspend;
    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> handle) const { return on_suspend(handle); }
    std::string await_resume() const { return "wrapped"; }
  };
  Awaiter operator co_await() const { return {on_suspend}; }
  std::function<bool(std::coroutine_handle<>)> on_suspend;
};
struct Transferring {
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> handle) const { return handle; }
  void await_resume() const {}
};

TEST(ToolTaskTest, AwaitsWhateverFormItHas) {
  Pool pool;
  const auto tool = Bound(
      [&pool](int a) -> ToolTask<std::string> {
        const Wrapped never{[](std::coroutine_handle<>) { return false; }};
        std::string text = co_await never;
        for (int i = 0; i < kManyAwaits; ++i) co_await Transferring();
        for (int i = 0; i < a; ++i) {
          co_await std::suspend_never();
          text += co_await Wrapped{[&pool](std::coroutine_handle<> handle) {
            pool.Post([handle] { handle.resume(); });
            return true;
          }};
        }
        try {
          co_await Wrapped{[](std::coroutine_handle<>) -> bool { throw std::runtime_error("refused"); }};
        } catch (const std::runtime_error& error) {
          text += error.what();
        }
        co_return text;
      },
      1);
  EXPECT_EQ(Answer(*tool, {Value(2)}), "'wrappedwrappedwrappedrefused'");
}

ToolTask<Result<int>> Checked(int value) {
  if (value > 9) co_return Fail(ErrorCode::kResourceExhausted, "too many");
  if (value == 3) throw std::runtime_error("three");
  co_return value;
}

TEST(ToolTaskTest, LetsErrorsAndExceptionsTravel) {
  std::atomic<int> gone = 0;
  const auto tool = Bound(
      [&gone](int a) -> ToolTask<Result<std::string>> {
        const Witness witness(gone);
        std::string text;
        try {
          text = std::to_string(co_await co_await Checked(a));
        } catch (const std::runtime_error& error) {
          text = std::string("caught ") + error.what();
        }
        if (a == 4) throw std::runtime_error("out of paper");
        co_await Status();
        co_return text;
      },
      1);
  EXPECT_EQ(Answer(*tool, {Value(2)}), "'2'");
  EXPECT_EQ(Answer(*tool, {Value(10)}), "error: too many");
  EXPECT_EQ(Answer(*tool, {Value(3)}), "'caught three'");
  EXPECT_EQ(Answer(*tool, {Value(4)}), "error: f failed: out of paper");
  EXPECT_EQ(gone, 4);
  const auto throwing = Bound(
      []() -> ToolTask<int> {
        co_return co_await std::async([]() -> int { throw std::runtime_error("torn"); });
      },
      0);
  EXPECT_THAT(Answer(*throwing, {}), HasSubstr("torn"));
}

TEST(ToolTaskTest, IsDestroyedWhereItWaitsWhenTheCallIsOver) {
  std::atomic<int> gone = 0;
  std::atomic<int> went_on = 0;
  std::promise<int> never;
  std::vector<ToolReply<int>> kept;
  std::vector<std::function<void()>> queue;
  const auto inner = [&](int way) -> ToolTask<int> {
    const Witness witness(gone);
    if (way == 0) co_await never.get_future();
    if (way == 1) co_await AwaitReply<int>([&](ToolReply<int> reply) { kept.push_back(std::move(reply)); });
    if (way == 2) co_await ResumeOn([&](std::function<void()> work) { queue.push_back(std::move(work)); });
    co_return ++went_on;
  };
  const auto tool = Bound(
      [&](int a) -> ToolTask<int> {
        const Witness witness(gone);
        co_return co_await inner(a);
      },
      1);
  for (int way = 0; way < 3; ++way) {
    CallContext stopped = StoppedCall();
    EXPECT_EQ(tool->Call(Arguments({{Value("a"), Value(way)}}), stopped).error().code, ErrorCode::kClosed);
    EXPECT_EQ(gone, 2 * (way + 1));
  }
  CallContext late;
  late.deadline = Deadline::After(std::chrono::milliseconds(10));
  EXPECT_EQ(tool->Call(Arguments({{Value("a"), Value(1)}}), late).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(gone, 8);
  kept.front()(7);  // both harmless
  queue.front()();
  EXPECT_EQ(went_on, 0);
}

// The coroutine that waits for `handle` to be resumed, when its call, its tool and its registry are gone.
struct Abandoned {
  explicit Abandoned(bool awaits_more) {
    CallContext context = StoppedCall();
    context.on_progress = [this](const ToolProgress&) { ++told; };
    context.on_ask = [](std::string, Value) { return ApprovalDecision{.allowed = true}; };
    const auto tool = Bound(
        [this, awaits_more, name = std::string("a name too long for the object itself")](
            const std::string& a, std::span<const double> b, CallContext& call) -> ToolTask<int> {
          const Witness witness(gone);
          co_await Elsewhere{[this](std::coroutine_handle<> waiting) { handle = waiting; }};
          seen = name + ", " + a + ", " + std::to_string(b.size()) + (call.stopped() ? ", stopped" : "");
          call.Progress(1);
          allowed = call.Ask("go on?").allowed;
          if (awaits_more) co_await std::async(std::launch::deferred, [this] { ++went_on; });
          co_return ++went_on;
        },
        2);
    const double numbers[] = {1, 2, 3};
    error = tool->Call(Arguments({{Value("a"), Value("an argument that is as long as that")},
                                  {Value("b"), MakeNdarray(std::span<const double>(numbers))}}),
                       context)
                .error();
  }
  std::coroutine_handle<> handle;
  std::atomic<int> gone = 0;
  int told = 0;
  int went_on = 0;
  bool allowed = false;
  std::string seen;
  Error error;
};

TEST(ToolTaskTest, IsAbandonedWhereOnlyTheHostCanWakeIt) {
  Abandoned abandoned(false);
  EXPECT_EQ(abandoned.error.code, ErrorCode::kClosed);
  EXPECT_EQ(abandoned.gone, 0);
  abandoned.handle.resume();
  EXPECT_EQ(abandoned.seen,
            "a name too long for the object itself, an argument that is as long as that, 3, stopped");
  EXPECT_EQ(abandoned.told, 0);  // nobody listens
  EXPECT_FALSE(abandoned.allowed);
  EXPECT_EQ(abandoned.went_on, 1);
  EXPECT_EQ(abandoned.gone, 1);
}

TEST(ToolTaskTest, EndsAtItsNextWaitOnceItIsAbandoned) {
  Abandoned abandoned(true);
  abandoned.handle.resume();
  EXPECT_NE(abandoned.seen, "");
  EXPECT_EQ(abandoned.went_on, 0);
  EXPECT_EQ(abandoned.gone, 1);
}

TEST(ToolTaskTest, TellsAndAsksOnTheThreadOfTheCall) {
  Pool pool;
  CallContext context;
  context.session = "s";
  context.deadline = Deadline::After(std::chrono::hours(1));
  const auto extended = Deadline::After(std::chrono::hours(2));
  std::vector<std::thread::id> threads;
  context.on_progress = [&](const ToolProgress&) { threads.push_back(std::this_thread::get_id()); };
  context.on_ask = [&](const std::string&, const Value&) {
    threads.push_back(std::this_thread::get_id());
    context.deadline = extended;
    return ApprovalDecision{.allowed = true, .reason = "why not"};
  };
  const auto tool = Bound(
      [&](CallContext& call) -> ToolTask<std::string> {
        call.Progress(1);
        co_await pool.Here();
        call.Progress(2);
        const ApprovalDecision decision = call.Ask("go on?");
        call.Display("text/plain", Value("shown"));
        co_return call.session + ": " + decision.reason +
            (call.deadline.when() == extended.when() ? ", later" : "");
      },
      0);
  const auto result = tool->Call(Arguments({}), context);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, Value("s: why not, later"));
  EXPECT_EQ(threads, std::vector(3, std::this_thread::get_id()));
  EXPECT_EQ(context.displays.size(), 1u);
  context.on_ask = [](const std::string&, const Value&) -> ApprovalDecision {
    throw std::runtime_error("nobody there");
  };
  EXPECT_THAT(tool->Call(Arguments({}), context).error().message, HasSubstr("nobody there"));
}

TEST(ToolTaskTest, MayGiveAStream) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.Add("count", "",
                        [](int end) -> ToolTask<Result<ToolStream<int>>> {
                          const int last = co_await Later(end);
                          co_return ToolStream<int>(
                              [last, at = 0](CallContext&) mutable -> Result<std::optional<int>> {
                                if (at < last) return std::optional(at++);
                                return std::optional<int>();
                              });
                        },
                        {Arg("end")}));
  EXPECT_EQ(tools.Find("count")->spec().Signature(), "count(end: int) -> Iterator[int]");
  CallContext context;
  const auto first = tools.Find("count")->Call(Arguments({{Value("end"), Value(2)}}), context);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(PythonLiteral(*first), "{'id': None, 'items': [0, 1]}");
}

// Ends and ends of calls at the same time, on several threads.
TEST(ToolTaskTest, EndsOnceWhoeverIsFirst) {
  Pool pool;
  std::atomic<int> gone = 0;
  std::atomic<int> begun = 0;
  const auto tool = Bound(
      [&](int a) -> ToolTask<int> {
        const Witness witness(gone);
        ++begun;
        for (int i = 0; i < a; ++i) {
          co_await pool.Here();
          co_await Elsewhere{
              [&pool](std::coroutine_handle<> handle) { pool.Post([handle] { handle.resume(); }); }};
        }
        co_return a;
      },
      1);
  for (int i = 0; i < 200; ++i) {
    std::stop_source stop;
    CallContext context;
    context.stop = stop.get_token();
    std::thread stopper([&stop] { stop.request_stop(); });
    (void)tool->Call(Arguments({{Value("a"), Value(i % 5)}}), context);
    stopper.join();
  }
  // What the last one still does is one hop at most, and that may put another one behind it.
  for (int i = 0; i < 2; ++i) {
    std::promise<void> drained;
    pool.Post([&drained] { drained.set_value(); });
    drained.get_future().wait();
  }
  EXPECT_EQ(gone, begun);
}

}  // namespace
}  // namespace gloveport
