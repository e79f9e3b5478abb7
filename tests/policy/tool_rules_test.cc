#include "gloveport/policy/tool_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;

using Arguments = std::map<std::string, PolicyArgument, std::less<>>;
using List = PolicyArgument::List;
constexpr auto kHolds = Judgement::kHolds;
constexpr auto kFails = Judgement::kFails;
constexpr auto kUnknown = Judgement::kUnknown;

PolicyArgument Arg(const char* text) { return {std::string(text)}; }
PolicyArgument Arg(double number) { return {number}; }
PolicyArgument Arg(int number) { return {std::int64_t{number}}; }
PolicyArgument Arg(bool flag) { return {flag}; }
PolicyArgument None() { return {}; }
PolicyArgument Opaque() { return {PolicyArgument::Opaque{}}; }
PolicyArgument ListOf(List items) { return {std::move(items)}; }

struct JudgeCase {
  ArgumentConstraint constraint;
  PolicyArgument argument;
  Judgement judgement;
};

void ExpectJudged(const std::vector<JudgeCase>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto constraint = Constraint::Compile(cases[i].constraint);
    ASSERT_TRUE(constraint) << constraint.error().message;
    EXPECT_EQ(constraint->Judge(cases[i].argument), cases[i].judgement) << "case " << i;
  }
}

