#include "gloveport/tools/builtin/ask_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

// Answers from another thread, as a dialogue would; or never.
class Person : public UserPrompt {
 public:
  enum class Mood { kAnswers, kRefuses, kSilent };
  explicit Person(std::string answer) : answer_(std::move(answer)) {}
  explicit Person(Mood mood) : mood_(mood) {}
  ~Person() override {
    if (thread_.joinable()) thread_.join();
  }
  void Ask(const UserQuestion& question, Answer answer) override {
    asked = question;
    if (mood_ == Mood::kSilent) return;
    thread_ = std::thread([this, answer] {
      if (mood_ == Mood::kRefuses) answer(std::nullopt);
      answer(answer_);
      answer("a later one");
    });
  }
  void Withdraw(std::uint64_t id) override { withdrawn = id; }

  UserQuestion asked;
  std::uint64_t withdrawn = 0;

 private:
  const Mood mood_ = Mood::kAnswers;
  const std::string answer_;
  std::thread thread_;
};

std::shared_ptr<Tool> Made(std::shared_ptr<UserPrompt> prompt,
                           std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  auto tool = MakeAskUser({std::move(prompt), timeout, 100});
  EXPECT_TRUE(tool);
  return *tool;
}

TEST(AskUser, GivesThePersonsAnswer) {
  const auto person = std::make_shared<Person>("blue");
  EXPECT_EQ(
      Said(*Made(person), {{"question", "Which?"}, {"choices", Value::List{Value("red"), Value("blue")}}}),
      "'blue'");
  EXPECT_EQ(person->asked.question, "Which?");
  EXPECT_EQ(person->asked.choices, (std::vector<std::string>{"red", "blue"}));
  EXPECT_TRUE(Made(person)->spec().waits_for_person);
}

TEST(AskUser, SaysWhyThereIsNoAnswer) {
  EXPECT_THAT(Said(*Made(nullptr), {{"question", "Which?"}}), HasSubstr("nobody is there"));
  EXPECT_THAT(Said(*Made(std::make_shared<Person>(Person::Mood::kRefuses)), {{"question", "Which?"}}),
              HasSubstr("did not want to answer"));
  EXPECT_THAT(Said(*Made(std::make_shared<Person>("green")),
                   {{"question", "Which?"}, {"choices", Value::List{Value("red")}}}),
              HasSubstr("none of the choices"));
  EXPECT_THAT(Said(*Made(std::make_shared<Person>("x")), {{"question", ""}}), HasSubstr("is empty"));
  EXPECT_THAT(Said(*Made(std::make_shared<Person>("x")), {{"question", std::string(200, 'x')}}),
              HasSubstr("more than 100"));
}

TEST(AskUser, WithdrawsWhatNobodyAnswers) {
  const auto person = std::make_shared<Person>(Person::Mood::kSilent);
  EXPECT_THAT(Said(*Made(person, std::chrono::milliseconds(20)), {{"question", "Which?"}}),
              HasSubstr("nobody answered in time"));
  EXPECT_EQ(person->withdrawn, person->asked.id);
  std::stop_source stop;
  stop.request_stop();
  CallContext context;
  context.stop = stop.get_token();
  EXPECT_FALSE(CallTool(*Made(person), {{"question", "Which?"}}, context));
  EXPECT_EQ(person->withdrawn, person->asked.id);
}

}  // namespace
}  // namespace gloveport
