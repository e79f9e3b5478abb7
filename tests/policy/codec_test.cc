#include "gloveport/policy/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/presets.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Policy Parsed(std::string_view text) {
  auto policy = ParsePolicy(text, "p.json");
  EXPECT_TRUE(policy) << text << "\n" << (policy ? "" : policy.error().message);
  return policy ? *policy : Policy();
}

TEST(ParsePolicyTest, EmptyObjectAllowsNoImportAndHasTheDefaultLimits) {
  const Policy policy = Parsed("{}");
  EXPECT_EQ(policy, Policy());
  EXPECT_EQ(policy.imports.EffectOf("math"), Effect::kDeny);
}

TEST(ParsePolicyTest, ReadsEveryKey) {
  const Policy policy = Parsed(R"({
    "name": "mine",
    "imports": {"allow": ["scipy", "xml.etree"], "deny": ["sqlite3"], "ask": ["pickle", "*"]},
    "builtins": {"allow": ["eval", "eval"]},
    "tools": {"default": "ask", "rules": [
      {"tool": "send_mail", "effect": "allow", "where": {"to": {"matches": "@example\\.org$"},
                                                         "size": {"minimum": -1, "maximum": 2.5}}},
      {"tool": "*", "effect": "deny", "where": {"url": {"hosts": ["Example.org."]}, "path": {"path_prefix": "/a/../b/"},
                                                "mode": {"one_of": ["x", 1, 2.50, true, null]}}}]},
    "limits": {"wall_s": 1.25, "cpu_s": 2, "memory_mib": 100, "output_kib": 10, "open_files": 20, "threads": 3,
               "disk_mib": 40, "tool_calls": 0},
    "files": {"read": ["/srv//data/"]},
    "packages": ["/opt/venv"],
    "preload": ["json", "xml.dom"],
    "network": "off",
    "inspection": "optional",
    "layers": {"require": ["seccomp", "landlock", "mdwe"]}
  })");
  EXPECT_EQ(policy.name, "mine");
  EXPECT_THAT(policy.imports.allow, ElementsAre("scipy", "xml.etree"));
  EXPECT_THAT(policy.imports.deny, ElementsAre("sqlite3"));
  EXPECT_THAT(policy.imports.ask, ElementsAre("pickle", "*"));
  EXPECT_THAT(policy.builtins.allow, ElementsAre("eval"));
  EXPECT_EQ(policy.tools.default_effect, Effect::kAsk);
  ASSERT_EQ(policy.tools.rules.size(), 2u);
  const ToolRule& mail = policy.tools.rules[0];
  EXPECT_EQ(mail.tool, "send_mail");
  EXPECT_EQ(mail.effect, Effect::kAllow);
  EXPECT_EQ(mail.where.at("to").matches, "@example\\.org$");
  EXPECT_EQ(mail.where.at("size").minimum, -1);
  EXPECT_EQ(mail.where.at("size").maximum, 2.5);
  const ToolRule& all = policy.tools.rules[1];
  EXPECT_THAT(*all.where.at("url").hosts, ElementsAre("example.org"));
  EXPECT_EQ(all.where.at("path").path_prefix, "/b");
  EXPECT_THAT(*all.where.at("mode").one_of, ElementsAre("\"x\"", "1", "2.5", "true", "null"));
  EXPECT_EQ(policy.limits, (Limits{milliseconds(1250), milliseconds(2000), 100, 10, 20, 3, 40, 0}));
  EXPECT_THAT(policy.files.read, ElementsAre("/srv/data"));
  EXPECT_THAT(policy.packages, ElementsAre("/opt/venv"));
  EXPECT_THAT(policy.preload, ElementsAre("json", "xml.dom"));
  EXPECT_EQ(policy.inspection, Inspection::kOptional);
  EXPECT_THAT(policy.required_layers, ElementsAre("seccomp", "landlock", "mdwe"));
}

