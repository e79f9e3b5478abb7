#include "gloveport/core/record/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/core/host/sha256.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

std::string WithoutNewline(std::string line) {
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  return line;
}

TEST(ChainTest, ARecordIsReadAsItWasMadeAndMovesTheHead) {
  ChainHead writing;
  ChainHead reading;
  for (const char* kind : {"first", "second", "third"}) {
    const std::string line = WithoutNewline(MakeRecord(writing, {{"kind", kind}, {"x", "a\nb\u00e9"}}));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto record = ReadRecord(line);
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->body["kind"], kind);
    EXPECT_EQ(record->body["x"], "a\nb\u00e9");
    ASSERT_TRUE(Follow(reading, *record));
    EXPECT_EQ(reading.hash, writing.hash);
    EXPECT_EQ(reading.next_seq, writing.next_seq);
  }
}

// What another program must do to verify a log, written out.
TEST(ChainTest, TheHashIsThatOfTheLineUpToIt) {
  ChainHead head;
  const std::string line = MakeRecord(head, {{"kind", "cell"}});
  const std::size_t at = line.rfind(R"(,"hash":")");
  EXPECT_EQ(line.substr(0, at), R"({"seq":0,"kind":"cell","prev":")" + ChainStart() + "\"");
  EXPECT_EQ(line.substr(at), R"(,"hash":")" + Sha256Hex(line.substr(0, at)) + "\"}\n");
}

TEST(ChainTest, ALineThatIsNoRecordSaysWhy) {
  ChainHead head;
  const std::string good = WithoutNewline(MakeRecord(head, {{"kind", "cell"}, {"code", "1"}}));
  ASSERT_TRUE(ReadRecord(good));
  const auto sealed = [](std::string covered) {
    return covered + R"(,"hash":")" + Sha256Hex(covered) + "\"}";
  };
  std::string edited = good;
  edited[edited.find("\"1\"") + 1] = '2';
  std::string upper = good;
  for (std::size_t i = upper.size() - 40; i < upper.size(); ++i)
    upper[i] = static_cast<char>(std::toupper(upper[i]));
  const std::string prev = R"("prev":")" + ChainStart() + "\"";
  const std::pair<std::string, const char*> kLines[] = {
      {"", "too short"},
      {good.substr(1), "does not fit its hash"},
      {edited, "does not fit its hash"},
      {upper, "does not end with its hash"},
      {good + " ", "does not end with its hash"},
      {std::string(200, 'x'), "does not end with its hash"},
      {sealed("{nonsense"), "no JSON"},
      {sealed(R"({"seq":0,"seq":1,"kind":"x",)" + prev), "no JSON"},
      {sealed(R"({"kind":"x",)" + prev), "lacks one of"},
      {sealed(R"({"seq":-1,"kind":"x",)" + prev), "lacks one of"},
      {sealed(R"({"seq":0,"kind":7,)" + prev), "lacks one of"},
      {sealed(R"({"seq":0,"kind":"x","prev":7)"), "lacks one of"},
  };
  for (const auto& [line, why] : kLines) {
    const auto record = ReadRecord(line);
    ASSERT_FALSE(record) << line;
    EXPECT_EQ(record.error().code, ErrorCode::kProtocol);
    EXPECT_THAT(record.error().message, HasSubstr(why)) << line;
  }
}

TEST(ChainTest, ARecordFollowsOnlyTheOneBeforeIt) {
  ChainHead head;
  const std::string lines[] = {WithoutNewline(MakeRecord(head, {{"kind", "a"}})),
                               WithoutNewline(MakeRecord(head, {{"kind", "b"}})),
                               WithoutNewline(MakeRecord(head, {{"kind", "c"}}))};
  ChainHead reading;
  EXPECT_FALSE(Follow(reading, *ReadRecord(lines[1]))) << "the first is missing";
  ASSERT_TRUE(Follow(reading, *ReadRecord(lines[0])));
  EXPECT_FALSE(Follow(reading, *ReadRecord(lines[0]))) << "twice";
  EXPECT_FALSE(Follow(reading, *ReadRecord(lines[2]))) << "one is missing";
  ChainHead other{1, Sha256Hex("another log")};
  EXPECT_FALSE(Follow(reading, *ReadRecord(WithoutNewline(MakeRecord(other, {{"kind", "b"}})))))
      << "of another log";
  EXPECT_EQ(reading.next_seq, 1u) << "what does not follow moves nothing";
  EXPECT_TRUE(Follow(reading, *ReadRecord(lines[1])));
}

TEST(ChainTest, TextThatIsNoUtf8MakesARecordThatHolds) {
  ChainHead head;
  const auto record =
      ReadRecord(WithoutNewline(MakeRecord(head, {{"kind", "x"}, {"text", "a\xff\xed\xa0\x80"}})));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_THAT(record->body["text"].get<std::string>(), HasSubstr("\ufffd"));
}

}  // namespace
}  // namespace gloveport
