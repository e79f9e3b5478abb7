// All that can be said of a policy's text: every error and warning with its place, and where values come
// from.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/policy/codec.h"
#include "gloveport/policy/policy_source.h"

namespace gloveport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Errors(std::string_view text) {
  std::vector<std::string> shown;
  for (const PolicyError& error : CheckPolicy(text).errors)
    shown.push_back(fmt::format("{}:{} {}", error.line, error.column, error.message));
  return shown;
}

std::vector<std::string> Warnings(std::string_view text) {
  const PolicyReport report = CheckPolicy(text);
  EXPECT_TRUE(report.policy.has_value()) << text;
  std::vector<std::string> shown;
  for (const PolicyWarning& warning : report.warnings)
    shown.push_back(fmt::format("{}:{} {}", warning.line, warning.column, warning.message));
  return shown;
}

TEST(CheckPolicyTest, OneErrorDoesNotHideTheNext) {
  const auto errors = Errors(
      "{\n"
      " \"extends\": \"defualt\",\n"
      " \"import\": {},\n"
      " \"limits\": {\"wall_s\": \"5\", \"threads\": 0},\n"
      " \"tools\": {\"rules\": [{\"tool\": \"a\", \"effect\": \"no\"}, {\"tool\": \"b\", \"effect\": "
      "\"deny\",\n"
      "   \"where\": {\"p\": {\"matches\": \"(\"}}}]}}");
  EXPECT_THAT(errors,
              ElementsAre(HasSubstr("2:13 there is no preset"), HasSubstr("3:2 unknown key \"import\""),
                          HasSubstr("4:23 wall_s must be"), HasSubstr("4:39 threads must be"),
                          HasSubstr("5:46 effect cannot be"), HasSubstr("6:31 not a pattern")));
}

TEST(CheckPolicyTest, TextThatIsNoJsonHasOneError) {
  EXPECT_THAT(Errors("{\"imports\": }"), ElementsAre(HasSubstr("1:13 expected a value")));
  EXPECT_FALSE(CheckPolicy("[").policy.has_value());
}

TEST(CheckPolicyTest, GoodTextGivesThePolicyThatParsePolicyGives) {
  const std::string text = R"({"extends": "default", "imports": {"deny": ["sqlite3"]}})";
  const PolicyReport report = CheckPolicy(text);
  EXPECT_THAT(report.errors, IsEmpty());
  ASSERT_TRUE(report.policy);
  EXPECT_EQ(*report.policy, *ParsePolicy(text, "x"));
}

TEST(CheckPolicyTest, EveryKeySurvivesItsCanonicalForm) {
  const auto policy = ParsePolicy(R"({"attributes": {"allow": ["__mro__", "sys._getframe"], "deny": ["x"]},
    "cost": {"escalate_above": 0.5, "deny_above": 10, "prices": {"a": 1, "*": {"per_call": 2, "per_kib": 0.25}}},
    "redact": [{"name": "badge", "pattern": "B-\\d+"}], "redact_secrets": false})",
                                  "x");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->cost.prices.at("a"), (ToolPrice{1, 0}));
  EXPECT_EQ(policy->cost.prices.at("*"), (ToolPrice{2, 0.25}));
  EXPECT_TRUE(policy->cost.judges());
  const auto again = ParsePolicy(PolicyToJson(*policy), "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *policy);
}

TEST(CheckPolicyTest, WarnsOfCostsThatLimitNothing) {
  EXPECT_THAT(Warnings(R"({"cost": {"deny_above": 5}})"), ElementsAre(HasSubstr("no tool has a price")));
  EXPECT_THAT(Warnings(R"({"cost": {"prices": {"a": 1}}})"), ElementsAre(HasSubstr("limit nothing")));
  EXPECT_THAT(Warnings(R"({"cost": {"prices": {"a": 1}, "escalate_above": 5, "deny_above": 5}})"),
              ElementsAre(HasSubstr("1:49 escalate_above has no effect")));
  EXPECT_THAT(Warnings(R"({"cost": {"prices": {"a": 1}, "escalate_above": 5, "deny_above": 6}})"), IsEmpty());
}

