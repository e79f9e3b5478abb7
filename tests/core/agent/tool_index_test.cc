#include "gloveport/core/agent/tool_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gloveport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ToolSpec Spec(const std::string& description) {
  ToolSpec spec;
  spec.name = "find";
  spec.description = description;
  spec.parameters = {{.name = "path", .annotation = "str"},
                     {.name = "limit", .annotation = "int", .default_value = Value(3)},
                     {.name = "more", .kind = ParameterKind::kKeywordVariadic}};
  return spec;
}

TEST(ToolLine, HasNamesAndTheFirstSentence) {
  EXPECT_EQ("find(path, limit=..., **more)  Finds files.", ToolLine(Spec("Finds files. Slowly,\nas it is.")));
  EXPECT_EQ("find(path, limit=..., **more)  Finds files that match",
            ToolLine(Spec("Finds files\n that match\n\nMore.")));
  EXPECT_EQ("find(path, limit=..., **more)", ToolLine(Spec("")));
}

TEST(ToolLine, IsOneShortLineWhateverTheDescriptionIs) {
  const std::string line = ToolLine(Spec("a\x1b[2J\r" + std::string(1000, '"')), 100);
  EXPECT_LE(line.size(), 100u);
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  ToolSpec many = Spec("d");
  for (int i = 0; i < 100; ++i)
    many.parameters.insert(many.parameters.begin(), {.name = "p" + std::to_string(i)});
  EXPECT_LE(ToolLine(many, 100).size(), 100u);
}

TEST(ToolIndex, ListsAllAndSaysHowToLearnMore) {
  const std::string index = ToolIndex({Spec("Finds."), Spec("Finds too.")});
  EXPECT_THAT(index, HasSubstr("There are 2 functions"));
  EXPECT_THAT(index, HasSubstr("tools.search("));
  EXPECT_THAT(index, HasSubstr("help(name)"));
  EXPECT_THAT(index, HasSubstr("\n# find(path, limit=..., **more)  Finds too.\n"));
}

}  // namespace
}  // namespace gloveport
