#include "gloveport/tools/builtin/regex_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

std::string Found(std::string_view pattern, std::string_view text,
                  std::pair<std::string_view, Value> more = {}) {
  const auto tool = MakeRegexSearch();
  if (more.first.empty()) return Said(**tool, {{"pattern", pattern}, {"text", text}});
  return Said(**tool, {{"pattern", pattern}, {"text", text}, more});
}

TEST(RegexSearch, GivesPlacesInCharactersAndGroups) {
  EXPECT_EQ(Found("(?P<key>\\w+)=(\\d+)?", "\xC3\xA4\xC3\xB6 a=1 b="),
            "[{'text': 'a=1', 'start': 3, 'end': 6, 'groups': ['a', '1'], 'named': {'key': 'a'}}, "
            "{'text': 'b=', 'start': 7, 'end': 9, 'groups': ['b', None], 'named': {'key': 'b'}}]");
  EXPECT_EQ(Found("x", "abc"), "[]");
}

TEST(RegexSearch, GoesOnAfterAnEmptyMatch) {
  const std::string found = Found("b*",
                                  "\xC3\xA4"
                                  "bb");
  EXPECT_THAT(found, HasSubstr("'text': '', 'start': 0, 'end': 0"));
  EXPECT_THAT(found, HasSubstr("'text': 'bb', 'start': 1, 'end': 3"));
  EXPECT_THAT(Found("", ""), HasSubstr("'start': 0"));
}

TEST(RegexSearch, KnowsFlags) {
  EXPECT_EQ(Found("^B", "a\nb"), "[]");
  EXPECT_THAT(Found("(?i)^B", "a\nb", {"multi_line", true}), HasSubstr("'start': 2"));
  EXPECT_THAT(Found("B", "b", {"ignore_case", true}), HasSubstr("'b'"));
  EXPECT_EQ(Found("a.b", "a\nb"), "[]");
  EXPECT_THAT(Found("a.b", "a\nb", {"dot_all", true}), HasSubstr("'end': 3"));
  EXPECT_EQ(Found("a", "aaa", {"max_matches", 2}).find("'start': 2"), std::string::npos);
}

TEST(RegexSearch, SaysWhatItDoesNotTake) {
  EXPECT_THAT(Found("(?=a)b", "x"), HasSubstr("without lookaround and backreferences"));
  EXPECT_THAT(Found("(a", "x"), HasSubstr("missing"));
  EXPECT_THAT(Found(std::string(20'000, 'a'), "x"), HasSubstr("more than 10000"));
}

TEST(RegexSearch, BoundsWhatManyGroupsGive) {
  const std::string pattern = "(?P<n>(((.*))))";
  EXPECT_THAT(Found(pattern, std::string(2'000'000, 'a')), HasSubstr("too large"));
  EXPECT_THAT(Found(pattern, "a"), HasSubstr("'text': 'a'"));
}

TEST(RegexSearch, TakesLinearTimeForWhatOthersTakeForever) {
  EXPECT_EQ(Found("(a+)+$", std::string(100'000, 'a') + "b"), "[]");
}

}  // namespace
}  // namespace gloveport
