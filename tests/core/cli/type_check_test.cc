#include "gloveport/core/cli/type_check.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

std::string Read(TypeChecker checker, std::string_view output, int lines_before = 1) {
  std::string all;
  for (const Finding& finding : ReadFindings(checker, output, lines_before))
    all += std::to_string(finding.line) + ":" + std::to_string(finding.column) + " " + finding.message + "\n";
  return all;
}

TEST(TypeCheck, ReadsWhatMypySays) {
  EXPECT_EQ(
      Read(TypeChecker::kMypy,
           "cell.py:3:14: error: Argument 1 to \"f\" has type \"int\"; expected \"list[str]\"  [arg-type]\n"
           "cell.py:3:14: note: Did you mean?\n"
           "cell.py:6:1: error: Cannot find module named \"x\"  [import-not-found]\n"
           "cell.py:7: error: invalid syntax  [syntax]\n"
           "other.py:1:1: error: not ours  [x]\n"
           "cell.py:1:1: error: in the line before  [x]\n"),
      "2:14 Argument 1 to \"f\" has type \"int\"; expected \"list[str]\" [arg-type]\n"
      "6:0 invalid syntax [syntax]\n");
  EXPECT_EQ(Read(TypeChecker::kMypy, "cell.py:3:14: error: x  [y]", 0), "3:14 x [y]\n");
  EXPECT_EQ(Read(TypeChecker::kMypy, ""), "");
  EXPECT_EQ(Read(TypeChecker::kMypy,
                 "cell.py\ncell.py:\ncell.py:x\ncell.py:1:2\ncell.py:9999999999999:1: error: x"),
            "");
}

TEST(TypeCheck, ReadsWhatTySays) {
  EXPECT_EQ(Read(TypeChecker::kTy,
                 "cell.py:4:19: error[invalid-key] Unknown key \"stat\" for R[x]\n"
                 "cell.py:5:1: error[invalid-syntax] `await` outside of an asynchronous function\n"
                 "cell.py:6:8: error[unresolved-import] Cannot resolve imported module `numpy`\n"
                 "cell.py:7:1: warning[x] y\nFound 3 diagnostics\n"),
            "3:19 Unknown key \"stat\" for R[x] [invalid-key]\n");
}

TEST(TypeCheck, ReadsWhatPyrightSays) {
  EXPECT_EQ(Read(TypeChecker::kPyright, R"({"generalDiagnostics": [
      {"severity": "error", "message": "m", "rule": "reportArgumentType", "range": {"start": {"line": 2, "character": 13}}},
      {"severity": "warning", "message": "w", "range": {"start": {"line": 0, "character": 0}}},
      {"severity": "error", "message": "\"await\" allowed only within async function", "range": {"start": {"line": 4}}},
      {"severity": "error", "message": "bare", "range": {"start": {"line": 1}}},
      {"severity": "error", "message": "before"}, 7]})"),
            "2:14 m [reportArgumentType]\n1:1 bare\n");
  EXPECT_EQ(Read(TypeChecker::kPyright, "no JSON"), "");
}

}  // namespace
}  // namespace gloveport
