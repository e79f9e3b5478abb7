#include "gloveport/core/serve/mcp/approval_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  EXPECT_THAT(message, HasSubstr("send_mail(to=\"a@example.org"));
  EXPECT_THAT(message, HasSubstr("times=3"));
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

TEST(ApprovalForm, ShowsTheCodeOfACellAndIsBounded) {
  ApprovalRequest request;
  request.subject = ApprovalSubject::kCell;
  request.code = "import sqlite3\n" + std::string(100'000, 'x');
  const std::string message = ApprovalForm(request)["message"];
  EXPECT_THAT(message, HasSubstr("import sqlite3\n"));
  EXPECT_LT(message.size(), 10'000u);
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
