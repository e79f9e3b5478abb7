#include "gloveport/core/model/recording.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/model/recorder.h"
#include "gloveport/core/model/replayer.h"
#include "gloveport/core/model/scripted.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-test-0123456789abcdef";

// Says what it was made with, in turn.
class Parrot : public Model {
 public:
  explicit Parrot(std::vector<Result<ChatReply>> replies) : replies_(std::move(replies)) {}
  const std::string& name() const override { return name_; }
  ActionForm action_form() const override { return ActionForm::kTool; }
  Result<ChatReply> Complete(const ChatRequest& request) override {
    auto reply = replies_.at(next_++);
    if (reply) PlayDeltas(request, *reply);
    return reply;
  }

 private:
  std::string name_ = "parrot:1";
  std::vector<Result<ChatReply>> replies_;
  std::size_t next_ = 0;
};

ChatReply Said(std::string content) {
  ChatReply reply;
  reply.content = std::move(content);
  reply.finish_reason = "stop";
  reply.model = "parrot-1";
  return reply;
}

ChatReply Called() {
  ChatReply reply = Said("calling");
  reply.form = ActionForm::kTool;
  reply.reasoning = "because";
  reply.finish_reason = "tool_calls";
  reply.opaque = "[1]";
  reply.action = CodeAction{ActionForm::kTool, "call_1", "look", "print(1)\n", ""};
  reply.usage = {10, 20, 3, 4, 5, true};
  return reply;
}

ChatRequest Asked(std::vector<ChatMessage> messages) {
  ChatRequest request;
  request.messages = std::move(messages);
  request.stop = {"END"};
  request.temperature = 0.5;
  request.max_tokens = 99;
  request.form = ActionForm::kTool;
  return request;
}

// A run of three exchanges, recorded: a call, what came of it, an error.
class Recorded : public testing::Test {
 protected:
  Recorded() {
    const ChatReply called = Called();
    first_ = Asked({{Role::kSystem, "be good"}, {Role::kUser, "goal\nin two lines"}});
    second_ = first_;
    second_.messages.push_back({Role::kAssistant, called.content, called.action, called.opaque});
    second_.messages.push_back({Role::kUser, "it printed 1"});
    third_ = second_;
    third_.messages.push_back({Role::kAssistant, "done"});
    auto recorder = Recorder::Create(std::make_unique<Parrot>(std::vector<Result<ChatReply>>{
                                         called, Said(fmt::format("your key is {}", kKey)),
                                         Fail(ErrorCode::kIo, "the server is gone", "wait")}),
                                     file_, {kKey, ""});
    EXPECT_TRUE(recorder.has_value());
    for (const ChatRequest& request : {first_, second_, third_}) (void)(*recorder)->Complete(request);
    EXPECT_EQ((*recorder)->name(), "parrot:1");
    EXPECT_EQ((*recorder)->action_form(), ActionForm::kTool);
  }

  std::unique_ptr<Replayer> Load(ReplayMatch match) {
    return std::move(Replayer::Load(file_, match).value());
  }
  std::string Text() { return ReadFile(file_).value(); }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "run.jsonl";
  ChatRequest first_, second_, third_;
};

TEST_F(Recorded, OneLineForEachExchangeWithoutWhatWasThereBefore) {
  const std::string text = Text();
  const auto lines = SplitLines(text);
  ASSERT_EQ(lines.size(), 3u);
  const Json second = ParseJson(lines[1]).value();
  EXPECT_EQ(second["version"], 1);
  EXPECT_EQ(second["model"], "parrot:1");
  EXPECT_EQ(second["same"], 2);
  EXPECT_EQ(second["request"]["messages"].size(), 2u);
  EXPECT_EQ(second["request"]["stop"], Json::array({"END"}));
  EXPECT_EQ(ParseJson(lines[2]).value()["error"]["code"], "io");
}