TEST(ParsePolicyTest, ListsAreAddedToThePresetsAndOtherKeysReplaceItsValues) {
  const Policy base = *PresetPolicy("default");
  const Policy policy = Parsed(R"({
    "imports": {"allow": ["scipy", "math"], "deny": ["sqlite3"]},
    "limits": {"wall_s": 60}, "preload": ["numpy"], "files": {"read": ["/srv/a"]}, "extends": "default"})");
  EXPECT_EQ(policy.name, "custom");
  EXPECT_EQ(policy.imports.allow.size(), base.imports.allow.size() + 1);  // math was there
  EXPECT_EQ(policy.imports.EffectOf("scipy"), Effect::kAllow);
  EXPECT_EQ(policy.imports.EffectOf("pandas"), Effect::kAllow);
  EXPECT_EQ(policy.imports.EffectOf("sqlite3"), Effect::kDeny);
  EXPECT_EQ(policy.imports.EffectOf("pickle"), Effect::kAsk);
  EXPECT_EQ(policy.limits.wall, milliseconds(60'000));
  EXPECT_EQ(policy.limits.memory_mib, base.limits.memory_mib);
  EXPECT_EQ(policy.preload.size(), base.preload.size() + 1);
  EXPECT_EQ(policy.required_layers, base.required_layers);
}

TEST(ParsePolicyTest, RequiredLayersReplaceThePresets) {
  const Policy policy = Parsed(R"({"extends": "default", "layers": {"require": ["seccomp", "landlock"]}})");
  EXPECT_FALSE(policy.Requires("own_root"));
  EXPECT_TRUE(policy.Requires("landlock"));
}

struct Refusal {
  std::string_view text;
  std::string_view where;  // "line:column"
  std::string_view message;
  std::string_view hint;
};

void ExpectRefused(std::span<const Refusal> cases) {
  for (const Refusal& c : cases) {
    const auto policy = ParsePolicy(c.text, "p.json");
    ASSERT_FALSE(policy) << c.text;
    EXPECT_EQ(policy.error().code, ErrorCode::kInvalidArgument) << c.text;
    EXPECT_THAT(policy.error().message, StartsWith("p.json:" + std::string(c.where) + ": ")) << c.text;
    EXPECT_THAT(policy.error().message, HasSubstr(c.message)) << c.text;
    EXPECT_THAT(policy.error().hint, HasSubstr(c.hint)) << c.text;
  }
}

TEST(ParsePolicyTest, RefusesUnknownKeysAndSuggestsTheNearest) {
  const Refusal cases[] = {
      {"{\n  // typo\n  \"improts\": {}\n}", "3:3", "unknown key \"improts\" in the policy",
       "did you mean \"imports\"?"},
      {R"({"Imports": {}})", "1:2", "unknown key", "did you mean \"imports\"?"},
      {R"({"limit": {}})", "1:2", "unknown key", "did you mean \"limits\"?"},
      {R"({"zzzzzz": {}})", "1:2", "unknown key \"zzzzzz\"", "Allowed: \"name\", \"extends\""},
      {R"({"imports": {"allowed": []}})", "1:14", "unknown key \"allowed\" in imports",
       "did you mean \"allow\"?"},
      {R"({"limits": {"wall": 3}})", "1:13", "unknown key \"wall\" in limits", "did you mean \"wall_s\"?"},
      {R"({"limits": {"memory_mb": 3}})", "1:13", "in limits", "did you mean \"memory_mib\"?"},
      {R"({"limits": {"cpu-s": 3}})", "1:13", "in limits", "did you mean \"cpu_s\"?"},
      {R"({"files": {"write": []}})", "1:12", "in files", "Allowed: \"read\""},
      {R"({"layers": {"requires": []}})", "1:13", "in layers", "did you mean \"require\"?"},
      {R"({"tools": {"rule": []}})", "1:12", "in tools", "did you mean \"rules\"?"},
      {R"({"tools": {"rules": [{"tool": "x", "efect": "deny"}]}})", "1:36", "a tool rule",
       "did you mean \"effect\"?"},
      {R"({"tools": {"rules": [{"tool": "x", "effect": "deny", "where": {"a": {"match": "x"}}}]}})", "1:70",
       "a constraint on an argument", "did you mean \"matches\"?"},
      {R"({"network": "off", "network": "off"})", "1:20", "key \"network\" is there twice", ""},
  };
  ExpectRefused(cases);
}

TEST(ParsePolicyTest, RefusesWrongTypes) {
  const Refusal cases[] = {
      {"[]", "1:1", "a policy must be an object, not a list", ""},
      {"null", "1:1", "a policy must be an object, not null", ""},
      {R"({"name": 5})", "1:10", "name must be a string, not 5", ""},
      {R"({"extends": ["default"]})", "1:13", "extends must be a string, not a list", ""},
      {R"({"imports": []})", "1:13", "imports must be an object, not a list", ""},
      {R"({"imports": {"allow": "math"}})", "1:23", "imports.allow must be a list, not \"math\"", ""},
      {R"({"imports": {"allow": [1]}})", "1:24", "each entry of imports.allow must be a string, not 1", ""},
      {R"({"limits": 5})", "1:12", "limits must be an object, not 5", ""},
      {R"({"limits": {"wall_s": "5"}})", "1:23", "wall_s must be a number, not \"5\"", ""},
      {R"({"limits": {"memory_mib": true}})", "1:27", "memory_mib must be a number, not true", ""},
      {R"({"tools": {"rules": {}}})", "1:21", "tools.rules must be a list, not an object", ""},
      {R"({"tools": {"rules": ["deny"]}})", "1:22", "a tool rule must be an object", ""},
      {R"({"files": {"read": "/srv"}})", "1:20", "files.read must be a list", ""},
      {R"({"packages": [null]})", "1:15", "each entry of packages must be a string, not null", ""},
      {R"({"layers": ["seccomp"]})", "1:12", "layers must be an object", ""},
      {R"({"inspection": false})", "1:16", "inspection must be a string, not false", ""},
  };
  ExpectRefused(cases);
}

TEST(ParsePolicyTest, RefusesBadValues) {
  const Refusal cases[] = {
      {R"({"extends": "defualt"})", "1:13", "there is no preset \"defualt\"", "did you mean \"default\"?"},
      {R"({"name": ""})", "1:10", "name must be", ""},
      {R"({"name": "a\u0007"})", "1:10", "name must be", ""},
      {R"({"imports": {"allow": ["math", "a b"]}})", "1:32", "\"a b\" in imports.allow is no module name",
       "submodules"},
      {R"({"imports": {"deny": ["xml.*"]}})", "1:23", "\"xml.*\" in imports.deny is no module name",
       "or \"*\""},
      {R"({"imports": {"ask": [""]}})", "1:22", "is no module name", ""},
      {R"({"imports": {"allow": [".x"]}})", "1:24", "is no module name", ""},
      {R"({"preload": ["*"]})", "1:14", "\"*\" in preload is no module name", ""},
      {R"({"limits": {"wall_s": 0}})", "1:23", "wall_s must be from 0.01 to 86400 seconds, not 0", ""},
      {R"({"limits": {"wall_s": 86401}})", "1:23", "wall_s must be from 0.01 to 86400 seconds", ""},
      {R"({"limits": {"cpu_s": -1}})", "1:22", "cpu_s must be", ""},
      {R"({"limits": {"memory_mib": 7}})", "1:27",
       "memory_mib must be a whole number from 8 to 1048576, not 7", ""},
      {R"({"limits": {"memory_mib": 100.5}})", "1:27", "must be a whole number", ""},
      {R"({"limits": {"memory_mib": 1e3}})", "1:27", "must be a whole number", ""},
      {R"({"limits": {"memory_mib": 99999999999999999999999}})", "1:27", "must be a whole number", ""},
      {R"({"limits": {"output_kib": 0}})", "1:27", "output_kib must be", ""},
      {R"({"limits": {"open_files": 3}})", "1:27", "open_files must be", ""},
      {R"({"limits": {"threads": 0}})", "1:24", "threads must be", ""},
      {R"({"limits": {"disk_mib": 0}})", "1:25", "disk_mib must be", ""},
      {R"({"limits": {"tool_calls": -1}})", "1:27", "tool_calls must be", ""},
      {R"({"files": {"read": ["data"]}})", "1:21", "\"data\" in files.read is no absolute path", "from / on"},
      {R"({"files": {"read": ["/srv/../etc"]}})", "1:21", "no absolute path", "without \"..\""},
      {R"({"files": {"read": ["/"]}})", "1:21", "cannot be in files.read", "name the folders"},
      {R"({"files": {"read": ["/proc/self"]}})", "1:21", "cannot be in files.read", ""},
      {R"({"files": {"read": ["//dev/"]}})", "1:21", "cannot be in files.read", ""},
      {R"({"files": {"read": ["/workdir/x"]}})", "1:21", "cannot be in files.read", ""},
      {R"({"packages": ["/sys"]})", "1:15", "cannot be in packages", ""},
      {R"({"packages": ["/a\u0000b"]})", "1:15", "no absolute path", ""},
      {R"({"network": "on"})", "1:13", "network can only be \"off\"", "a tool of the host"},
      {R"({"network": true})", "1:13", "network can only be \"off\"", ""},
      {R"({"inspection": "none"})", "1:16", "inspection cannot be \"none\"",
       "Allowed: \"required\", \"optional\""},
      {R"({"layers": {"require": ["secomp", "own_root"]}})", "1:25", "cannot be \"secomp\"",
       "did you mean \"seccomp\"?"},
      {R"({"layers": {"require": []}})", "1:24", "must name \"seccomp\" and one of", "degraded mode"},
      {R"({"layers": {"require": ["own_root"]}})", "1:24", "must name \"seccomp\"", ""},
      {R"({"layers": {"require": ["seccomp", "mdwe"]}})", "1:24", "one of \"own_root\" and \"landlock\"", ""},
  };
  ExpectRefused(cases);
}

TEST(ParsePolicyTest, RefusesBadToolRules) {
  const Refusal cases[] = {
      {R"({"tools": {"default": "never"}})", "1:23", "tools.default cannot be \"never\"",
       "Allowed: \"allow\", \"ask\", \"deny\""},
      {R"({"tools": {"rules": [{"effect": "deny"}]}})", "1:22", "no \"tool\"", "a rule is"},
      {R"({"tools": {"rules": [{"tool": "x"}]}})", "1:22", "no \"effect\"", "a rule is"},
      {R"({"tools": {"rules": [{"tool": "x", "effect": "Deny"}]}})", "1:46", "effect cannot be \"Deny\"",
       "did you mean \"deny\"?"},
      {R"({"tools": {"rules": [{"tool": "x-y", "effect": "deny"}]}})", "1:31", "no name of a tool",
       "every tool"},
      {R"({"tools": {"rules": [{"tool": "x", "effect": "deny", "where": {"a b": {}}}]}})", "1:64",
       "no name of a parameter", ""},
  };
  ExpectRefused(cases);
}

TEST(ParsePolicyTest, RefusesBadConstraints) {
  const Refusal constraints[] = {
      {"{}", "1:3", "demands nothing", "leave the parameter out"},
      {R"({"matches": "("})", "1:15", "missing )", "RE2"},
      {R"({"matches": "(?=x"})", "1:15", "not a pattern", "look-around"},
      {R"({"one_of": []})", "1:14", "can never match", ""},
      {R"({"one_of": ["a", [1]]})", "1:20", "texts, numbers", ""},
      {R"({"minimum": 2, "maximum": 1})", "1:3", "can never match", ""},
      {R"({"minimum": "2"})", "1:15", "minimum must be a number", ""},
      {R"({"path_prefix": "../x"})", "1:19", "no path to begin with", ""},
      {R"({"hosts": []})", "1:13", "can never match", ""},
      {R"({"hosts": ["https://x.org"]})", "1:14", "is no host name", "without scheme"},
      {R"({"hosts": ["*"]})", "1:14", "is no host name", ""},
  };
  const std::string before = R"({"tools": {"rules": [{"tool": "x", "effect": "deny", "where": {"a":)";
  for (const Refusal& c : constraints) {
    // On a line of its own, two columns in.
    const std::string text = before + "\n  " + std::string(c.text) + "}}]}}";
    const std::string where = "2:" + std::string(c.where.substr(2));
    const Refusal whole[] = {{text, where, c.message, c.hint}};
    ExpectRefused(whole);
  }
}

std::vector<PolicyWarning> WarningsOf(std::string_view text) {
  std::vector<PolicyWarning> warnings;
  const auto policy = ParsePolicy(text, "p.json", &warnings);
  EXPECT_TRUE(policy) << policy.error().message;
  return warnings;
}

TEST(PolicyWarningTest, NamesRulesThatCanNeverMatch) {
  const auto warnings = WarningsOf(R"({"tools": {"rules": [
    {"tool": "a", "effect": "ask"},
    {"tool": "b", "effect": "deny", "where": {"x": {"minimum": 1}}},
    {"tool": "a", "effect": "deny"},
    {"tool": "b", "effect": "allow", "where": {"x": {"minimum": 1}}},
    {"tool": "*", "effect": "deny"},
    {"tool": "c", "effect": "allow"}
  ]}})");
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_EQ(warnings[0].line, 4);
  EXPECT_EQ(warnings[0].column, 5);
  EXPECT_THAT(warnings[0].message, HasSubstr("rule 1 matches"));
  EXPECT_EQ(warnings[1].line, 5);
  EXPECT_EQ(warnings[2].line, 7);
  EXPECT_THAT(warnings[2].message, HasSubstr("rule 5 matches"));
}

TEST(PolicyWarningTest, LeavesRulesAloneThatCanMatch) {
  EXPECT_THAT(WarningsOf(R"({"tools": {"rules": [
    {"tool": "a", "effect": "allow", "where": {"x": {"minimum": 1}}},
    {"tool": "a", "effect": "deny", "where": {"x": {"minimum": 1}}},
    {"tool": "a", "effect": "ask"},
    {"tool": "*", "effect": "deny"}
  ]}})"),
              IsEmpty());
}

