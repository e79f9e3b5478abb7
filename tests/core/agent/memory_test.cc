#include "gloveport/core/agent/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gloveport {
namespace {

using ::testing::HasSubstr;

Turn BigTurn(int number, std::size_t bytes) {
  return {.reply = "reply " + std::to_string(number) + std::string(bytes, 'r'),
          .observation = "observation " + std::to_string(number) + std::string(bytes, 'o'),
          .brief_reply = "brief reply " + std::to_string(number),
          .brief_observation = "brief observation " + std::to_string(number)};
}

std::size_t Bytes(const std::vector<ChatMessage>& messages) {
  std::size_t bytes = 0;
  for (const ChatMessage& message : messages) bytes += message.content.size();
  return bytes;
}

TEST(MemoryTest, KeepsTheConversationInOrder) {
  Memory memory("system", "task");
  memory.Add({.reply = "a", .observation = "b"});
  const auto messages = memory.Messages();
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].role, Role::kSystem);
  EXPECT_EQ(messages[0].content, "system");
  EXPECT_EQ(messages[1].role, Role::kUser);
  EXPECT_EQ(messages[2].role, Role::kAssistant);
  EXPECT_EQ(messages[2].content, "a");
  EXPECT_EQ(messages[3].role, Role::kUser);
  EXPECT_EQ(messages[3].content, "b");
}

TEST(MemoryTest, ShortensOldestObservationsFirstThenReplies) {
  Memory memory("s", "t", {.max_bytes = 1000, .whole_turns = 1});
  for (int i = 0; i < 3; ++i) memory.Add(BigTurn(i, 140));
  auto messages = memory.Messages();  // three turns of about 300 bytes fit
  EXPECT_THAT(messages[3].content, HasSubstr("observation 0ooo"));
  memory.Add(BigTurn(3, 140));
  messages = memory.Messages();
  EXPECT_EQ(messages[3].content, "brief observation 0");
  EXPECT_EQ(messages[5].content, "brief observation 1");
  EXPECT_THAT(messages[2].content, HasSubstr("reply 0rrr"));
  EXPECT_THAT(messages[9].content, HasSubstr("observation 3ooo"));
  for (int i = 4; i < 8; ++i) memory.Add(BigTurn(i, 140));
  messages = memory.Messages();
  EXPECT_EQ(messages[2].content, "brief reply 0");
  EXPECT_THAT(messages.back().content, HasSubstr("observation 7ooo"));
}

TEST(MemoryTest, CountsWhatItHolds) {
  Memory memory("system", "task", {.max_bytes = 2000, .whole_turns = 2});
  for (int i = 0; i < 30; ++i) {
    memory.Add(BigTurn(i, 50 + static_cast<std::size_t>(i) * 7));
    ASSERT_EQ(memory.bytes(), Bytes(memory.Messages())) << i;
  }
}

TEST(MemoryTest, GrowsLinearlyOverFiftySteps) {
  Memory memory("system", "task");
  std::size_t before = memory.bytes();
  std::size_t first = 0;
  for (int i = 10; i < 60; ++i) {
    memory.Add(BigTurn(i, 1000));
    if (first == 0) first = memory.bytes() - before;
    EXPECT_EQ(memory.bytes() - before, first);
    before = memory.bytes();
  }
}

TEST(MemoryTest, HasNoEmptyMessages) {
  Memory memory("", "");
  memory.Add({});
  for (const ChatMessage& message : memory.Messages()) EXPECT_FALSE(message.content.empty());
}

TEST(MemoryTest, ABriefFormThatIsLongerIsNotTaken) {
  Memory memory("s", "t", {.max_bytes = 1, .whole_turns = 1});
  memory.Add(
      {.reply = "r", .observation = "o", .brief_reply = "much longer", .brief_observation = "longer, too"});
  EXPECT_EQ(memory.Messages()[2].content, "r");
  EXPECT_EQ(memory.Messages()[3].content, "o");
}

TEST(MemoryTest, SumsUpTheOldestTurnsWhenBriefFormsDoNotFitEither) {
  Memory memory("s", "t", {.max_bytes = 2000, .whole_turns = 2, .max_summary = 600});
  for (int i = 0; i < 60; ++i) {
    memory.Add(BigTurn(i, 300));
    const auto messages = memory.Messages();
    EXPECT_LE(Bytes(messages), 2000u + 100u) << i;
    EXPECT_THAT(messages.back().content, HasSubstr("observation " + std::to_string(i) + "ooo"));
  }
  const std::string task = memory.Messages()[1].content;
  EXPECT_THAT(task,
              HasSubstr("t\n\n# Earlier steps, in short\n1. brief reply 0 => brief observation 0\n2. "));
  EXPECT_THAT(task, HasSubstr("steps are left out here)\n"));
}

TEST(MemoryTest, NotesStandBehindTheLastMessageAndOutliveTheirTurn) {
  Memory memory("s", "t", {.max_bytes = 900, .whole_turns = 1});
  memory.AddNote("first note");
  EXPECT_EQ(memory.Messages()[1].content, "t\n\nfirst note");
  memory.Add({.reply = "r", .observation = "o"});
  memory.AddNote("second note");
  EXPECT_EQ(memory.Messages()[3].content, "o\n\nsecond note");
  for (int i = 0; i < 9; ++i) memory.Add(BigTurn(i, 300));
  EXPECT_THAT(memory.Messages()[1].content, HasSubstr("t\n\nfirst note\n\nsecond note"));
}

TEST(MemoryTest, ComesBackAsItWasSaved) {
  Memory memory("s", "t", {.max_bytes = 1500, .whole_turns = 2, .max_summary = 400});
  for (int i = 0; i < 40; ++i) {
    memory.Add(BigTurn(i, 200));
    if (i % 7 == 0) memory.AddNote("note " + std::to_string(i));
  }
  const auto loaded = Memory::Load(ParseJson(memory.Save().dump()).value(),
                                   {.max_bytes = 1500, .whole_turns = 2, .max_summary = 400});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  const auto before = memory.Messages();
  const auto after = loaded->Messages();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].content, after[i].content) << i;
  EXPECT_EQ(memory.bytes(), loaded->bytes());
  for (const char* none : {"[]", "{}", "1", R"({"turns": 3})"})
    EXPECT_FALSE(Memory::Load(ParseJson(none).value()).has_value()) << none;
}

}  // namespace
}  // namespace gloveport