TEST(ConstraintTest, PatternsAreFoundInText) {
  const ArgumentConstraint suffix{.matches = "@example\\.org$"};
  ExpectJudged({
      {suffix, Arg("a@example.org"), kHolds},
      {suffix, Arg("a@example.org.evil"), kFails},
      {suffix, Arg("a@example.org\n"), kFails},  // $ is the end of the text
      {suffix, Arg("a@example.org\nb@example.org"), kHolds},
      {suffix, Arg("a@exampleXorg"), kFails},
      {suffix, Arg(""), kFails},
      {suffix, None(), kFails},
      {suffix, Arg(5), kUnknown},
      {suffix, Arg(true), kUnknown},
      {suffix, Opaque(), kUnknown},
      {{.matches = ""}, Arg("anything"), kHolds},
      {{.matches = "^(a+)+$"}, Arg((std::string(50'000, 'a') + "b").c_str()), kFails},  // linear time
  });
}

TEST(ConstraintTest, RangesIncludeTheirEnds) {
  const ArgumentConstraint range{.minimum = 0, .maximum = 10};
  ExpectJudged({
      {range, Arg(0), kHolds},
      {range, Arg(10), kHolds},
      {range, Arg(10.0), kHolds},
      {range, Arg(10.5), kFails},
      {range, Arg(-1), kFails},
      {range, Arg(-0.0), kHolds},
      {range, Arg(std::nan("")), kUnknown},
      {range, Arg(std::numeric_limits<double>::infinity()), kFails},
      {range, Arg("5"), kUnknown},
      {range, Arg(true), kUnknown},
      {range, None(), kFails},
      {{.minimum = 5}, Arg(1'000'000), kHolds},
      {{.maximum = 5}, Arg(-1'000'000), kHolds},
  });
}

TEST(ConstraintTest, EnumerationsCompareAsJsonDoes) {
  const ArgumentConstraint words{.one_of = {{"\"low\"", "1", "2.5", "true", "null"}}};
  ExpectJudged({
      {words, Arg("low"), kHolds},
      {words, Arg("Low"), kFails},
      {words, Arg("1"), kFails},
      {words, Arg(1), kHolds},
      {words, Arg(1.0), kHolds},
      {words, Arg(2.5), kHolds},
      {words, Arg(2), kFails},
      {words, Arg(true), kHolds},
      {words, Arg(false), kFails},
      {words, None(), kHolds},
      {words, Arg(std::nan("")), kUnknown},
      {words, Opaque(), kUnknown},
      {{.one_of = {{"1"}}}, Arg(true), kFails},
  });
}

TEST(ConstraintTest, PathsAreComparedAsTheyWouldBeOpened) {
  const ArgumentConstraint folder{.path_prefix = "/srv/data/"};
  ExpectJudged({
      {folder, Arg("/srv/data"), kHolds},
      {folder, Arg("/srv/data/a.csv"), kHolds},
      {folder, Arg("//srv/./data//a"), kHolds},
      {folder, Arg("/srv/data/../data/a"), kHolds},
      {folder, Arg("/srv/data/../secret"), kFails},
      {folder, Arg("/srv/database"), kFails},
      {folder, Arg("/etc/passwd"), kFails},
      {folder, Arg("a.csv"), kUnknown},  // relative to what?
      {folder, Arg("../x"), kUnknown},
      {folder, Arg("~/x"), kUnknown},
      {folder, Arg(""), kUnknown},
      {folder, {std::string("/srv/data\0/../../etc", 20)}, kUnknown},
      {{.path_prefix = "reports"}, Arg("reports/a"), kHolds},
      {{.path_prefix = "reports"}, Arg("reports/../a"), kFails},
      {{.path_prefix = "reports"}, Arg("./reports"), kHolds},
      {{.path_prefix = "reports"}, Arg("/reports/a"), kUnknown},
      {{.path_prefix = "."}, Arg("a/b"), kHolds},
  });
}

TEST(ConstraintTest, HostsAreThoseOfTheUrl) {
  const ArgumentConstraint hosts{.hosts = {{"Example.org", "*.docs.example.org", "127.0.0.1"}}};
  ExpectJudged({
      {hosts, Arg("https://EXAMPLE.org./x"), kHolds},
      {hosts, Arg("https://a.docs.example.org"), kHolds},
      {hosts, Arg("https://docs.example.org"), kFails},
      {hosts, Arg("https://example.org@evil.com"), kFails},
      {hosts, Arg("https://evil.com/example.org"), kFails},
      {hosts, Arg("example.org"), kUnknown},
      {hosts, Arg("https://example.org\\@evil.com"), kUnknown},
      {hosts, Arg("http://2130706433/"), kUnknown},
      {hosts, Arg("http://127.0.0.1:8080/"), kHolds},
  });
}

TEST(ConstraintTest, AllDemandsMustHold) {
  const ArgumentConstraint both{.matches = "csv$", .path_prefix = "/srv"};
  ExpectJudged({
      {both, Arg("/srv/a.csv"), kHolds},
      {both, Arg("/srv/a.txt"), kFails},
      {both, Arg("/etc/a.csv"), kFails},
      {both, Arg("a.csv"), kUnknown},
      {both, Arg("a.txt"), kFails},
  });
}

TEST(ConstraintTest, ListsHoldIfAllTheirItemsDo) {
  const ArgumentConstraint suffix{.matches = "@example\\.org$"};
  ExpectJudged({
      {suffix, ListOf({Arg("a@example.org"), Arg("b@example.org")}), kHolds},
      {suffix, ListOf({Arg("a@example.org"), Arg("b@evil.com")}), kUnknown},
      {suffix, ListOf({Arg("a@evil.com"), Arg("b@evil.com")}), kFails},
      {suffix, ListOf({Arg("a@evil.com"), Opaque()}), kUnknown},
      {suffix, ListOf({}), kFails},
      {suffix, ListOf({ListOf({Arg("a@example.org")})}), kHolds},
  });
}

ToolGate GateOf(std::string_view tools) {
  const auto policy = ParsePolicy("{\"tools\": " + std::string(tools) + "}", "p");
  EXPECT_TRUE(policy) << policy.error().message;
  auto gate = ToolGate::Compile(policy->tools);
  EXPECT_TRUE(gate);
  return *gate;
}

ToolDecision Decided(const ToolGate& gate, std::string_view tool, const Arguments& arguments = {}) {
  return gate.Decide(tool, [&arguments](std::string_view parameter) -> std::optional<PolicyArgument> {
    const auto found = arguments.find(parameter);
    if (found == arguments.end()) return std::nullopt;
    return found->second;
  });
}

TEST(ToolGateTest, TheFirstRuleThatMatchesDecides) {
  const ToolGate gate = GateOf(R"({"default": "deny", "rules": [
    {"tool": "send", "effect": "allow", "where": {"to": {"matches": "@a$"}}},
    {"tool": "send", "effect": "ask", "where": {"to": {"matches": "@b$"}}},
    {"tool": "*", "effect": "ask", "where": {"dry": {"one_of": [true]}}},
    {"tool": "look", "effect": "allow"},
    {"tool": "look", "effect": "deny"}]})");
  struct Case {
    std::string_view tool;
    Arguments arguments;
    Effect effect;
    std::optional<std::size_t> rule;
  };
  const Case cases[] = {
      {"send", {{"to", Arg("x@a")}}, Effect::kAllow, 0},
      {"send", {{"to", Arg("x@b")}}, Effect::kAsk, 1},
      {"send", {{"to", Arg("x@c")}}, Effect::kDeny, std::nullopt},
      {"send", {{"to", Arg("x@c")}, {"dry", Arg(true)}}, Effect::kAsk, 2},
      {"look", {}, Effect::kAllow, 3},
      {"look", {{"dry", Arg(true)}}, Effect::kAsk, 2},
      {"other", {}, Effect::kDeny, std::nullopt},
      {"Send", {{"to", Arg("x@a")}}, Effect::kDeny, std::nullopt},
  };
  for (const Case& c : cases) {
    const ToolDecision decision = Decided(gate, c.tool, c.arguments);
    EXPECT_EQ(EffectName(decision.effect), EffectName(c.effect)) << c.tool;
    EXPECT_EQ(decision.rule, c.rule) << c.tool;
    EXPECT_FALSE(decision.reason.empty());
  }
}

TEST(ToolGateTest, SaysWhichRuleDecided) {
  const ToolGate gate = GateOf(R"({"default": "ask", "rules": [
    {"tool": "send", "effect": "deny", "where": {"to": {"matches": "@a$"}, "cc": {"matches": "@a$"}}}]})");
  EXPECT_EQ(Decided(gate, "send", {{"to", Arg("@a")}, {"cc", Arg("@a")}}).reason,
            "tool rule 1 (deny send where \"cc\" and \"to\")");
  EXPECT_EQ(Decided(gate, "look").reason, "no tool rule matches look and the default is ask");
}

