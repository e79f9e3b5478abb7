#include "gloveport/policy/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PresetsTest, AreThese) {
  std::vector<std::string_view> names;
  for (const Preset& preset : Presets()) names.push_back(preset.name);
  EXPECT_THAT(names, ElementsAre("default", "open", "sandboxed_python"));
}

TEST(PresetsTest, AreTheFilesWordForWord) {
  for (const Preset& preset : Presets()) {
    const auto file = ReadFile(std::filesystem::path(GLOVEPORT_SOURCE_DIR) / "policy" / "presets" /
                               (std::string(preset.name) + ".json"));
    ASSERT_TRUE(file);
    EXPECT_EQ(preset.text, *file);
  }
}

TEST(PresetsTest, ParseWithoutWarningAndCarryTheirNames) {
  for (const Preset& preset : Presets()) {
    std::vector<PolicyWarning> warnings;
    ASSERT_TRUE(ParsePolicy(preset.text, preset.name, &warnings)) << preset.name;
    EXPECT_TRUE(warnings.empty()) << preset.name;
    const auto policy = PresetPolicy(preset.name);
    ASSERT_TRUE(policy);
    EXPECT_EQ(policy->name, preset.name);
    EXPECT_EQ(*ParsePolicy(PolicyToJson(*policy), "json"), *policy);
  }
}

TEST(PresetsTest, DefaultAllowsDataWorkForHalfAMinute) {
  const Policy policy = *PresetPolicy("default");
  EXPECT_EQ(policy.limits.wall, seconds(30));
  EXPECT_EQ(policy.limits.memory_mib, 512u);
  EXPECT_EQ(policy.inspection, Inspection::kRequired);
  for (const std::string_view module :
       {"math", "json", "numpy", "numpy.linalg", "pandas", "matplotlib.pyplot", "concurrent.futures",
        "urllib.parse", "xml.etree.ElementTree", "__future__"}) {
    EXPECT_EQ(policy.imports.EffectOf(module), Effect::kAllow) << module;
  }
  for (const std::string_view module : {"os", "subprocess", "socket", "ctypes", "importlib", "urllib.request",
                                        "shutil", "requests", "builtins", "gc", "multiprocessing", "scipy"}) {
    EXPECT_EQ(policy.imports.EffectOf(module), Effect::kDeny) << module;
  }
  EXPECT_EQ(policy.imports.EffectOf("pickle"), Effect::kAsk);
}

TEST(PresetsTest, SandboxedPythonIsTheDefaultWithoutPackagesAndWithTighterLimits) {
  const Policy wide = *PresetPolicy("default");
  const Policy narrow = *PresetPolicy("sandboxed_python");
  EXPECT_EQ(narrow.limits.wall, seconds(5));
  EXPECT_EQ(narrow.limits.memory_mib, 256u);
  EXPECT_EQ(narrow.inspection, Inspection::kRequired);
  EXPECT_EQ(narrow.network, Network::kOff);
  std::set<std::string> allowed(narrow.imports.allow.begin(), narrow.imports.allow.end());
  for (const char* package : {"numpy", "pandas", "matplotlib"}) {
    EXPECT_TRUE(allowed.insert(package).second) << package << " must not be in sandboxed_python";
  }
  EXPECT_EQ(allowed, std::set<std::string>(wide.imports.allow.begin(), wide.imports.allow.end()));
  EXPECT_EQ(narrow.imports.ask, wide.imports.ask);
}

TEST(PresetsTest, OpenAllowsEveryImportUninspectedBehindTheSameLayers) {
  const Policy policy = *PresetPolicy("open");
  EXPECT_EQ(policy.imports.EffectOf("ctypes"), Effect::kAllow);
  EXPECT_EQ(policy.imports.EffectOf("pickle"), Effect::kAllow);
  EXPECT_EQ(policy.inspection, Inspection::kOptional);
  EXPECT_THAT(policy.required_layers, ElementsAre("seccomp", "own_root"));
}

TEST(PresetsTest, PreloadOnlyWhatIsAllowed) {
  for (const Preset& preset : Presets()) {
    const Policy policy = *PresetPolicy(preset.name);
    for (const std::string& module : policy.preload) {
      EXPECT_EQ(policy.imports.EffectOf(module), Effect::kAllow) << preset.name << ": " << module;
    }
  }
}

TEST(PresetsTest, UnknownNameListsWhatThereIs) {
  const auto policy = PresetPolicy("opne");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(policy.error().hint, HasSubstr("did you mean \"open\"? Allowed: \"default\", \"open\""));
}

TEST(ExamplesTest, LoadWithoutWarning) {
  int examples = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(GLOVEPORT_SOURCE_DIR) + "/policy/examples")) {
    std::vector<PolicyWarning> warnings;
    const auto policy = LoadPolicy(file.path().string(), &warnings);
    EXPECT_TRUE(policy) << policy.error().message;
    EXPECT_TRUE(warnings.empty()) << file.path() << ": " << warnings.front().message;
    ++examples;
  }
  EXPECT_GE(examples, 4);
}

}  // namespace
}  // namespace gloveport
