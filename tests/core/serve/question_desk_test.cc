#include "gloveport/core/serve/question_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class QuestionDeskTest : public testing::Test {
 protected:
  void Attach() {
    desk_.Attach("a", {[this](const ClientQuestion& question) { asked_.push_back(question.id); },
                       [this](std::uint64_t id) { withdrawn_.push_back(id); }});
  }
  void Ask(std::uint64_t id, std::vector<std::string> choices = {}, std::string session = "a") {
    desk_.Ask({id, std::move(session), "Which?", std::move(choices)},
              [this, id](std::optional<std::string> answer) {
                answers_.push_back(std::to_string(id) + ":" + answer.value_or("nothing"));
              });
  }

  QuestionDesk desk_;
  std::vector<std::uint64_t> asked_;
  std::vector<std::uint64_t> withdrawn_;
  std::vector<std::string> answers_;
};

TEST_F(QuestionDeskTest, TakesEachAnswerOnce) {
  Attach();
  Ask(1);
  Ask(2);
  EXPECT_THAT(asked_, ElementsAre(1, 2));
  EXPECT_TRUE(desk_.Reply(2, "two"));
  EXPECT_TRUE(desk_.Reply(1, std::nullopt));
  EXPECT_THAT(answers_, ElementsAre("2:two", "1:nothing"));
  EXPECT_EQ(desk_.Reply(1, "late").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(desk_.Reply(77, "early").error().code, ErrorCode::kNotFound);
}

TEST_F(QuestionDeskTest, WaitsOnWhereTheAnswerCannotBeOne) {
  Attach();
  Ask(1, {"yes", "no"});
  EXPECT_EQ(desk_.Reply(1, "maybe").error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_TRUE(desk_.Reply(1, "no"));
  Ask(2);
  EXPECT_EQ(desk_.Reply(2, std::string(QuestionDesk::kMaxAnswerBytes + 1, 'x')).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(desk_.Reply(2, std::string(QuestionDesk::kMaxAnswerBytes, 'x')));
  EXPECT_EQ(answers_.size(), 2u);
}

TEST_F(QuestionDeskTest, HasNobodyToAskWithoutAClient) {
  Ask(1);
  Attach();
  Ask(2, {}, "b");
  desk_.Close();
  Ask(3);
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_THAT(answers_, ElementsAre("1:nothing", "2:nothing", "3:nothing"));
}

TEST_F(QuestionDeskTest, LetsNobodyWaitWhenSomeoneGoes) {
  Attach();
  Ask(1);
  Ask(2);
  desk_.Withdraw(1);
  desk_.Withdraw(1);
  EXPECT_THAT(withdrawn_, ElementsAre(1));
  EXPECT_EQ(desk_.Reply(1, "late").error().code, ErrorCode::kNotFound);
  desk_.Detach("a");
  EXPECT_THAT(answers_, ElementsAre("2:nothing"));
  Attach();
  Ask(3);
  desk_.Close();
  EXPECT_THAT(answers_, ElementsAre("2:nothing", "3:nothing"));
}

TEST(QuestionEventTest, NamesTheSessionAsTheClientDoes) {
  EXPECT_EQ(DumpJson(QuestionEvent({4, "host-id", "Which?", {"a", "b"}}, "s1")),
            R"({"question":4,"session":"s1","text":"Which?","choices":["a","b"]})");
  EXPECT_EQ(DumpJson(QuestionEvent({5, "host-id", "bad \xff", {}}, "s2")),
            "{\"question\":5,\"session\":\"s2\",\"text\":\"bad \xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace gloveport
