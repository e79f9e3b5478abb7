#include "gloveport/policy/policy.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

struct ImportCase {
  std::string_view what;
  ImportRules rules;
  std::string_view module;
  Effect effect;
};

TEST(ImportRulesTest, DenyBeatsAskBeatsAllow) {
  const ImportCase cases[] = {
      {"a listed module", {.allow = {"math"}}, "math", Effect::kAllow},
      {"an unlisted module", {.allow = {"math"}}, "socket", Effect::kDeny},
      {"nothing listed", {}, "math", Effect::kDeny},
      {"a submodule", {.allow = {"xml.etree"}}, "xml.etree.ElementTree", Effect::kAllow},
      {"a parent of what is listed", {.allow = {"xml.etree"}}, "xml", Effect::kDeny},
      {"a sibling", {.allow = {"xml.etree"}}, "xml.dom", Effect::kDeny},
      {"a name that only begins alike", {.allow = {"math"}}, "mathx", Effect::kDeny},
      {"a longer part that begins alike", {.allow = {"xml.etree"}}, "xml.etreex.y", Effect::kDeny},
      {"everything", {.allow = {"*"}}, "socket", Effect::kAllow},
      {"everything but one", {.allow = {"*"}, .deny = {"socket"}}, "socket", Effect::kDeny},
      {"everything but one, another", {.allow = {"*"}, .deny = {"socket"}}, "ssl", Effect::kAllow},
      {"everything asked for", {.allow = {"math"}, .ask = {"*"}}, "math", Effect::kAsk},
      {"nothing at all", {.allow = {"*"}, .deny = {"*"}, .ask = {"*"}}, "math", Effect::kDeny},
      {"asked and allowed", {.allow = {"pickle"}, .ask = {"pickle"}}, "pickle", Effect::kAsk},
      {"asked and denied", {.deny = {"pickle"}, .ask = {"pickle"}}, "pickle", Effect::kDeny},
      {"a denied part of an allowed package",
       {.allow = {"os"}, .deny = {"os.path"}},
       "os.path",
       Effect::kDeny},
      {"the rest of that package", {.allow = {"os"}, .deny = {"os.path"}}, "os", Effect::kAllow},
      {"the empty name", {.allow = {"math"}}, "", Effect::kDeny},
  };
  for (const ImportCase& c : cases) {
    EXPECT_EQ(EffectName(c.rules.EffectOf(c.module)), EffectName(c.effect)) << c.what;
  }
}

TEST(PolicyTest, RequiresTheLayersItNames) {
  Policy policy;
  EXPECT_TRUE(policy.Requires("seccomp"));
  EXPECT_TRUE(policy.Requires("own_root"));
  EXPECT_FALSE(policy.Requires("landlock"));
  policy.required_layers = {"landlock"};
  EXPECT_TRUE(policy.Requires("landlock"));
  EXPECT_FALSE(policy.Requires("own_root"));
}

}  // namespace
}  // namespace gloveport
