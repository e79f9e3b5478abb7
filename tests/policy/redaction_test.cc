#include "gloveport/policy/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/policy/presets.h"

namespace gloveport {
namespace {

// Secrets are put together from pieces, so that nobody takes this file for a leak.
std::string Repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

Redactor BuiltInOnly() {
  auto redactor = Redactor::Compile(Policy{});
  EXPECT_TRUE(redactor);
  return std::move(*redactor);
}

Redactor Own(std::vector<RedactionPattern> patterns) {
  Policy policy;
  policy.redact_secrets = false;
  policy.redact = std::move(patterns);
  auto redactor = Redactor::Compile(policy);
  EXPECT_TRUE(redactor) << redactor.error().message;
  return std::move(*redactor);
}

struct Secret {
  std::string name;
  std::string text;      // with a secret in it
  std::string expected;  // without
};

std::vector<Secret> Secrets() {
  const std::string key = Repeat("aB3", 20);
  const std::string dashes = "-----";
  return {
      {"private-key",
       dashes + "BEGIN RSA PRIVATE KEY" + dashes + "\nMIIE\nabc=\n" + dashes + "END RSA PRIVATE KEY" +
           dashes + "\nrest",
       "[redacted:private-key]\nrest"},
      {"private-key", dashes + "BEGIN PRIVATE KEY" + dashes + "\ncut off", "[redacted:private-key]"},
      {"aws-access-key", "id AKIA" + Repeat("ABCD", 4) + " end", "id [redacted:aws-access-key] end"},
      {"aws-secret-key", "aws_secret_access_key = " + Repeat("aB3/", 10) + "\n",
       "aws_secret_access_key = [redacted:aws-secret-key]\n"},
      {"anthropic-key", "sk-ant-api03-" + key, "[redacted:anthropic-key]"},
      {"openai-key", "key=sk-proj-" + key + ";", "key=[redacted:openai-key];"},
      {"github-token", "ghp_" + key, "[redacted:github-token]"},
      {"github-token", "github_pat_" + key, "[redacted:github-token]"},
      {"gitlab-token", "glpat-" + key, "[redacted:gitlab-token]"},
      {"slack-token", "xoxb-123-" + key, "[redacted:slack-token]"},
      {"slack-webhook", "https://hooks.slack.com/services/T0/B0/" + key,
       "https://hooks.slack.com/services/[redacted:slack-webhook]"},
      {"google-api-key", "AIza" + key.substr(0, 35), "[redacted:google-api-key]"},
      {"google-oauth-token", "ya29." + key, "[redacted:google-oauth-token]"},
      {"stripe-key", "sk_live_" + key, "[redacted:stripe-key]"},
      {"npm-token", "npm_" + key.substr(0, 36), "[redacted:npm-token]"},
      {"pypi-token", "pypi-" + key, "[redacted:pypi-token]"},
      {"huggingface-token", "hf_" + key.substr(0, 34), "[redacted:huggingface-token]"},
      {"sendgrid-key", "SG." + key.substr(0, 22) + "." + key, "[redacted:sendgrid-key]"},
      {"jwt", "token eyJhbGciOiJI.eyJzdWIiOiIx.c2ln rest", "token [redacted:jwt] rest"},
      {"bearer-token", "Authorization: Bearer " + key + "\n",
       "Authorization: Bearer [redacted:bearer-token]\n"},
      {"basic-credentials", "authorization: Basic dXNlcjpwYXNz",
       "authorization: Basic [redacted:basic-credentials]"},
      {"url-password", "postgres://me:hunter2@db/x", "postgres://me:[redacted:url-password]@db/x"},
      {"secret-value", "DB_PASSWORD = 'hunter22'", "DB_PASSWORD = '[redacted:secret-value]'"},
      {"secret-value", R"({"api_key": "abcdef123"})", R"({"api_key": "[redacted:secret-value]"})"},
  };
}

TEST(RedactorTest, TakesOutSecretsOfCommonForms) {
  const Redactor redactor = BuiltInOnly();
  std::set<std::string> seen;
  for (const Secret& secret : Secrets()) {
    EXPECT_EQ(redactor.Apply(secret.text), secret.expected) << secret.name;
    EXPECT_TRUE(redactor.Finds(secret.text)) << secret.name;
    EXPECT_FALSE(redactor.Finds(secret.expected)) << secret.name << ": what is redacted stays as it is";
    seen.insert(secret.name);
  }
  for (const RedactionPattern& pattern : BuiltInRedactions()) {
    EXPECT_TRUE(seen.contains(pattern.name)) << "no case for " << pattern.name;
  }
}

TEST(RedactorTest, LeavesOrdinaryTextAlone) {
  const Redactor redactor = BuiltInOnly();
  for (const std::string text :
       {"", "plain words", "the bearer of good news arrives tomorrow morning",
        "password = input('Password: ')", "def check_password(password): return len(password) > 8",
        "task-force-of-many-people-with-dashes", "df['api_key'].nunique()", "https://example.org/a:b@c",
        "https://example.org:8080/path", "risk-adjusted-return-of-the-portfolio",
        "d41d8cd98f00b204e9800998ecf8427e",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "-----BEGIN CERTIFICATE-----",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "token = tokens[0]", "\xff\xfe not UTF-8"}) {
    EXPECT_EQ(redactor.Apply(text), text);
    EXPECT_FALSE(redactor.Finds(text)) << text;
  }
}

TEST(RedactorTest, OwnPatternsAndTheirGroups) {
  EXPECT_EQ(Own({{"badge", "B-[0-9]{3}"}}).Apply("B-123 and B-456, not B-12"),
            "[redacted:badge] and [redacted:badge], not B-12");
  EXPECT_EQ(Own({{"pin", "pin ([0-9]+)"}}).Apply("pin 1234, pin x"), "pin [redacted:pin], pin x");
  // A group that took no part: the whole of the match goes.
  EXPECT_EQ(Own({{"a", "x(y)?z"}}).Apply("xz xyz"), "[redacted:a] x[redacted:a]z");
}

TEST(RedactorTest, OverlapsGoAsOne) {
  EXPECT_EQ(Own({{"one", "abc"}, {"two", "bcde"}}).Apply("xabcdex"), "x[redacted:one]x");
  EXPECT_EQ(Own({{"one", "ab"}, {"two", "cd"}}).Apply("abcd"), "[redacted:one][redacted:two]");
}

TEST(RedactorTest, WhatWasReplacedIsNotLookedAtAgain) {
  EXPECT_EQ(Own({{"redacted", "[a-z]+"}}).Apply("ab"), "[redacted:redacted]");
}

TEST(RedactorTest, KeepsInvalidUtf8AndNulBytes) {
  using std::literals::string_literals::operator""s;
  EXPECT_EQ(Own({{"n", "[0-9]+"}}).Apply("\xff\0"s + "12\xfe"), "\xff\0"s + "[redacted:n]\xfe");
}

TEST(RedactorTest, TimeIsLinear) {
  const Redactor redactor = BuiltInOnly();
  const std::string text = Repeat("eyJaaa.eyJ", 1 << 16) + Repeat("password:", 1 << 14);
  EXPECT_TRUE(redactor.Apply(text) == text);  // the test's time limit is the bound
}

TEST(RedactorTest, NothingToTakeOut) {
  Policy policy;
  policy.redact_secrets = false;
  EXPECT_TRUE(Redactor::Compile(policy)->empty());
  EXPECT_EQ(Redactor().Apply("sk-ant-" + Repeat("a", 40)), "sk-ant-" + Repeat("a", 40));
  EXPECT_FALSE(BuiltInOnly().empty());
}

TEST(RedactorTest, PresetsRedactSecrets) {
  for (const Preset& preset : Presets())
    EXPECT_TRUE(PresetPolicy(preset.name)->redact_secrets) << preset.name;
}

TEST(RedactorTest, RefusesPatternsThatMatchEverywhere) {
  EXPECT_FALSE(CheckRedactionPattern("x*"));
  EXPECT_FALSE(CheckRedactionPattern("("));
  EXPECT_TRUE(CheckRedactionPattern("x+"));
}

}  // namespace
}  // namespace gloveport
