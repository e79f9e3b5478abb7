#include "gloveport/policy/instant.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(InstantTest, AnInstantIsReadAndWrittenBackAsItWas) {
  for (const char* text : {"1970-01-01T00:00:00Z", "2026-02-28T23:59:59Z", "2024-02-29T12:00:00.5Z",
                           "2200-12-31T23:59:59.999999999Z", "2000-01-01T00:00:00.000000001Z"}) {
    const auto instant = ParseInstant(text);
    ASSERT_TRUE(instant) << text;
    EXPECT_EQ(FormatInstant(*instant), text);
  }
}

TEST(InstantTest, CountsFrom1970) {
  EXPECT_EQ(ParseInstant("1970-01-02T00:00:01.25Z"), seconds(86'401) + nanoseconds(250'000'000));
  EXPECT_EQ(ParseInstant("2026-01-31T12:00:00Z"), seconds(1'769'860'800));
}

TEST(InstantTest, OtherTextsAreNone) {
  for (const char* text :
       {"", "real", "2026-01-31", "2026-01-31T12:00:00", "2026-1-31T12:00:00Z", "2026-01-31 12:00:00Z",
        "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
        "2026-01-31T12:00:60Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00.1234567890Z",
        "2026-01-31T12:00:00.1x3Z", "2026-01-31T12:00:00ZZ", "-026-01-31T12:00:00Z", "2026-01--1T12:00:00Z",
        "1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z"}) {
    EXPECT_FALSE(ParseInstant(text)) << text;
  }
}

}  // namespace
}  // namespace gloveport
