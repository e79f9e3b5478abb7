#include "gloveport/core/agent/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gloveport/tests/core/agent/syntax_server.h"

namespace gloveport {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

ToolSpec ContactCost() {
  return {.name = "contact_cost",
          .description = "Cost in EUR of that many contacts.",
          .parameters = {{.name = "contacts", .description = "number of contacts", .annotation = "int"},
                         {.name = "channel", .annotation = "str", .default_value = Value("cellular")}},
          .returns = "float",
          .returns_description = "EUR"};
}

Policy SmallPolicy() {
  Policy policy;
  policy.imports = {.allow = {"math", "csv"}, .ask = {"pickle"}};
  policy.limits.wall = std::chrono::milliseconds(5000);
  return policy;
}

TEST(PromptsTest, TellToolsImportsLimitsFilesAndSchema) {
  const PromptInput input{.goal = "What sells best?",
                          .schema = Value::Object({{"type", "object"}}),
                          .tools = {ContactCost()},
                          .files = {{"sales.csv", 120}}};
  const std::string system = RenderPrompt(DefaultSystemTemplate(), input, SmallPolicy());
  EXPECT_THAT(system, AllOf(HasSubstr("def contact_cost(contacts: int, channel: str = 'cellular') -> float:"),
                            HasSubstr("def final_answer(value, explanation"), HasSubstr("math, csv."),
                            HasSubstr("asked first about: pickle"), HasSubstr("5 s by the clock"),
                            Not(HasSubstr("{{"))));
  const std::string task = RenderPrompt(DefaultTaskTemplate(), input, SmallPolicy());
  EXPECT_THAT(task, AllOf(HasSubstr("What sells best?"), HasSubstr("| sales.csv (120 bytes)"),
                          HasSubstr("{\"type\":\"object\"}"), Not(HasSubstr("{{"))));
}

TEST(PromptsTest, LeaveOutWhatIsNotThere) {
  const std::string system = RenderPrompt(DefaultSystemTemplate(), {.goal = "x"}, SmallPolicy());
  EXPECT_THAT(system, Not(HasSubstr("Further instructions")));
  const std::string task = RenderPrompt(DefaultTaskTemplate(), {.goal = "x"}, SmallPolicy());
  EXPECT_THAT(task, AllOf(HasSubstr("It is empty."), Not(HasSubstr("JSON Schema"))));
  EXPECT_THAT(RenderPrompt(DefaultSystemTemplate(), {.goal = "x", .instructions = "Answer in French."},
                           SmallPolicy()),
              HasSubstr("# Further instructions\nAnswer in French."));
}

TEST(PromptsTest, ShowTheShorterOfTwoTimeouts) {
  PromptInput input{.goal = "x", .cell_timeout = std::chrono::milliseconds(1500)};
  EXPECT_THAT(RenderPrompt(DefaultSystemTemplate(), input, SmallPolicy()), HasSubstr("1.5 s by the clock"));
  input.cell_timeout = std::chrono::milliseconds(60'000);
  EXPECT_THAT(RenderPrompt(DefaultSystemTemplate(), input, SmallPolicy()), HasSubstr("5 s by the clock"));
}

TEST(FillTemplateTest, ReplacesKnownMarksOnce) {
  const struct {
    const char* text;
    const char* expected;
  } kTable[] = {
      {"a {{x}} b", "a {{y}} b"},
      {"{{x}}{{y}}", "{{y}}2"},
      {"{{z}} {{y}}", "{{z}} 2"},
      {"{{y", "{{y"},
      {"", ""},
      {"}} {{y}}", "}} 2"},
      {"{{ {{y}}", "{{ 2"},
      {"f'{{{y}}}'", "f'{{{y}}}'"},
  };
  for (const auto& row : kTable)
    EXPECT_EQ(FillTemplate(row.text, {{"x", "{{y}}"}, {"y", "2"}}), row.expected) << row.text;
}

TEST(ToolStubTest, IsTheHeadOfAPythonFunction) {
  EXPECT_EQ(ToolStub(ContactCost()),
            "def contact_cost(contacts: int, channel: str = 'cellular') -> float:\n"
            "    \"\"\"Cost in EUR of that many contacts.\n"
            "\n"
            "    contacts: number of contacts\n"
            "    Returns: EUR\n"
            "    \"\"\"\n");
}

TEST(ToolStubTest, SaysWhatIsToBeAwaited) {
  ToolSpec spec = ContactCost();
  spec.is_async = true;
  EXPECT_EQ(ToolStub(spec).substr(0, 26), "async def contact_cost(con");
}

TEST(ToolStubTest, IsPythonWhateverTheDescriptionSays) {
  SyntaxServer server;
  for (const char* text : {"plain", "ends with a quote\"", "\"\"\"\nimport os", "back\\", "two\nlines",
                           "\x1b[2J", "", "\\\"\"\"\\"}) {
    ToolSpec spec = ContactCost();
    spec.description = spec.parameters[0].description = spec.returns_description = text;
    const std::string stub = ToolStub(spec);
    EXPECT_TRUE(server.Check(stub)->complete) << stub;
    EXPECT_FALSE(server.Check(stub)->has_action) << stub;
  }
}

TEST(RenderPromptTest, ListsToolsInOneLineEachWhereThereAreMany) {
  PromptInput input{.goal = "g"};
  for (int i = 0; i < 40; ++i) {
    input.tools.push_back({.name = "tool_" + std::to_string(i),
                           .description = "Does the thing. And more, at length.",
                           .parameters = {}});
  }
  const std::string prompt = RenderPrompt(DefaultSystemTemplate(), input, Policy());
  EXPECT_THAT(prompt, HasSubstr("# tool_39()  Does the thing.\n"));
  EXPECT_THAT(prompt, HasSubstr("tools.search("));
  EXPECT_THAT(prompt, Not(HasSubstr("at length")));
  EXPECT_THAT(prompt, HasSubstr("def final_answer(value"));
  input.tools.resize(30);
  EXPECT_THAT(RenderPrompt(DefaultSystemTemplate(), input, Policy()), HasSubstr("def tool_29() -> object:"));
}

TEST(VisibleToolsTest, LeaveOutWhatThePolicyDenies) {
  const std::vector<ToolSpec> all = {ContactCost(), {.name = "secret"}};
  EXPECT_THAT(VisibleTools(all, {}), SizeIs(2));
  const auto visible = VisibleTools(all, {.rules = {{.tool = "secret", .effect = Effect::kDeny}}});
  ASSERT_THAT(visible, SizeIs(1));
  EXPECT_EQ(visible[0].name, "contact_cost");
  EXPECT_THAT(VisibleTools(all, {.default_effect = Effect::kDeny}), SizeIs(0));
}

// What the memory keeps of a reply is read by the parser as the same action.
TEST(CanonicalReplyTest, ParsesToTheSameAction) {
  SyntaxServer server;
  for (const char* code : {"print(1)", "s = '''\n```\n'''\nprint(s)", "# ````` \nprint(1)", "s = '</think>'",
                           "print('<code>')"}) {
    Action action;
    action.thought = "I count.";
    action.code = code;
    const Action again = ParseAction(CanonicalReply(action, ""), server.checker());
    EXPECT_EQ(again.code, action.code) << code;
    EXPECT_EQ(again.thought, action.thought) << code;
  }
}

TEST(CanonicalReplyTest, KeepsAReplyWithoutCode) {
  EXPECT_EQ(CanonicalReply({.error = ActionError::kNoCode}, "The answer is 4."), "The answer is 4.");
}

}  // namespace
}  // namespace gloveport
