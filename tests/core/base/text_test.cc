#include "gloveport/core/base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

struct Utf8Case {
  std::string_view text;
  bool valid;
};

TEST(Utf8, TakesWhatIsWellFormedOnly) {
  const std::array<Utf8Case, 12> cases = {{
      {"", true},
      {"plain", true},
      {"na\xC3\xAFve \xE6\x97\xA5 \xF0\x9F\x98\x80", true},
      {"\xC0\x80", false},          // overlong
      {"\xE0\x80\x80", false},      // overlong
      {"\xF0\x80\x80\x80", false},  // overlong
      {"\xED\xA0\x80", false},      // surrogate
      {"\xF4\x90\x80\x80", false},  // beyond U+10FFFF
      {"\xC3", false},              // cut
      {"\x80", false},              // continuation without a start
      {"\xF8\x88\x80\x80\x80", false},
      {"\xF4\x8F\xBF\xBF", true},  // U+10FFFF
  }};
  for (const Utf8Case& c : cases) {
    EXPECT_EQ(IsValidUtf8(c.text), c.valid) << EscapeForTerminal(c.text);
    EXPECT_TRUE(IsValidUtf8(ToValidUtf8(c.text)));
    if (c.valid) {
      EXPECT_EQ(ToValidUtf8(c.text), c.text);
    }
  }
}

TEST(EscapeForTerminal, MakesVisibleWhatCouldMoveOrHideText) {
  EXPECT_EQ(EscapeForTerminal("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(EscapeForTerminal("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(EscapeForTerminal("x\ry"), "x\\x0dy");
  EXPECT_EQ(EscapeForTerminal("\xE2\x80\xAE"
                              "evil"),
            "\\u202eevil");
  EXPECT_EQ(EscapeForTerminal("\xC2\x9B"
                              "0m"),
            "\\x9b0m");  // the one-character form of ESC [
  EXPECT_EQ(EscapeForTerminal("\xFF"), "\\xff");
  EXPECT_EQ(EscapeForTerminal("\xE6\x97\xA5"), "\xE6\x97\xA5");
}

TEST(Base64, GoesThereAndBack) {
  const std::array<std::pair<std::string_view, std::string_view>, 5> cases = {
      {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}}};
  for (const auto& [plain, encoded] : cases) {
    EXPECT_EQ(EncodeBase64(AsBytes(plain)), encoded);
    const auto decoded = DecodeBase64(encoded);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(AsText(*decoded), plain);
  }
  for (const std::string_view bad : {"Zg=", "Z", "Zg==Zg==", "Z!==", "Zg= ="})
    EXPECT_FALSE(DecodeBase64(bad)) << bad;
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(SplitLines("a\n\nb\n"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_TRUE(SplitLines("").empty());
  EXPECT_EQ(Trim(" \t x y \n"), "x y");
  EXPECT_EQ(Trim(" \n"), "");
}

}  // namespace
}  // namespace gloveport