TEST(CheckPolicyTest, WarnsOfWhatAnotherEntryOverrules) {
  EXPECT_THAT(Warnings(R"({"imports": {"ask": ["a"], "deny": ["a"], "allow": ["b"]}})"),
              ElementsAre(HasSubstr("1:22 asking about \"a\" has no effect: another entry says deny")));
  EXPECT_THAT(Warnings(R"({"imports": {"ask": ["a"], "deny": ["b"], "allow": ["*"]}})"), IsEmpty());
}

TEST(CheckPolicyTest, WarnsOfRulesThatCanNeverMatch) {
  const auto rule = [](std::string_view effect, std::string_view constraint) {
    return Warnings(
        fmt::format(R"({{"tools": {{"rules": [{{"tool": "t", "effect": "{}", "where": {{"p": {}}}}}]}}}})",
                    effect, constraint));
  };
  EXPECT_THAT(
      rule("allow", R"({"minimum": 1, "matches": "x"})"),
      ElementsAre(HasSubstr("1:70 this rule for \"t\" can never match: no argument is a text and a")));
  EXPECT_THAT(rule("allow", R"({"one_of": [1, "a"], "minimum": 5})"),
              ElementsAre(HasSubstr("none of one_of meets the other demands")));
  EXPECT_THAT(rule("allow", R"({"one_of": [1, 7], "minimum": 5})"), IsEmpty());
  EXPECT_THAT(rule("allow", R"({"one_of": ["/a/b", "/c"], "path_prefix": "/a"})"), IsEmpty());
  EXPECT_THAT(rule("allow", R"({"one_of": ["/c"], "path_prefix": "/a"})"),
              ElementsAre(HasSubstr("can never match")));
  EXPECT_THAT(rule("allow", R"({"one_of": ["a"]})"), IsEmpty());
  // What cannot be judged is denied: such a rule does match something.
  EXPECT_THAT(rule("deny", R"({"minimum": 1, "matches": "x"})"), IsEmpty());
}

TEST(PolicySourceTest, NamesFilePresetOrNeither) {
  const auto source = PolicySource::OfText(R"({
  "extends": "default",
  "imports": {"allow": ["scipy"]},
  "limits": {"wall_s": 7},
  "files": {"read": ["/srv//data/"]},
  "tools": {"rules": [{"tool": "a", "effect": "deny"}]}
})",
                                           "p.json");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->Of({"limits", "wall_s"}), "p.json:4:24");
  EXPECT_EQ(source->Of({"limits", "cpu_s"}), "preset default");
  EXPECT_EQ(source->Of({"limits", "copies"}), "built in");
  EXPECT_EQ(source->OfItem({"imports", "allow"}, "scipy"), "p.json:3:25");
  EXPECT_EQ(source->OfItem({"imports", "allow"}, "numpy"), "preset default");
  EXPECT_EQ(source->OfItem({"files", "read"}, "/srv/data"), "p.json:5:22");
  EXPECT_EQ(source->OfToolRule(0), "p.json:6:23");
  const auto preset = PolicySource::Load("default");
  ASSERT_TRUE(preset);
  EXPECT_EQ(preset->OfItem({"imports", "allow"}, "numpy"), "preset default");
}

TEST(PolicySourceTest, FindsToolsAndParametersThatDoNotExist) {
  const auto source = PolicySource::OfText(R"({"tools": {"rules": [
  {"tool": "send_mial", "effect": "deny"},
  {"tool": "*", "effect": "ask"},
  {"tool": "fetch", "effect": "allow", "where": {"uri": {"hosts": ["a.org"]}}},
  {"tool": "pay", "effect": "allow", "where": {"anything": {"minimum": 1}}}]}})",
                                           "p.json");
  ASSERT_TRUE(source);
  const auto warnings = source->UnknownTools({{"send_mail", std::vector<std::string>{"to"}},
                                              {"fetch", std::vector<std::string>{"url"}},
                                              {"pay", {}}});
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].line, 2);
  EXPECT_EQ(warnings[0].column, 12);
  EXPECT_EQ(warnings[0].message, "there is no tool \"send_mial\"; did you mean \"send_mail\"?");
  EXPECT_EQ(warnings[1].line, 4);
  EXPECT_THAT(warnings[1].message, HasSubstr("\"fetch\" has no parameter \"uri\""));
}

}  // namespace
}  // namespace gloveport