TEST(PolicyWarningTest, NamesAllowedImportsThatAreAskedForOrDeniedAllTheSame) {
  const auto warnings = WarningsOf(
      "{\"extends\": \"default\",\n \"imports\": {\"allow\": [\"scipy\",\n  \"pickle\", \"os.path\"], "
      "\"deny\": [\"os\"]}}");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].line, 3);
  EXPECT_EQ(warnings[0].column, 3);
  EXPECT_THAT(warnings[0].message, HasSubstr("allowing \"pickle\" has no effect: another entry says ask"));
  EXPECT_THAT(warnings[1].message, HasSubstr("\"os.path\""));
}

TEST(PolicyToJsonTest, RoundTripsAndIsTheSameForEqualPolicies) {
  for (
      const std::string_view text : {
          R"({})",
          R"({"name": "quote \" and \u00e9", "limits": {"wall_s": 0.05, "cpu_s": 1.5}})",
          R"({"extends": "default", "imports": {"allow": ["scipy"]}})",
          R"({"layers": {"require": ["seccomp", "landlock"]}, "inspection": "optional", "packages": ["/opt/x"]})",
          R"({"tools": {"default": "deny", "rules": [{"tool": "x", "effect": "ask", "where": {"a": {"matches": "\\d\"",
               "one_of": ["\u0001", -0, 1e300, 12345678901234567890123, 0.1], "minimum": 0.1, "maximum": 1e20,
               "path_prefix": "x/y", "hosts": ["*.a.org", "[::1]"]}}}]}})",
      }) {
    const Policy policy = Parsed(text);
    const std::string json = PolicyToJson(policy);
    EXPECT_THAT(json, testing::Not(HasSubstr("\n")));
    const Policy again = Parsed(json);
    EXPECT_EQ(again, policy) << json;
    EXPECT_EQ(PolicyToJson(again), json);
  }
}

