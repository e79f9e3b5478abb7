// Tools that answer later, in parts or with more than a result: futures, callbacks, streams, displays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "gloveport/tools/registry.h"

#include "call.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

TEST(LaterAnswer, AFutureIsWaitedFor) {
  const auto tool = Bound(
      [](std::int64_t a) {
        return std::async(std::launch::async, [a]() -> Result<std::int64_t> {
          if (a < 0) return Fail(ErrorCode::kIo, "below zero");
          return 2 * a;
        });
      },
      1);
  EXPECT_EQ(tool->spec().Signature(), "f(a: int) -> int");
  EXPECT_EQ(Answer(*tool, {Value(4)}), "8");
  EXPECT_EQ(Answer(*tool, {Value(-1)}), "error: below zero");
  const auto nothing = Bound([] { return std::async(std::launch::async, [] {}); }, 0);
  EXPECT_EQ(nothing->spec().returns, "None");
  EXPECT_EQ(Answer(*nothing, {}), "None");
  const auto throwing =
      Bound([] { return std::async([]() -> int { throw std::runtime_error("out of paper"); }); }, 0);
  EXPECT_THAT(Answer(*throwing, {}), HasSubstr("out of paper"));
  EXPECT_THAT(Answer(*Bound([] { return std::future<int>(); }, 0), {}), HasSubstr("no state"));
}

TEST(LaterAnswer, ACallbackMayComeFromAnyThread) {
  std::thread thread;
  const auto tool = Bound(
      [&](std::string a, ToolReply<std::string> reply) {
        thread = std::thread([a = std::move(a), reply] {
          reply(a + "!");
          reply("too late");
        });
      },
      1);
  EXPECT_EQ(tool->spec().Signature(), "f(a: str) -> str");
  EXPECT_EQ(Answer(*tool, {Value("hi")}), "'hi!'");
  thread.join();
  const auto failing = Bound([](const ToolReply<void>& reply) { reply(Fail(ErrorCode::kIo, "no line")); }, 0);
  EXPECT_EQ(Answer(*failing, {}), "error: no line");
  EXPECT_EQ(Answer(*Bound([](const ToolReply<void>& reply) { reply({}); }, 0), {}), "None");
  EXPECT_EQ(Answer(*Bound([](ToolReply<int>) {}, 0), {}), "error: the tool ended without an answer");
}

TEST(LaterAnswer, IsGivenUpWhenTheCallIsOver) {
  std::vector<ToolReply<int>> kept;
  const auto tool = Bound([&](CallContext&, ToolReply<int> reply) { kept.push_back(std::move(reply)); }, 0);
  CallContext late;
  late.deadline = Deadline::After(std::chrono::milliseconds(10));
  EXPECT_EQ(tool->Call(Arguments({}), late).error().code, ErrorCode::kDeadlineExceeded);
  std::stop_source stop;
  stop.request_stop();
  CallContext stopped;
  stopped.stop = stop.get_token();
  EXPECT_EQ(tool->Call(Arguments({}), stopped).error().code, ErrorCode::kClosed);
  kept.front()(7);  // harmless
  std::promise<int> promise;
  const auto waiting = Bound([&] { return promise.get_future(); }, 0);
  EXPECT_EQ(waiting->Call(Arguments({}), stopped).error().code, ErrorCode::kClosed);
}

// A stream of 0, 1, 2 ...; its end, or an error there.
ToolStream<std::int64_t> CountTo(std::int64_t end, bool fails) {
  return ToolStream<std::int64_t>(
      [end, fails, at = std::int64_t{0}](CallContext&) mutable -> Result<std::optional<std::int64_t>> {
        if (at < end) return std::optional(at++);
        if (fails) return Fail(ErrorCode::kIo, "the line broke");
        return std::optional<std::int64_t>();
      });
}

class Streams : public testing::Test {
 protected:
  Streams() {
    EXPECT_TRUE(tools_.Add("count", "Counts.", &CountTo, {Arg("end", "where"), Arg("fails", "", false)}));
  }
  Result<Value> First(std::int64_t end, bool fails = false, const char* session = "a") {
    CallContext context;
    context.session = session;
    return tools_.Find("count")->Call(Arguments({{Value("end"), Value(end)}, {Value("fails"), Value(fails)}}),
                                      context);
  }
  Result<Value> More(const Value& first, const char* session = "a") {
    CallContext context;
    context.session = session;
    return tools_.Find("count.next")->Call(Arguments({{Value("stream"), *first.Find("id")}}), context);
  }
  ToolRegistry tools_;
};

TEST_F(Streams, AreIteratorsInPython) {
  EXPECT_EQ(tools_.Find("count")->spec().Signature(),
            "count(end: int, fails: bool = False) -> Iterator[int]");
  EXPECT_TRUE(tools_.Find("count")->spec().is_stream);
  EXPECT_EQ(tools_.tools().size(), 1u);  // the continuation is found, not listed
  EXPECT_EQ(PythonLiteral(*First(3)), "{'id': None, 'items': [0, 1, 2]}");
  EXPECT_EQ(PythonLiteral(*First(0)), "{'id': None, 'items': []}");
}

TEST_F(Streams, GoOnWhereTheyWere) {
  std::size_t got = 0;
  auto part = First(150);
  while (true) {
    ASSERT_TRUE(part) << part.error().message;
    for (const Value& item : part->Find("items")->as_list())
      EXPECT_EQ(item, Value(static_cast<std::int64_t>(got++)));
    if (part->Find("id")->is_null()) break;
    part = More(*part);
  }
  EXPECT_EQ(got, 150u);
}

TEST_F(Streams, GiveWhatCameBeforeAnError) {
  const auto first = First(2, true);
  EXPECT_EQ(first->Find("items")->as_list().size(), 2u);
  const auto more = More(*first);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message, "the line broke");
  EXPECT_EQ(More(*first).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(First(0, true).error().message, "the line broke");
}

TEST_F(Streams, BelongToTheirSessionAndAreNotMany) {
  const auto mine = First(1000);
  EXPECT_EQ(More(*mine, "b").error().code, ErrorCode::kNotFound);
  const auto others = First(1000, false, "b");
  for (std::size_t i = 0; i < ValueStreams::kMaxOpenPerSession; ++i) ASSERT_TRUE(First(1000));
  EXPECT_EQ(More(*mine).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(More(*others, "b"));
}

TEST(CallContextTest, TellsAndShowsThroughTheHost) {
  CallContext context;
  context.Progress(1);  // nobody watches: nothing happens
  EXPECT_FALSE(context.Ask("why").allowed);
  std::vector<ToolProgress> seen;
  context.on_progress = [&](const ToolProgress& progress) { seen.push_back(progress); };
  context.Progress(2, 4.0, "half");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].done, 2);
  EXPECT_EQ(seen[0].total, 4.0);
  context.Display("text/html", Value("<b>x</b>"));
  EXPECT_EQ(PythonLiteral(context.displays.at(0)), "{'text/html': '<b>x</b>'}");
}

}  // namespace
}  // namespace gloveport
