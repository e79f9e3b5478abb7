#include "gloveport/core/record/kept_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/record/audit_records.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSecret = "tok-0123456789abcdef";

Redactor TokenRedactor() {
  const auto policy = ParsePolicy(R"({"redact":[{"name":"token","pattern":"tok-[0-9a-f]{16}"}]})", "test");
  EXPECT_TRUE(policy) << policy.error().message;
  return *Redactor::Compile(*policy);
}

TEST(KeptValueTest, HashSizeAndValueOfWhatHasNoSecret) {
  const Json value = {{"a", 1}, {"b", "text"}};
  const Json kept = KeptJson(TokenRedactor(), value, 100);
  EXPECT_EQ(kept["sha256"], Sha256Hex(R"({"a":1,"b":"text"})"));
  EXPECT_EQ(kept["bytes"], 18);
  EXPECT_EQ(kept["value"], value);
  EXPECT_FALSE(kept.contains("redacted"));
}

TEST(KeptValueTest, SecretsAreTakenOutOfTextsAndKeysAtAnyDepth) {
  const Json value = {{"list", {Json{{std::string(kSecret), "x"}}, "key " + std::string(kSecret)}}};
  const Json kept = KeptJson(TokenRedactor(), value, 1000);
  EXPECT_EQ(kept["redacted"], true);
  EXPECT_EQ(kept["value"].dump(), R"({"list":[{"[redacted:token]":"x"},"key [redacted:token]"]})");
  EXPECT_EQ(kept["sha256"], Sha256Hex(value.dump())) << "of what it was";
}

TEST(KeptValueTest, OfWhatIsTooLargeOnlyHashAndSizeAreKept) {
  const Json value = std::string(50, 'x');
  EXPECT_TRUE(KeptJson(Redactor(), value, 52).contains("value"));
  const Json kept = KeptJson(Redactor(), value, 51);
  EXPECT_FALSE(kept.contains("value"));
  EXPECT_EQ(kept["bytes"], 52);
}

TEST(KeptValueTest, BytesAreKeptInTheirForm) {
  const Json kept = KeptValue(Redactor(), Value(Value::Bytes{std::byte{'h'}, std::byte{'i'}}), 100);
  EXPECT_EQ(kept["value"].dump(), R"({"$bytes":"aGk="})");
}

// Wherever the limit falls in it.
TEST(KeptValueTest, ACutDoesNotPartASecret) {
  const std::string text = "before " + std::string(kSecret) + " after";
  for (std::size_t limit = 0; limit <= text.size(); ++limit) {
    const std::string kept = KeptText(TokenRedactor(), text, limit);
    EXPECT_LE(kept.size(), std::max(limit, text.size()));
    EXPECT_THAT(kept, Not(HasSubstr("tok-"))) << limit;
  }
}

TEST(KeptValueTest, ACutLeavesUtf8) {
  EXPECT_EQ(KeptText(Redactor(), "\u00e9\u00e9\u00e9", 3), "\u00e9\ufffd");
  EXPECT_EQ(KeptText(Redactor(), "a\xff", 10), "a\ufffd");
}

class OutputDigestTest : public testing::Test {
 protected:
  Json Digest(std::string_view text, std::size_t limit, std::size_t step) {
    OutputDigest digest;
    for (std::size_t at = 0; at < text.size(); at += step) digest.Add(text.substr(at, step), limit);
    return digest.Take({TokenRedactor(), 1000, 1000, limit});
  }
};

TEST_F(OutputDigestTest, OfAllOfItHashAndSizeOfTheBeginningTheText) {
  const std::string text(1000, 'x');
  for (const std::size_t step : {1, 7, 1000}) {
    const Json digest = Digest(text, 100, step);
    EXPECT_EQ(digest["bytes"], 1000);
    EXPECT_EQ(digest["sha256"], Sha256Hex(text));
    EXPECT_EQ(digest["text"], text.substr(0, 100));
  }
}

TEST_F(OutputDigestTest, BeginsAnewForTheNextCell) {
  OutputDigest digest;
  digest.Add("first", 100);
  (void)digest.Take({TokenRedactor(), 1000, 1000, 100});
  const Json empty = digest.Take({TokenRedactor(), 1000, 1000, 100});
  EXPECT_EQ(empty["bytes"], 0);
  EXPECT_EQ(empty["sha256"], Sha256Hex(""));
  EXPECT_FALSE(empty.contains("text"));
}

// Many secrets make the text short, and so the end of what was at hand would come into what is kept.
TEST_F(OutputDigestTest, NoSecretIsPartedByTheEndOfWhatWasAtHand) {
  for (std::size_t shift = 0; shift < 25; ++shift) {
    std::string text(shift, '.');
    for (int i = 0; i < 40; ++i) text += std::string(kSecret) + " ";
    const Json digest = Digest(text, 100, 13);
    EXPECT_THAT(digest["text"].get<std::string>(), Not(HasSubstr("tok-"))) << shift;
    EXPECT_LE(digest["text"].get<std::string>().size(), 100u);
  }
}

}  // namespace
}  // namespace gloveport