TEST(ToolGateTest, ArgumentsThatCannotBeJudgedMeetTheStricterAnswer) {
  const ToolGate gate = GateOf(R"({"default": "allow", "rules": [
    {"tool": "a", "effect": "deny", "where": {"path": {"path_prefix": "/etc"}}},
    {"tool": "b", "effect": "ask", "where": {"n": {"minimum": 100}}},
    {"tool": "c", "effect": "allow", "where": {"path": {"path_prefix": "/srv"}}},
    {"tool": "c", "effect": "deny"}]})");
  struct Case {
    std::string_view tool, parameter;
    PolicyArgument argument;
    Effect effect;
  };
  const Case cases[] = {
      {"a", "path", Arg("/etc/passwd"), Effect::kDeny},
      {"a", "path", Arg("/srv/x"), Effect::kAllow},
      {"a", "path", Opaque(), Effect::kDeny},
      {"a", "path", Arg("../etc/passwd"), Effect::kDeny},
      {"a", "path", ListOf({Arg("/srv/x"), Arg("/etc/passwd")}), Effect::kDeny},
      {"a", "path", ListOf({Arg("/srv/x"), Arg("/srv/y")}), Effect::kAllow},
      {"a", "path", None(), Effect::kAllow},
      {"b", "n", Arg(99), Effect::kAllow},
      {"b", "n", Arg(100), Effect::kAsk},
      {"b", "n", Arg("99"), Effect::kAsk},
      {"b", "n", Arg(std::nan("")), Effect::kAsk},
      {"c", "path", Arg("/srv/x"), Effect::kAllow},
      {"c", "path", Arg("/etc/x"), Effect::kDeny},
      {"c", "path", Opaque(), Effect::kDeny},
      {"c", "path", ListOf({Arg("/srv/x"), Arg("/etc/x")}), Effect::kDeny},
      {"c", "path", ListOf({Arg("/srv/x"), Arg("/srv/y")}), Effect::kAllow},
      {"c", "path", ListOf({}), Effect::kDeny},
  };
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const Case& c = cases[i];
    const ToolDecision decision = Decided(gate, c.tool, {{std::string(c.parameter), c.argument}});
    EXPECT_EQ(EffectName(decision.effect), EffectName(c.effect)) << "case " << i;
  }
}

