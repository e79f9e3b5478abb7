#include "gloveport/tools/builtin/memory_tools.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/temporary_folder.h"

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class MemoryTools : public testing::Test {
 protected:
  Tools Made() {
    auto tools = MakeMemoryTools({file_, limits_});
    EXPECT_TRUE(tools) << tools.error().message;
    return tools ? *tools : Tools();
  }
  static std::string Remember(const Tools& tools, std::string_view key, Value value) {
    return Said(tools, "remember", {{"key", key}, {"value", std::move(value)}});
  }
  static std::string Recall(const Tools& tools, std::string_view key) {
    return Said(tools, "recall", {{"key", key}});
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "memory.json";
  MemoryLimits limits_;
};

TEST_F(MemoryTools, KeepValuesForLaterSessions) {
  EXPECT_EQ(Remember(Made(), "a", Value(Form::kTuple, Value(Value::List{Value(1), Value(Value::Bytes(2))}))),
            "None");
  EXPECT_EQ(Remember(Made(), "b", Value::Object({{"$x", 1.5}})), "None");
  const auto later = Made();
  EXPECT_EQ(Recall(later, "a"), "(1, b'\\x00\\x00')");
  EXPECT_EQ(Recall(later, "b"), "{'$x': 1.5}");
  EXPECT_EQ(Recall(later, "none"), "None");
  EXPECT_EQ(Said(later, "recall", {{"key", "none"}, {"default", 7}}), "7");
  EXPECT_EQ(Said(later, "recall_keys", {}), "['a', 'b']");
  EXPECT_EQ(Said(later, "recall_keys", {{"prefix", "b"}}), "['b']");
  EXPECT_EQ(Remember(later, "a", Value()), "None");
  EXPECT_EQ(Said(later, "recall_keys", {}), "['b']");
}

TEST_F(MemoryTools, ReplaceTheFileAsAWholeAndForItsOwnerOnly) {
  const auto tools = Made();
  Remember(tools, "a", Value(1));
  struct stat before {};
  ASSERT_EQ(::stat(file_.c_str(), &before), 0);
  EXPECT_EQ(before.st_mode & 0777, 0600u);
  const UniqueFd reader(::open(file_.c_str(), O_RDONLY));
  Remember(tools, "a", Value(2));
  struct stat after {};
  ASSERT_EQ(::stat(file_.c_str(), &after), 0);
  EXPECT_NE(before.st_ino, after.st_ino);
  std::string old(100, '\0');
  old.resize(static_cast<std::size_t>(::read(reader.get(), old.data(), old.size())));
  EXPECT_EQ(old, "{\"version\":1,\"entries\":{\"a\":1}}\n");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path())) ++files;
  EXPECT_EQ(files, 2u);  // and the lock
}

TEST_F(MemoryTools, LoseNothingWhereSeveralWrite) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      const auto tools = Made();  // a file object of its own, as another process has
      for (int i = 0; i < 10; ++i)
        Remember(tools, std::to_string(thread) + "." + std::to_string(i), Value(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto keys = CallTool(*FindTool(Made(), "recall_keys"), {});
  EXPECT_EQ(keys->as_list().size(), 40u);
}

TEST_F(MemoryTools, HoldTheirLimits) {
  limits_ = {2, 10, 20, 70};
  const auto tools = Made();
  EXPECT_THAT(Remember(tools, "", Value(1)), HasSubstr("a key has from 1 to 10 bytes"));
  EXPECT_THAT(Remember(tools, "12345678901", Value(1)), HasSubstr("a key has from 1 to 10 bytes"));
  EXPECT_THAT(Remember(tools, "a", Value(std::string(30, 'x'))), HasSubstr("32 bytes as JSON, more than 20"));
  EXPECT_EQ(Remember(tools, "a", Value(std::string(18, 'x'))), "None");
  EXPECT_EQ(Remember(tools, "b", Value(1)), "None");
  EXPECT_THAT(Remember(tools, "c", Value(1)), HasSubstr("as many as there may be"));
  EXPECT_THAT(Remember(tools, "b", Value(std::string(18, 'y'))), HasSubstr("more than 70 bytes"));
  EXPECT_EQ(Recall(tools, "b"), "1");
}

TEST_F(MemoryTools, KeepNothingThatTheyCouldNotReadAgain) {
  const auto tools = Made();
  EXPECT_EQ(Remember(tools, "a", Value(1)), "None");
  Value deep = Value(1);
  for (int i = 0; i < 250; ++i) deep = Value(Value::List{std::move(deep)});
  EXPECT_THAT(Remember(tools, "b", deep), HasSubstr("cannot be kept"));
  EXPECT_EQ(Recall(tools, "a"), "1");
}

TEST_F(MemoryTools, TouchNoFileThatIsNotTheirs) {
  ASSERT_TRUE(WriteFile(file_, "{\"mine\": 1}"));
  const auto refused = MakeMemoryTools({file_, limits_});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no memory file"));
  EXPECT_EQ(*ReadFile(file_), "{\"mine\": 1}");
  ASSERT_TRUE(WriteFile(file_, "{\"version\": \"x\", \"entries\": {}}"));
  EXPECT_FALSE(MakeMemoryTools({file_, limits_}));
  EXPECT_FALSE(MakeMemoryTools({folder_ / "none/memory.json", limits_}));
  EXPECT_FALSE(MakeMemoryTools({"", limits_}));
}

}  // namespace
}  // namespace gloveport
