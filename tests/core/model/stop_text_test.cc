#include "gloveport/core/model/stop_text.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

struct Cut {
  std::string text;
  bool stopped;
};

Cut CutBy(const std::vector<std::string>& stop, std::string_view text, std::size_t size) {
  StopCutter cutter(stop);
  std::string all;
  while (!text.empty()) {
    all += cutter.Take(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  all += cutter.End();
  return {all, cutter.stopped()};
}

TEST(StopCutter, CutsBeforeTheFirstSequenceHoweverTheTextIsCut) {
  struct Case {
    std::vector<std::string> stop;
    const char* text;
    const char* left;
    bool stopped;
  };
  const Case cases[] = {
      {{}, "abc", "abc", false},
      {{""}, "abc", "abc", false},
      {{"b"}, "abc", "a", true},
      {{"END"}, "one END two END", "one ", true},
      {{"STOP", "END"}, "one END two STOP", "one ", true},
      {{"aab"}, "aaaab", "aa", true},
      {{"abab"}, "abaabab!", "aba", true},
      {{"END"}, "EN", "EN", false},
      {{"END"}, "ENEN D", "ENEN D", false},
      {{"a", "abc"}, "xabc", "x", true},
      {{"\n\n"}, "a\nb\n\nc", "a\nb", true},
  };
  for (const Case& c : cases) {
    for (const std::size_t size : {1, 2, 3, 100}) {
      const Cut cut = CutBy(c.stop, c.text, size);
      EXPECT_EQ(cut.text, c.left) << c.text << " by " << size;
      EXPECT_EQ(cut.stopped, c.stopped) << c.text;
    }
  }
}

TEST(StopCutter, HoldsBackNoMoreThanItMust) {
  StopCutter cutter({"END"});
  EXPECT_EQ(cutter.Take("one"), "one");
  EXPECT_EQ(cutter.Take(" E"), " ");
  EXPECT_EQ(cutter.Take("x"), "Ex");
  EXPECT_EQ(cutter.Take("EEN"), "E");
  EXPECT_EQ(cutter.End(), "EN");
}

}  // namespace
}  // namespace gloveport
