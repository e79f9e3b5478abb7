#include "gloveport/policy/lexical_path.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

TEST(NormalPathTest, ResolvesWhatTextAloneCan) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/", "/"},
      {"//", "/"},
      {"/a", "/a"},
      {"/a/", "/a"},
      {"/a//b/./c", "/a/b/c"},
      {"/a/../b", "/b"},
      {"/..", "/"},
      {"/../../x", "/x"},
      {"a", "a"},
      {"./a", "a"},
      {"a/..", "."},
      {".", "."},
      {"a/../b", "b"},
      {"/a/b/../..", "/"},
      {"...", "..."},
      {"/.../x", "/.../x"},
      {"/a/..b", "/a/..b"},
      {" /a", " /a"},
  };
  for (const auto& [path, normal] : cases) EXPECT_EQ(NormalPath(path), normal) << path;
}

TEST(NormalPathTest, RefusesWhatLeadsNobodyKnowsWhere) {
  for (const std::string_view path : {std::string_view(""), std::string_view(".."), std::string_view("../x"),
                                      std::string_view("a/../../x"), std::string_view("/a\0b", 4)}) {
    EXPECT_EQ(NormalPath(path), std::nullopt) << path;
  }
}

TEST(IsAtOrBelowTest, ComparesWholeParts) {
  struct Case {
    std::string_view path, folder;
    bool below;
  };
  const Case cases[] = {
      {"/a", "/a", true},    {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/a", false},
      {"/b/a", "/a", false}, {"/a", "/", true},    {"/", "/", true},     {"a", "/", false},
      {"a", ".", true},      {"/a", ".", false},   {"a/b", "a", true},   {"ab", "a", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(IsAtOrBelow(c.path, c.folder), c.below) << c.path << " below " << c.folder;
}

}  // namespace
}  // namespace gloveport
