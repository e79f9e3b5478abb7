// ParsePolicy is total: whatever the text, it answers with a policy or with an error that names a place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "gloveport/policy/codec.h"
#include "gloveport/policy/presets.h"
#include "gloveport/policy/tool_rules.h"

namespace gloveport {
namespace {

// clang-format off
constexpr std::string_view kPieces[] = {
    "{", "}", "[", "]", ",", ":", "\"", "\\", "/*", "*/", "//", "\n", " ", "null", "true", "-1", "1e9", "0.5",
    "{}", "[]", "\\u0041", "\\ud800", "\xC3", "\xEF\xBB\xBF", "\"*\"", "\"a(\"", "\"imports\"", "\"allow\"", "\"tools\"",
    "\"rules\"", "\"tool\"", "\"effect\"", "\"deny\"", "\"where\"", "\"matches\"", "\"one_of\"", "\"hosts\"",
    "\"limits\"", "\"wall_s\"", "\"extends\"", "\"default\""};
// clang-format on

class PolicyFuzz {
 public:
  explicit PolicyFuzz(std::uint32_t seed) : random_(seed) {}

  std::size_t Below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

  std::string RandomBytes() {
    std::string text(Below(200), '\0');
    for (char& c : text) c = static_cast<char>(Below(256));
    return text;
  }
  std::string RandomPieces() {
    std::string text;
    for (std::size_t n = Below(60); n > 0; --n) text += kPieces[Below(std::size(kPieces))];
    return text;
  }
  std::string Mutated(std::string text) {
    for (std::size_t n = Below(2) + 1; n > 0; --n) {
      const std::size_t at = Below(text.size() + 1);
      switch (Below(4)) {
        case 0:
          text.insert(at, kPieces[Below(std::size(kPieces))]);
          break;
        case 1:
          text.erase(at, Below(20));
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(Below(256));
          break;
        default:
          text.resize(at);
      }
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

// Whether it was taken.
bool CheckTotal(const std::string& text) {
  std::vector<PolicyWarning> warnings;
  const auto policy = ParsePolicy(text, "fuzz", &warnings);
  if (!policy) {
    EXPECT_THAT(policy.error().message, testing::MatchesRegex("fuzz:[0-9]+:[0-9]+: (.|\n)+")) << text;
    return false;
  }
  const auto again = ParsePolicy(PolicyToJson(*policy), "again");
  EXPECT_TRUE(again) << text;
  EXPECT_EQ(again.value_or(Policy()), *policy) << text;
  EXPECT_TRUE(ToolGate::Compile(policy->tools)) << text;
  return true;
}

TEST(ParsePolicyFuzzTest, AnswersEveryText) {
  PolicyFuzz fuzz(20240607);
  const std::string small =
      R"({"extends": "open", "imports": {"deny": ["a.b"]}, "limits": {"wall_s": 1.5, "threads": 2}, "tools": {"default":
      "ask", "rules": [{"tool": "x", "effect": "deny", "where": {"a": {"matches": "x+$", "one_of": ["b", 1, null],
      "minimum": 1, "path_prefix": "/a/b", "hosts": ["*.a.org"]}}}]}, "files": {"read": ["/srv"]}, /* c */ "layers":
      {"require": ["seccomp", "landlock"]}})";
  ASSERT_TRUE(CheckTotal(small));
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < 8000; ++round) {
    CheckTotal(fuzz.RandomBytes());
    CheckTotal(fuzz.RandomPieces());
    ++(CheckTotal(fuzz.Mutated(small)) ? taken : refused);
  }
  // Both kinds of answer were met often enough for this to mean something.
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 1000);
}

TEST(ParsePolicyFuzzTest, AnswersEveryBeginningOfAPreset) {
  for (const Preset& preset : Presets()) {
    const std::string text(preset.text);
    const std::size_t end = text.rfind('}');
    for (std::size_t size = 0; size <= end; ++size) ASSERT_FALSE(CheckTotal(text.substr(0, size))) << size;
    EXPECT_TRUE(CheckTotal(text.substr(0, end + 1)));
  }
}

}  // namespace
}  // namespace gloveport
