#include "gloveport/core/serve/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

using Event = LineReader::Event;
using Lines = std::vector<std::pair<Event, std::string>>;

// All events of an input that is at its end after `text`.
Lines ReadAll(std::string_view text, std::size_t max_line_bytes) {
  auto input = MakePipe();
  auto stop = MakePipe();
  EXPECT_TRUE(WriteFull(input->write_end.get(), AsBytes(text), Deadline::Never()));
  input->write_end.reset();
  LineReader reader(input->read_end.get(), stop->read_end.get(), max_line_bytes);
  Lines lines;
  while (true) {
    std::string line;
    const auto event = reader.Next(line);
    EXPECT_TRUE(event.has_value());
    if (!event || *event == Event::kEnd) return lines;
    lines.emplace_back(*event, line);
  }
}

TEST(LineReader, SplitsAtLineEndsAndDropsCarriageReturns) {
  EXPECT_EQ(ReadAll("a\nb\r\n\nc\n", 100),
            (Lines{{Event::kLine, "a"}, {Event::kLine, "b"}, {Event::kLine, ""}, {Event::kLine, "c"}}));
}

TEST(LineReader, ALastLineWithoutALineEndCounts) {
  EXPECT_EQ(ReadAll("a\nb", 100), (Lines{{Event::kLine, "a"}, {Event::kLine, "b"}}));
}

TEST(LineReader, ALineAtTheLimitIsReadAndOneBeyondIsDropped) {
  EXPECT_EQ(ReadAll("1234\nnext\n", 4), (Lines{{Event::kLine, "1234"}, {Event::kLine, "next"}}));
  EXPECT_EQ(ReadAll("12345\nnext\n", 4), (Lines{{Event::kTooLong, "12345"}, {Event::kLine, "next"}}));
}

TEST(LineReader, AVeryLongLineKeepsItsBeginningOnlyAndTheNextLineIsWhole) {
  const std::string head = R"({"id":7,"text":")";
  const Lines lines = ReadAll(head + std::string(60'000, 'x') + "\nnext\n", 10'000);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].first, Event::kTooLong);
  EXPECT_LE(lines[0].second.size(), 4096u);
  EXPECT_TRUE(lines[0].second.starts_with(head));
  EXPECT_EQ(lines[1], (std::pair{Event::kLine, std::string("next")}));
}

TEST(LineReader, StopsWhenAskedThoughTheInputIsSilent) {
  auto input = MakePipe();
  auto stop = MakePipe();
  ASSERT_TRUE(WriteFull(stop->write_end.get(), AsBytes("x"), Deadline::Never()));
  LineReader reader(input->read_end.get(), stop->read_end.get(), 100);
  std::string line;
  const auto event = reader.Next(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(*event, Event::kStopped);
}

TEST(LineReader, ADescriptorThatCannotBeReadIsAnError) {
  auto input = MakePipe();
  auto stop = MakePipe();
  LineReader reader(input->write_end.get(), stop->read_end.get(), 100);
  input->read_end.reset();  // wakes the wait on the writing end, which then cannot be read
  std::string line;
  const auto event = reader.Next(line);
  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(event.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace gloveport
