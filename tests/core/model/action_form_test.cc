#include "gloveport/core/model/action_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::HasSubstr;

TEST(ActionForm, NamesGoBothWays) {
  for (const ActionForm form : {ActionForm::kText, ActionForm::kJson, ActionForm::kTool}) {
    EXPECT_EQ(ParseActionForm(ActionFormName(form)), form);
  }
  EXPECT_FALSE(ParseActionForm("xml"));
  EXPECT_EQ(SimplerForm(ActionForm::kTool), ActionForm::kJson);
  EXPECT_EQ(SimplerForm(ActionForm::kJson), ActionForm::kText);
  EXPECT_EQ(SimplerForm(ActionForm::kText), ActionForm::kText);
}

TEST(ActionForm, SchemaAsksForExactlyThoughtAndCode) {
  const Json schema = ActionSchema();
  EXPECT_EQ(schema["required"], Json::array({"thought", "code"}));
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["code"]["type"], "string");
}

TEST(ActionForm, ReadsACall) {
  const auto action = ReadToolCall("execute_code", R"({"thought":"t","code":"print(1)\n"})");
  EXPECT_EQ(action.thought, "t");
  EXPECT_EQ(action.code, "print(1)\n");
  EXPECT_EQ(action.problem, "");
  EXPECT_EQ(ReadToolCall("execute_code", R"({"code":"1"})").code, "1");
}

TEST(ActionForm, CallsThatCannotBeUsedSayWhy) {
  struct Case {
    const char* name;
    const char* arguments;
    const char* problem;
  };
  static constexpr Case kCases[] = {
      {"lookup", R"({"key":"a"})", "there is no tool \"lookup\"; call execute_code with"},
      {"", "{}", "there is no tool \"\""},
      {"execute_code", "{\"code\": \"1", "the arguments of execute_code are no JSON"},
      {"execute_code", "", "the arguments of execute_code are no JSON"},
      {"execute_code", "print(1)", "the arguments of execute_code are no JSON"},
      {"execute_code", "[]", "the arguments of execute_code have no text \"code\""},
      {"execute_code", R"({"code":7})", "the arguments of execute_code have no text \"code\""},
      {"execute_code", R"({"source":"1"})", "the arguments of execute_code have no text \"code\""},
  };
  for (const Case& c : kCases) {
    const auto action = ReadToolCall(c.name, c.arguments);
    EXPECT_THAT(action.problem, HasSubstr(c.problem));
    EXPECT_EQ(action.code, "");
  }
  EXPECT_EQ(ReadToolCall("\x1b[2J", "{}").problem.find('\x1b'), std::string::npos);
}

TEST(ActionForm, ReadsStructuredOutput) {
  for (const char* text : {R"({"thought":"t","code":"c"})", " \n{\"thought\":\"t\",\"code\":\"c\"}\n",
                           "```json\n{\"thought\":\"t\",\"code\":\"c\"}\n```"}) {
    const auto action = ReadStructured(text);
    ASSERT_TRUE(action) << text;
    EXPECT_EQ(action->form, ActionForm::kJson);
    EXPECT_EQ(action->thought, "t");
    EXPECT_EQ(action->code, "c");
  }
  for (const char* text : {"", "print(1)", "{}", R"({"code":null})", R"({"thought":"t","code":"c")", "[1]"}) {
    EXPECT_FALSE(ReadStructured(text)) << text;
  }
}

TEST(ActionForm, JsonOfAnActionIsReadBackAsIt) {
  CodeAction action;
  action.thought = "a \"b\"";
  action.code = "x = '\\n'\n\xc3\xa4";
  EXPECT_EQ(ReadToolCall("execute_code", ActionJson(action)), action);
}

TEST(ActionForm, TextHasThoughtsAndABlockThatTheCodeCannotEnd) {
  CodeAction action;
  action.thought = "why";
  action.code = "print(1)";
  EXPECT_EQ(ActionText("", action), "why\n```python\nprint(1)\n```");
  EXPECT_EQ(ActionText("said ", action), "said\n\nwhy\n```python\nprint(1)\n```");
  action.thought = "";
  action.code = "s = '```'\n";
  EXPECT_EQ(ActionText("", action), "````python\ns = '```'\n````");
  action.code = "";
  EXPECT_EQ(ActionText("only words", action), "only words");
}

}  // namespace
}  // namespace gloveport