TEST(ToolGateTest, AConstraintOnAParameterThatIsNotThereNeverMatches) {
  const ToolGate gate = GateOf(R"({"default": "ask", "rules": [
    {"tool": "*", "effect": "deny", "where": {"path": {"path_prefix": "/etc"}}},
    {"tool": "*", "effect": "allow", "where": {"size": {"maximum": 5}}}]})");
  EXPECT_EQ(Decided(gate, "x", {{"other", Arg("/etc")}}).effect, Effect::kAsk);
  EXPECT_EQ(Decided(gate, "x", {{"size", Arg(1)}}).effect, Effect::kAllow);
}

TEST(ToolGateTest, HidesToolsThatNoCallCanReach) {
  const ToolGate gate = GateOf(R"({"default": "allow", "rules": [
    {"tool": "hidden", "effect": "deny"},
    {"tool": "partly", "effect": "deny", "where": {"a": {"minimum": 1}}},
    {"tool": "twice", "effect": "deny", "where": {"a": {"minimum": 1}}},
    {"tool": "twice", "effect": "deny"},
    {"tool": "asked", "effect": "ask"},
    {"tool": "asked", "effect": "deny"},
    {"tool": "some", "effect": "allow", "where": {"a": {"minimum": 1}}},
    {"tool": "some", "effect": "deny"}]})");
  EXPECT_TRUE(gate.IsHidden("hidden"));
  EXPECT_FALSE(gate.IsHidden("partly"));
  EXPECT_TRUE(gate.IsHidden("twice"));
  EXPECT_FALSE(gate.IsHidden("asked"));
  EXPECT_FALSE(gate.IsHidden("some"));
  EXPECT_FALSE(gate.IsHidden("unnamed"));
}

TEST(ToolGateTest, DefaultDenyHidesWhatNoRuleAllows) {
  const ToolGate gate = GateOf(R"({"default": "deny", "rules": [
    {"tool": "shown", "effect": "allow", "where": {"a": {"minimum": 1}}}]})");
  EXPECT_FALSE(gate.IsHidden("shown"));
  EXPECT_TRUE(gate.IsHidden("unnamed"));
  EXPECT_TRUE(GateOf(R"({"rules": [{"tool": "*", "effect": "deny"}]})").IsHidden("anything"));
}

TEST(ToolGateTest, RefusesRulesMadeByHandThatCannotBeJudged) {
  const ArgumentConstraint bad[] = {{.matches = "("}, {.path_prefix = ".."}, {.hosts = {{"a b"}}}};
  for (const ArgumentConstraint& constraint : bad) {
    ToolRules rules;
    rules.rules.push_back({"x", Effect::kAllow, {{"a", constraint}}});
    const auto gate = ToolGate::Compile(rules);
    ASSERT_FALSE(gate);
    EXPECT_EQ(gate.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(CanonicalNumberTest, WritesWholeNumbersWithoutFraction) {
  EXPECT_EQ(CanonicalNumber(5), "5");
  EXPECT_EQ(CanonicalNumber(-0.0), "0");
  EXPECT_EQ(CanonicalNumber(0.25), "0.25");
  EXPECT_EQ(CanonicalNumber(1e300), "1e+300");
}

}  // namespace
}  // namespace gloveport
