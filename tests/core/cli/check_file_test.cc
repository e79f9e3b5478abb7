#include "gloveport/core/cli/check_file.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

std::string Text(const std::vector<std::string>& earlier, std::string_view code) {
  return MakeCheckFile("import tools", earlier, code).text;
}

TEST(CheckFileTest, PutsTheCellBehindTheEarlierOnes) {
  const CheckFile file = MakeCheckFile("import tools", {"a = 1\nb = 2", "c = 3\n"}, "a + b\nd");
  EXPECT_EQ(file.text, "import tools\na = 1\nb = 2\nc = 3\na + b\nd\n");
  EXPECT_EQ(file.lines_before, 4);
  EXPECT_EQ(MakeCheckFile("import tools", {}, "x").lines_before, 1);
}

TEST(CheckFileTest, NamesAnewWhatIsDefinedAgain) {
  EXPECT_EQ(
      Text({"def f(a):\n  return a\nclass C: pass\n", "async def f(b): pass"}, "class C:\n  x = 1\nf(1)"),
      "import tools\n"
      "def _replaced_later_f(a):\n  return a\nclass _replaced_later_C: pass\n"
      "async def f(b): pass\n"
      "class C:\n  x = 1\nf(1)\n");
  EXPECT_EQ(Text({"def f(): pass"}, "f = 1\ng == 2"),
            "import tools\ndef _replaced_later_f(): pass\nf = 1\ng == 2\n");
  // Only whole names, and only what stands at the beginning of a line.
  EXPECT_EQ(Text({"def f(): pass\ndefault = 1"}, "def ff(): pass\nif 1:\n  def f(): pass\nf == 1"),
            "import tools\ndef f(): pass\ndefault = 1\ndef ff(): pass\nif 1:\n  def f(): pass\nf == 1\n");
}

TEST(CheckFileTest, GoesOnBehindAnAnswer) {
  EXPECT_EQ(Text({"final_answer(1)\nmy_final_answer(2)"}, "final_answer(3)"),
            "import tools\nprint(1)\nmy_final_answer(2)\nfinal_answer(3)\n");
}

TEST(CheckFileTest, PutsFutureImportsFirst) {
  const CheckFile file =
      MakeCheckFile("import tools", {"from __future__ import annotations\nx = 1"},
                    "from __future__ import annotations\nfrom __future__ import division\ny");
  EXPECT_EQ(
      file.text,
      "from __future__ import annotations\nfrom __future__ import division\nimport tools\n\nx = 1\n\n\ny\n");
  EXPECT_EQ(file.lines_before, 5);
}

}  // namespace
}  // namespace gloveport