TEST_F(Recorded, HoldsNoKeyAndIsForItsOwnerOnly) {
  EXPECT_THAT(Text(), Not(HasSubstr("sk-test")));
  EXPECT_THAT(Text(), HasSubstr("your key is [secret]"));
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Recorded, IsPlayedAsItWas) {
  const auto replayer = Load(ReplayMatch::kPrompt);
  EXPECT_EQ(replayer->name(), "replay:" + file_.string());
  EXPECT_TRUE(replayer->scripted());
  EXPECT_EQ(replayer->action_form(), ActionForm::kTool);
  const auto called = replayer->Complete(first_);
  ASSERT_TRUE(called.has_value()) << called.error().message;
  const ChatReply expected = Called();
  EXPECT_EQ(called->content, expected.content);
  EXPECT_EQ(called->reasoning, expected.reasoning);
  EXPECT_EQ(called->finish_reason, expected.finish_reason);
  EXPECT_EQ(called->usage, expected.usage);
  EXPECT_EQ(called->model, expected.model);
  EXPECT_EQ(called->form, expected.form);
  EXPECT_EQ(called->action, expected.action);
  EXPECT_EQ(called->opaque, expected.opaque);
  EXPECT_EQ(replayer->Complete(second_)->content, "your key is [secret]");
  const auto failed = replayer->Complete(third_);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error(), (Error{ErrorCode::kIo, "the server is gone", "wait"}));
  const auto ended = replayer->Complete(third_);
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::kClosed);
  EXPECT_THAT(ended.error().message, HasSubstr("holds 3 exchanges and one more was asked for"));
}

TEST_F(Recorded, DeltasTogetherAreTheReply) {
  std::map<ChatDelta::Kind, std::string> texts;
  first_.on_delta = [&](const ChatDelta& delta) { texts[delta.kind] += delta.text; };
  ASSERT_TRUE(Load(ReplayMatch::kPrompt)->Complete(first_).has_value());
  EXPECT_EQ(texts[ChatDelta::Kind::kContent], "calling");
  EXPECT_EQ(texts[ChatDelta::Kind::kReasoning], "because");
  EXPECT_EQ(texts[ChatDelta::Kind::kThought], "look");
  EXPECT_EQ(texts[ChatDelta::Kind::kCode], "print(1)\n");
}

TEST_F(Recorded, AgentsThatRanSideBySideMayAskInAnotherOrder) {
  const auto replayer = Load(ReplayMatch::kPrompt);
  EXPECT_TRUE(replayer->Complete(second_).has_value());
  EXPECT_EQ(replayer->Complete(first_)->content, "calling");
}

TEST_F(Recorded, AnotherPromptIsRefusedWithItsFirstDifference) {
  const auto with = [&](auto change) {
    ChatRequest request = second_;
    change(request);
    return request;
  };
  const std::pair<ChatRequest, const char*> cases[] = {
      {with([](auto& r) { r.messages[1].content = "goal\nin three lines"; }),
       "message 2 (user), line 2: recorded \"in two lines\", now \"in three lines\""},
      {with([](auto& r) { r.messages[1].content = "goal"; }),
       "message 2 (user), line 2: recorded \"in two lines\", now no such line"},
      {with([](auto& r) { r.messages[1].role = Role::kAssistant; }),
       "message 2: recorded as of the user, now of the assistant"},
      {with([](auto& r) { r.messages[2].action->code = "print(2)"; }),
       "its action, line 5: recorded \"print(1)\", now \"print(2)\""},
      {with([](auto& r) { r.messages.pop_back(); }), "recorded with 4 messages, now 3"},
      {with([](auto& r) { r.stop.clear(); }), "the stop sequences"},
      {with([](auto& r) { r.temperature = 1; }), "the temperature: recorded 0.5, now 1"},
      {with([](auto& r) { r.max_tokens.reset(); }), "the limit of tokens: recorded 99, now none"},
      {with([](auto& r) { r.form = ActionForm::kText; }), "the form of actions: recorded tool, now text"},
  };
  for (const auto& [request, difference] : cases) {
    const auto replayer = Load(ReplayMatch::kPrompt);
    ASSERT_TRUE(replayer->Complete(first_).has_value());
    const auto refused = replayer->Complete(request);
    ASSERT_FALSE(refused.has_value()) << difference;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(
        refused.error().message,
        HasSubstr(fmt::format("exchange 2 of {} was recorded for another request: ", file_.string())));
    EXPECT_THAT(refused.error().message, HasSubstr(difference));
    EXPECT_THAT(refused.error().hint, HasSubstr("match=order"));
    EXPECT_TRUE(replayer->Complete(second_).has_value()) << "it is not used up by a refusal";
  }
}

TEST(FirstDifference, MeasuredTimesDoNotCount) {
  const auto asked = [](std::string content) { return Asked({{Role::kUser, std::move(content)}}); };
  EXPECT_EQ(FirstDifference(asked("ran (0.07 s). (a"), asked("ran (12.00 s). (a")), std::nullopt);
  EXPECT_TRUE(FirstDifference(asked("ran (0.07 s)."), asked("ran (0.07 m).")));
  EXPECT_TRUE(FirstDifference(asked("gives (1)"), asked("gives (2)")));
  EXPECT_TRUE(FirstDifference(asked("1 s)"), asked("2 s)")));
}

