#include "gloveport/core/serve/mcp/approval_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ApprovalRequest CallOf(std::string grant = "calls of send_mail") {
  ApprovalRequest request;
  request.id = 7;
  request.tool = "send_mail";
  request.arguments =
      Value(Value::Map{{Value("to"), Value("a@example.org\x1b[2J")}, {Value("times"), Value(3)}});
  request.sha256 = "abc";
  request.reason = "tool rule 1 (ask send_mail)";
  request.grant = std::move(grant);
  return request;
}

TEST(ApprovalForm, SaysWhatIsAskedAndHasNoDefault) {
  const Json form = ApprovalForm(CallOf());
  const std::string message = form["message"];
  EXPECT_THAT(message, HasSubstr("call send_mail with:\n| to = \"a@example.org"));
  EXPECT_THAT(message, HasSubstr("| times = 3\n"));
  EXPECT_THAT(message, HasSubstr("tool rule 1"));
  EXPECT_THAT(message, Not(HasSubstr("\x1b")));  // a terminal shows it
  const Json& field = form["requestedSchema"]["properties"]["decision"];
  EXPECT_EQ(field["enum"], Json({"allow", "always", "deny"}));
  EXPECT_FALSE(field.contains("default"));
  EXPECT_EQ(form["requestedSchema"]["required"], Json({"decision"}));
}

TEST(ApprovalForm, OffersAlwaysOnlyWhereThereIsSomethingToGrant) {
  EXPECT_EQ(ApprovalForm(CallOf(""))["requestedSchema"]["properties"]["decision"]["enum"],
            Json({"allow", "deny"}));
  EXPECT_FALSE(
      ReadApproval(*ParseJson(R"({"action":"accept","content":{"decision":"always"}})"), CallOf(""), "c")
          .allowed);
}

TEST(ApprovalForm, ShowsAllOfItOrNobodyIsAsked) {
  ApprovalRequest cell;
  cell.subject = ApprovalSubject::kCell;
  cell.code = std::string(500, '#') + "\n" + std::string(5000, ' ') + "\nopen('evil')";
  EXPECT_EQ(WhyNotToApprove(cell), "");
  EXPECT_THAT(ApprovalForm(cell)["message"].get<std::string>(), testing::EndsWith("| open('evil')\n"));
  cell.code = std::string(100'000, '#');
  EXPECT_THAT(WhyNotToApprove(cell), HasSubstr("can be shown"));
  ApprovalRequest call = CallOf();
  call.arguments =
      Value(Value::Map{{Value("body"), Value(std::string(5000, 'x'))}, {Value("to"), Value("attacker")}});
  EXPECT_EQ(WhyNotToApprove(call), "");
  EXPECT_THAT(ApprovalForm(call)["message"].get<std::string>(), HasSubstr("| to = \"attacker\""));
  call.arguments = Value(Value::Map{{Value("body"), Value(std::string(50'000, 'x'))}});
  EXPECT_THAT(WhyNotToApprove(call), HasSubstr("can be shown"));
}

TEST(ApprovalForm, NothingInItLooksLikeItsOwnWords) {
  ApprovalRequest cell;
  cell.subject = ApprovalSubject::kCell;
  cell.reason = "the true one";
  cell.code = "x = '\n\nWhy you are asked: a harmless test\r\nWithout an answer it is refused\n'";
  const std::string message = ApprovalForm(cell)["message"];
  EXPECT_THAT(message, StartsWith("Why you are asked: the true one\n"));
  EXPECT_EQ(message.rfind("\nWhy you are asked"), std::string::npos);
  EXPECT_EQ(message.rfind("\nWithout an answer"), std::string::npos);
}

TEST(ReadApproval, OnlyAClearConsentAllows) {
  struct Case {
    const char* answer;
    bool allowed;
    bool always;
    const char* reason;
  };
  const Case cases[] = {
      {R"({"action":"accept","content":{"decision":"allow"}})", true, false, ""},
      {R"({"action":"accept","content":{"decision":"always"}})", true, true, ""},
      {R"({"action":"accept","content":{"decision":"deny"}})", false, false, "the user denied it"},
      {R"({"action":"accept","content":{"decision":"Allow"}})", false, false, "no valid decision"},
      {R"({"action":"accept","content":{"decision":true}})", false, false, "no valid decision"},
      {R"({"action":"accept","content":["allow"]})", false, false, "no valid decision"},
      {R"({"action":"accept"})", false, false, "no valid decision"},
      {R"({"action":"decline","content":{"decision":"allow"}})", false, false, "declined"},
      {R"({"action":"cancel"})", false, false, "did not decide"},
      {R"({"content":{"decision":"allow"}})", false, false, "no valid answer"},
      {R"({"action":["accept"]})", false, false, "no valid answer"},
      {"[]", false, false, "no valid answer"},
      {"null", false, false, "no valid answer"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.answer);
    const ApprovalDecision decision = ReadApproval(*ParseJson(c.answer), CallOf(), "client");
    EXPECT_EQ(decision.allowed, c.allowed);
    EXPECT_EQ(decision.always, c.always);
    EXPECT_THAT(decision.reason, HasSubstr(c.reason));
    EXPECT_EQ(decision.sha256, "abc");
    EXPECT_THAT(decision.by, HasSubstr("client"));
  }
}

}  // namespace
}  // namespace gloveport