TEST(LoadPolicyTest, TakesPresetsAndFiles) {
  EXPECT_EQ(LoadPolicy("default")->name, "default");
  const auto path =
      std::filesystem::temp_directory_path() / ("gloveport-policy-" + std::to_string(::getpid()) + ".json");
  ASSERT_TRUE(WriteFile(path, R"({"imports": {"allow": ["math"]}} // mine)"));
  const auto policy = LoadPolicy(path.string());
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->name, path.filename().string());
  EXPECT_EQ(policy->imports.EffectOf("math"), Effect::kAllow);
  ASSERT_TRUE(WriteFile(path, "{\n\"x\": 1}"));
  const auto refused = LoadPolicy(path.string());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, StartsWith(path.string() + ":2:1: "));
  std::filesystem::remove(path);
}

TEST(LoadPolicyTest, SaysWhatThereIsForANameThatIsNeither) {
  const auto policy = LoadPolicy("sandbox_python");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(policy.error().message, HasSubstr("\"sandbox_python\" is neither a preset nor a policy file"));
  EXPECT_THAT(policy.error().hint, HasSubstr("did you mean \"sandboxed_python\"?"));
}

TEST(LoadPolicyTest, ReportsAFolderAsUnreadable) {
  const auto policy = LoadPolicy("/");
  ASSERT_FALSE(policy);
  EXPECT_NE(policy.error().code, ErrorCode::kInternal);
  EXPECT_THAT(policy.error().message, HasSubstr("/"));
}

}  // namespace
}  // namespace gloveport
