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
  Memory memory("s", "t", {.max_bytes = 1, .whole_turns = 0});
  memory.Add(
      {.reply = "r", .observation = "o", .brief_reply = "much longer", .brief_observation = "longer, too"});
  EXPECT_EQ(memory.Messages()[2].content, "r");
  EXPECT_EQ(memory.Messages()[3].content, "o");
}

}  // namespace
}  // namespace gloveport
