#include "gloveport/policy/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace gloveport {
namespace {

TEST(EditDistanceTest, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("improts", "imports"), 1u);  // neighbours swapped
}

TEST(NearestTest, FindsWhatWasMeantAndNothingFarAway) {
  static constexpr std::array<std::string_view, 3> kNames = {"imports", "limits", "wall_s"};
  EXPECT_EQ(Nearest("Imports", kNames), "imports");
  EXPECT_EQ(Nearest("limit", kNames), "limits");
  EXPECT_EQ(Nearest("wall-s", kNames), "wall_s");
  EXPECT_EQ(Nearest("wall", kNames), "wall_s");
  EXPECT_EQ(Nearest("imports_allowed", kNames), "imports");
  EXPECT_EQ(Nearest("im", kNames), "");
  EXPECT_EQ(Nearest("tools", kNames), "");
  EXPECT_EQ(Nearest("x", kNames), "");
  EXPECT_EQ(Nearest("", kNames), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'i'), kNames), "");
}

}  // namespace
}  // namespace gloveport
