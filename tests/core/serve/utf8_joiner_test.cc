#include "gloveport/core/serve/utf8_joiner.h"

#include <gtest/gtest.h>

#include <string>

namespace gloveport {
namespace {

TEST(Utf8Joiner, EveryCutOfATextGivesWholeCharacters) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Utf8Joiner joiner;
    const std::string first = joiner.Add(text.substr(0, cut));
    const std::string second = joiner.Add(text.substr(cut));
    EXPECT_EQ(first + second, text) << cut;
    EXPECT_TRUE(first.empty() ||
                (static_cast<unsigned char>(second.empty() ? 'a' : second[0]) & 0xC0) != 0x80)
        << cut;
    EXPECT_EQ(joiner.Take(), "") << cut;
  }
}

TEST(Utf8Joiner, OneByteAtATimeDelaysOnlyUntilTheCharacterIsWhole) {
  Utf8Joiner joiner;
  EXPECT_EQ(joiner.Add("\xf0"), "");
  EXPECT_EQ(joiner.Add("\x9f"), "");
  EXPECT_EQ(joiner.Add("\x98"), "");
  EXPECT_EQ(joiner.Add("\x80"), "\U0001F600");
}

TEST(Utf8Joiner, WhatIsNoTextIsNotHeldBack) {
  Utf8Joiner joiner;
  EXPECT_EQ(joiner.Add("\xff"), "\xff");
  EXPECT_EQ(joiner.Add("\x80\x80\x80\x80"), "\x80\x80\x80\x80");
}

TEST(Utf8Joiner, TakeGivesTheUnfinishedRest) {
  Utf8Joiner joiner;
  EXPECT_EQ(joiner.Add("ok\xe2\x82"), "ok");
  EXPECT_EQ(joiner.Take(), "\xe2\x82");
  EXPECT_EQ(joiner.Take(), "");
}

}  // namespace
}  // namespace gloveport
