#include "gloveport/core/host/output_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gloveport/core/host/display_marks.h"

namespace gloveport {
namespace {

using ::testing::ElementsAre;

class Listener : public EventSink {
 public:
  void OnOutput(std::string_view, std::uint32_t, Stream stream, std::string_view text) override {
    heard.push_back((stream == Stream::kStdout ? "out " : "err ") + std::string(text));
  }
  std::vector<std::string> heard;
};

Value Shown(std::string text, std::vector<std::pair<std::string, Value>> marks = {}) {
  Value::Map forms{{Value("text/plain"), Value(std::move(text))}};
  for (auto& [name, value] : marks) forms.emplace_back(Value(std::move(name)), std::move(value));
  return Value(std::move(forms));
}

Value After(Value written) { return Shown("x", {{std::string(kWrittenBefore), std::move(written)}}); }
Value AfterBytes(std::int64_t out, std::int64_t err) {
  return After(Value(Value::List{Value(out), Value(err)}));
}

class OutputOrderTest : public ::testing::Test {
 protected:
  Listener listener_;
  const std::string session_ = "s1";
  OutputOrder order_{&listener_, session_, 0};
};

TEST_F(OutputOrderTest, TextWaitsForTheDisplaysBeforeIt) {
  order_.Add(Stream::kStdout, "ab");
  order_.Add(Stream::kStderr, "e");
  Value first = AfterBytes(1, 0);
  order_.TellBefore(first);
  EXPECT_EQ(first, Shown("x"));  // the mark is not shown
  EXPECT_THAT(listener_.heard, ElementsAre("out a"));
  Value second = AfterBytes(1, 1);
  order_.TellBefore(second);
  order_.Add(Stream::kStdout, "c");
  order_.Tell();
  order_.Tell();
  EXPECT_THAT(listener_.heard, ElementsAre("out a", "err e", "out bc"));
}

TEST_F(OutputOrderTest, WhatIsNoCountDelaysNothing) {
  for (Value written : {Value("5"), Value(Value::List{}), Value(Value::List{Value("a"), Value(-1)})}) {
    order_.Add(Stream::kStdout, "a");
    Value display = After(std::move(written));
    order_.TellBefore(display);
    EXPECT_EQ(display, Shown("x"));
    order_.Tell();
  }
  order_.Add(Stream::kStdout, "b");
  Value display = Shown("without");
  order_.TellBefore(display);
  Value lies = AfterBytes(std::numeric_limits<std::int64_t>::max(), 5);
  order_.TellBefore(lies);
  EXPECT_THAT(listener_.heard, ElementsAre("out a", "out a", "out a", "out b"));
}

TEST(OutputOrder, NobodyListens) {
  const std::string session;
  OutputOrder order(nullptr, session, 0);
  order.Add(Stream::kStdout, "a");
  order.Tell();
}

// ---- DisplayList ----

Value Clear(bool wait) { return Value(Value::Map{{Value(std::string(kClearOutput)), Value(wait)}}); }
Value Named(std::string text, std::string name) {
  return Shown(std::move(text), {{std::string(kDisplayId), Value(std::move(name))}});
}
Value Update(std::string text, std::string name) {
  return Shown(std::move(text), {{std::string(kUpdatesDisplayId), Value(std::move(name))}});
}

std::vector<std::string> TextsOf(DisplayList list) {
  std::vector<std::string> texts;
  for (const Value& display : list.Take()) texts.emplace_back(display.TextOr("text/plain", ""));
  return texts;
}

TEST(DisplayList, HasWhatIsThereAtTheEnd) {
  DisplayList list(10);
  list.Add(Shown("gone"));
  list.Add(Clear(false));
  list.Add(Shown("a"));
  EXPECT_THAT(TextsOf(list), ElementsAre("a"));
  list.Add(Clear(true));
  EXPECT_THAT(TextsOf(list), ElementsAre("a"));  // until the next
  list.Add(Shown("b"));
  list.Add(Shown("c"));
  EXPECT_THAT(TextsOf(list), ElementsAre("b", "c"));
}

TEST(DisplayList, UpdateTakesThePlaceOfItsName) {
  DisplayList list(10);
  list.Add(Named("one", "n"));
  list.Add(Shown("two"));
  list.Add(Update("ONE", "n"));
  list.Add(Update("1", "n"));
  list.Add(Update("other cell's", "m"));
  auto displays = list.Take();
  ASSERT_EQ(displays.size(), 3u);
  EXPECT_EQ(displays[0], Named("1", "n"));
  EXPECT_EQ(displays[1], Shown("two"));
  EXPECT_EQ(displays[2], Update("other cell's", "m"));
}

TEST(DisplayList, FullOneTakesUpdatesAndClears) {
  DisplayList list(2);
  EXPECT_TRUE(list.Add(Named("a", "n")));
  EXPECT_TRUE(list.Add(Shown("b")));
  EXPECT_FALSE(list.Add(Shown("c")));
  EXPECT_TRUE(list.Add(Update("A", "n")));
  EXPECT_TRUE(list.Add(Clear(true)));
  EXPECT_TRUE(list.Add(Shown("d")));
  EXPECT_THAT(TextsOf(list), ElementsAre("d"));
}

TEST(DisplayMarks, AreNoForms) {
  EXPECT_TRUE(HasOnlyMarks(Clear(true)));
  EXPECT_FALSE(HasOnlyMarks(Named("a", "n")));
  EXPECT_FALSE(HasOnlyMarks(Value(Value::Map{})));
  EXPECT_FALSE(IsDisplayMark("application/json"));
}

}  // namespace
}  // namespace gloveport
