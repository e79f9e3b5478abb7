#include "gloveport/core/model/scripted.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <thread>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class ScriptedFile : public testing::Test {
 protected:
  ScriptedFile() {
    std::string folder = (std::filesystem::temp_directory_path() / "gloveport-script-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    file_ = folder_ / "transcript.jsonl";
  }
  ~ScriptedFile() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<Scripted>> Load(std::string_view text) {
    EXPECT_TRUE(WriteFile(file_, text).has_value());
    return Scripted::Load(file_);
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST(Scripted, HandsItsAnswersOnInPieces) {
  Scripted model("s", {"One sentence of several words. Observation: invented"});
  std::string content;
  int pieces = 0;
  ChatRequest request;
  request.stop = {"Observation:"};
  request.on_delta = [&](const ChatDelta& delta) {
    EXPECT_EQ(delta.kind, ChatDelta::Kind::kContent);
    content += delta.text;
    ++pieces;
  };
  EXPECT_EQ(model.Complete(request)->content, "One sentence of several words. ");
  EXPECT_EQ(content, "One sentence of several words. ");
  EXPECT_GT(pieces, 1);
}

TEST_F(ScriptedFile, PlaysItsAnswersInOrder) {
  const auto model = Load(
      "# a comment\n\n{\"content\": \"one\\n\", \"note\": \"first\"}\r\n  "
      "{\"content\":\"\"}\n{\"content\":\"three\"}");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_TRUE((*model)->scripted());
  EXPECT_EQ((*model)->name(), "scripted:" + file_.string());
  const auto first = (*model)->Complete({});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->content, "one\n");
  EXPECT_EQ(first->finish_reason, "stop");
  EXPECT_EQ((*model)->Complete({})->content, "");
  EXPECT_EQ((*model)->Complete({})->content, "three");
}

TEST_F(ScriptedFile, EndThatComesTooEarlyIsExplained) {
  const auto model = Load("{\"content\":\"one\"}\n{\"content\":\"two\"}\n");
  ASSERT_TRUE(model.has_value());
  (void)(*model)->Complete({});
  (void)(*model)->Complete({});
  const auto reply = (*model)->Complete({});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kClosed);
  EXPECT_EQ(
      reply.error().message,
      fmt::format("the script {} has ended: it holds 2 answers and answer 3 was asked for", file_.string()));
  EXPECT_THAT(reply.error().hint, HasSubstr("final_answer"));
}

TEST_F(ScriptedFile, MalformedLinesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"{\"content\":\"a\"}\n{\"content\":", "line 2: "},
      {"{\"content\":7}", "line 1: \"content\" is no text"},
      {"{\"contents\":\"a\"}", "line 1: unknown key \"contents\""},
      {"{\"note\":\"a\"}", "line 1: \"content\" is missing"},
      {"{\"content\":\"a\",\"note\":1}", "line 1: \"note\" is no text"},
      {"[\"a\"]", "line 1: this is no JSON object"},
      {"\"a\"", "line 1: this is no JSON object"},
      {"{\"content\":\"a\"} {\"content\":\"b\"}", "line 1: "},
      {"{\"content\":\"a\",\"content\":\"b\"}", "line 1: "},
      {"", "holds no answers"},
      {"# only this\n\n", "holds no answers"},
  };
  for (const auto& [text, message] : cases) {
    const auto model = Load(text);
    ASSERT_FALSE(model.has_value()) << text;
    EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(model.error().message, HasSubstr(message));
    EXPECT_THAT(model.error().message, HasSubstr(file_.string()));
  }
}

TEST_F(ScriptedFile, FileThatIsNotThereIsNotFound) {
  const auto model = Scripted::Load(folder_ / "absent.jsonl");
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(model.error().message, HasSubstr("absent.jsonl"));
  EXPECT_FALSE(Scripted::Load(folder_).has_value());
}

TEST(Scripted, ObeysStopSequencesDeadlineAndCancel) {
  Scripted model("s", {"one END two", "three"});
  std::stop_source stop;
  stop.request_stop();
  ChatRequest cancelled;
  cancelled.cancel = stop.get_token();
  EXPECT_EQ(model.Complete(cancelled).error().code, ErrorCode::kClosed);
  ChatRequest late;
  late.deadline = Deadline::After(std::chrono::seconds(0));
  EXPECT_EQ(model.Complete(late).error().code, ErrorCode::kDeadlineExceeded);
  ChatRequest request;
  request.stop = {"END"};
  EXPECT_EQ(model.Complete(request)->content, "one ");  // neither refusal has used up an answer
  EXPECT_EQ(model.Complete(request)->content, "three");
}

TEST(Scripted, GivesEachAnswerOnceToManyThreads) {
  std::vector<std::string> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(std::to_string(i));
  Scripted model("s", answers);
  std::vector<std::string> seen[4];
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([&] {
        while (const auto reply = model.Complete({})) mine.push_back(reply->content);
      });
    }
  }
  std::multiset<std::string> all;
  for (const auto& mine : seen) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all, std::multiset<std::string>(answers.begin(), answers.end()));
}

}  // namespace
}  // namespace gloveport
