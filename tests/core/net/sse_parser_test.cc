#include "gloveport/core/net/sse_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gloveport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "name|data" of each event, when the stream comes in pieces of `size` bytes.
std::vector<std::string> Events(std::string_view stream, std::size_t size) {
  std::vector<std::string> events;
  SseParser parser([&](const SseEvent& event) -> Status {
    events.push_back(event.name + "|" + event.data);
    return {};
  });
  while (!stream.empty()) {
    EXPECT_TRUE(parser.Feed(stream.substr(0, size)));
    stream.remove_prefix(std::min(size, stream.size()));
  }
  EXPECT_TRUE(parser.End());
  return events;
}

TEST(SseParser, ReadsEveryFormOfAStreamHoweverItIsCut) {
  struct Case {
    const char* stream;
    std::vector<std::string> events;
  };
  const Case cases[] = {
      {"", {}},
      {"data: a\n\n", {"|a"}},
      {"data:a\n\ndata:  b\n\n", {"|a", "| b"}},
      {"data: a\r\n\r\ndata: b\r\n\r\n", {"|a", "|b"}},
      {"data: a\r\rdata: b\r\r", {"|a", "|b"}},
      {"event: x\ndata: a\n\ndata: b\n\n", {"x|a", "|b"}},
      {"data: a\nevent: x\n\n", {"x|a"}},
      {"data: a\ndata\ndata: c\n\n", {"|a\n\nc"}},
      {"data\n\n", {"|"}},
      {"data: \n\n", {"|"}},
      {": comment\n\n:\n\ndata: a\n\n", {"|a"}},
      {"event: lonely\n\ndata: a\n\n", {"|a"}},
      {"id: 7\nretry: 100\nother: x\ndata: a\n\n", {"|a"}},
      {"\xEF\xBB\xBF"
       "data: a\n\n",
       {"|a"}},
      {"data: a\n\n\n\n\ndata: b\n\n", {"|a", "|b"}},
      {"data: {\"a\": \"b: c\"}\n\n", {"|{\"a\": \"b: c\"}"}},
      {"data: a\n", {"|a"}},  // the last empty line is missing
      {"data: a", {"|a"}},    // so is the end of the line
      {"DATA: a\n\n", {}},
      {" data: a\n\n", {}},
      {"garbage\xff\xfe\n\ndata: a\n\n", {"|a"}},
  };
  for (const Case& c : cases) {
    for (const std::size_t size : {1, 2, 3, 1000})
      EXPECT_EQ(Events(c.stream, size), c.events) << c.stream << " by " << size;
  }
}

TEST(SseParser, EventsComeAsSoonAsTheyAreComplete) {
  int events = 0;
  SseParser parser([&](const SseEvent&) -> Status {
    ++events;
    return {};
  });
  ASSERT_TRUE(parser.Feed("data: a\n"));
  EXPECT_EQ(events, 0);
  ASSERT_TRUE(parser.Feed("\n"));
  EXPECT_EQ(events, 1);
  ASSERT_TRUE(parser.Feed("data: b\r\n\r"));
  EXPECT_EQ(events, 2);
}

TEST(SseParser, AnErrorOfTheReceiverEndsTheReading) {
  std::vector<std::string> seen;
  SseParser parser([&](const SseEvent& event) -> Status {
    seen.push_back(event.data);
    return Fail(ErrorCode::kClosed, "enough");
  });
  const auto fed = parser.Feed("data: a\n\ndata: b\n\n");
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().message, "enough");
  EXPECT_THAT(seen, ElementsAre("a"));
}

TEST(SseParser, LinesAndEventsHaveALimit) {
  const auto feed = [](std::string_view bytes) {
    SseParser parser([](const SseEvent&) -> Status { return {}; },
                     {.max_line_bytes = 10, .max_event_bytes = 12});
    for (const char byte : bytes) {
      if (auto fed = parser.Feed({&byte, 1}); !fed) return fed.error().message;
    }
    return std::string();
  };
  EXPECT_THAT(feed("data: 1234\n\ndata: 1234\n\n"), IsEmpty());
  EXPECT_THAT(feed("data: 12345"), HasSubstr("a line of the stream is longer than the 10 bytes"));
  EXPECT_THAT(feed("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), HasSubstr("a line"));
  EXPECT_THAT(feed("data:12345\ndata:12345\ndata:1\n"),
              HasSubstr("an event of the stream is longer than the 12 bytes"));
}

}  // namespace
}  // namespace gloveport