TEST_F(Recorded, ByOrderAloneAnyPromptIsAnswered) {
  const auto replayer = Load(ReplayMatch::kOrder);
  EXPECT_EQ(replayer->Complete({})->content, "calling");
  EXPECT_EQ(replayer->Complete({})->content, "your key is [secret]");
  EXPECT_EQ(replayer->Complete({}).error().message, "the server is gone");
  EXPECT_EQ(replayer->Complete({}).error().code, ErrorCode::kClosed);
}

TEST_F(Recorded, CancelAndDeadlineEndIt) {
  std::stop_source stop;
  stop.request_stop();
  first_.cancel = stop.get_token();
  EXPECT_EQ(Load(ReplayMatch::kPrompt)->Complete(first_).error().code, ErrorCode::kClosed);
  second_.deadline = Deadline::After(std::chrono::nanoseconds(0));
  EXPECT_EQ(Load(ReplayMatch::kPrompt)->Complete(second_).error().code, ErrorCode::kDeadlineExceeded);
}

TEST_F(Recorded, AFileThatExistsIsNotOverwritten) {
  const auto recorder =
      Recorder::Create(std::make_unique<Scripted>("s", std::vector<std::string>{"a"}), file_, {});
  ASSERT_FALSE(recorder.has_value());
  EXPECT_EQ(recorder.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(recorder.error().message, HasSubstr("exists already"));
}

TEST_F(Recorded, WhatWasCancelledIsNotRecorded) {
  const auto file = folder_ / "cancelled.jsonl";
  auto recorder = Recorder::Create(std::make_unique<Scripted>("s", std::vector<std::string>{"a"}), file, {});
  std::stop_source stop;
  stop.request_stop();
  first_.cancel = stop.get_token();
  EXPECT_FALSE((*recorder)->Complete(first_).has_value());
  EXPECT_EQ(ReadFile(file).value(), "");
}

TEST(Recording, FullDiskIsAnError) {
  auto recorder =
      Recorder::Create(std::make_unique<Scripted>("s", std::vector<std::string>{"a"}), "/dev/full", {});
  EXPECT_FALSE(recorder.has_value());  // exists: nothing but a new file is written
}

TEST(Recording, MistakesInAFileAreNamedWithTheirLine) {
  const TemporaryFolder folder;
  const auto file = folder / "r.jsonl";
  const std::string good =
      R"({"version":1,"model":"m","same":0,"request":{"messages":[]},"reply":{"content":"a"}})";
  const std::pair<std::string, const char*> cases[] = {
      {"", "holds no exchanges"},
      {"{", "line 1: "},
      {"[]", "line 1: this is no JSON object"},
      {R"({"content":"a"})", "no line of a recording of version 1"},
      {R"({"version":2})", "no line of a recording of version 1"},
      {good + "\n" + R"({"version":1,"same":0,"request":{}})",
       "line 2: there is neither a \"reply\" nor an \"error\""},
      {R"({"version":1,"same":3,"reply":{}})", "\"same\" is more than the messages of the line before"},
      {R"({"version":1,"request":{"messages":[{"role":"tool"}]},"reply":{}})",
       "a message has no role that is known"},
  };
  for (const auto& [text, message] : cases) {
    ASSERT_TRUE(WriteFile(file, text));
    const auto replayer = Replayer::Load(file, ReplayMatch::kPrompt);
    ASSERT_FALSE(replayer.has_value()) << text;
    EXPECT_THAT(replayer.error().message, HasSubstr(file.string()));
    EXPECT_THAT(replayer.error().message, HasSubstr(message));
  }
  ASSERT_TRUE(WriteFile(file, good + "\n\n"));
  EXPECT_TRUE(Replayer::Load(file, ReplayMatch::kPrompt).has_value());
  EXPECT_EQ(Replayer::Load(folder / "absent", ReplayMatch::kPrompt).error().code, ErrorCode::kNotFound);
}

TEST(Recording, PiecesAreWholeWords) {
  const std::string text = "Some words, and\nlines of them.";
  std::string all;
  for (const auto piece : StreamPieces(text)) {
    EXPECT_FALSE(piece.empty());
    all += piece;
  }
  EXPECT_EQ(all, text);
  EXPECT_GT(StreamPieces(text).size(), 1u);
  EXPECT_TRUE(StreamPieces("").empty());
}

}  // namespace
}  // namespace gloveport
