#include "gloveport/core/agent/python_text.h"

#include <gtest/gtest.h>

#include <string>

namespace gloveport {
namespace {

using Place = PythonLexer::Place;

TEST(PythonLexerTest, KnowsStringsAndCommentsFromCode) {
  // The place just before the mark '@'.
  const struct {
    const char* text;
    Place place;
  } kTable[] = {
      {"@", Place::kCode},           {"x = 1 @", Place::kCode},      {"x = '@'", Place::kString},
      {"x = ''@", Place::kCode},     {"x = '\\'@", Place::kString},  {"x = r'\\'@", Place::kString},
      {"x = '\\\\'@", Place::kCode}, {"x = 'a\n@", Place::kCode},    {"x = 'a\\\n@", Place::kString},
      {"# it's @", Place::kComment}, {"# it's\n@", Place::kCode},    {"'#'@", Place::kCode},
      {"'''\n'@", Place::kString},   {"'''\n''@", Place::kString},   {"'''\n'''@", Place::kCode},
      {"''''a'''@", Place::kCode},   {"\"\"\"'''@", Place::kString}, {"f\"{x['a']}\"@", Place::kCode},
  };
  for (const auto& row : kTable) {
    const std::string text = row.text;
    EXPECT_EQ(PythonLexer(text).At(text.find('@')), row.place) << row.text;
  }
}

TEST(PythonTextTest, DedentTakesTheIndentAndWhatAllLinesShare) {
  const struct {
    const char* code;
    const char* indent;
    const char* expected;
  } kTable[] = {
      {"a\n  b", "", "a\n  b"},           {"  a\n  b", "  ", "a\nb"},
      {"    a\n      b", "  ", "a\n  b"}, {"  a\nb", "  ", "a\nb"},
      {"\ta\n\tb", "", "a\nb"},           {"  a\n\n  b", "  ", "a\n\nb"},
      {"\ta\n  b", "", "\ta\n  b"},       {"", "  ", ""},
  };
  for (const auto& row : kTable) EXPECT_EQ(Dedent(row.code, row.indent), row.expected) << row.code;
}

TEST(PythonTextTest, TrailersGoOnlyWhereTheyAreNoCode) {
  const struct {
    const char* raw;
    const char* expected;
  } kTable[] = {
      {"f()\n</code>\n", "f()"},    {"f()\n</cod", "f()"},
      {"f()\n</", "f()"},           {"f()\n``", "f()"},
      {"f()\n~~", "f()"},           {"f()<end_code>", "f()"},
      {"f()<|im_end|>\n", "f()"},   {"f()</code>\n```\n<|eot_id|>", "f()"},
      {"f('</code>", "f('</code>"}, {"# a <|b|>", "# a <|b|>"},
      {"x = a <", "x = a <"},       {"x = a | b |>", "x = a | b |>"},
  };
  for (const auto& row : kTable) EXPECT_EQ(TrimTrailers(row.raw), row.expected) << row.raw;
}

TEST(PythonTextTest, NormalizeMakesLineEndsAndUtf8) {
  EXPECT_EQ(NormalizeText("a\r\nb\rc\n"), "a\nb\nc\n");
  EXPECT_EQ(NormalizeText("\xFF"), "\uFFFD");
}

}  // namespace
}  // namespace gloveport
