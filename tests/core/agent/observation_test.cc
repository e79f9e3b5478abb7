#include "gloveport/core/agent/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

CellResult Ran() {
  CellResult result;
  result.cell = 2;
  result.usage.wall = std::chrono::milliseconds(120);
  return result;
}

TEST(HeadAndTailTest, KeepsShortTextAndCutsTheMiddleOfLongText) {
  const struct {
    const char* name;
    std::string text;
    std::size_t max_bytes;
    std::string expected;
  } kTable[] = {
      {"short", "abc", 3, "abc"},
      {"empty", "", 0, ""},
      {"one long line", std::string(60, 'a') + std::string(40, 'b'), 10,
       "aaaaaa\n[... 90 characters left out ...]\nbbbb"},
      {"at line ends", "11111\n22222\n33333\n44444\n55555\n66666\n", 20,
       "11111\n22222\n[... 18 characters left out in 3 lines ...]\n66666\n"},
      {"inside a character", "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 7,
       "\u00e4\u00e4\n[... 5 characters left out ...]\n\u00e4"},
      {"nothing may stay", "abcdef", 0, "\n[... 6 characters left out ...]\n"},
  };
  for (const auto& row : kTable) EXPECT_EQ(HeadAndTail(row.text, row.max_bytes), row.expected) << row.name;
}

TEST(HeadAndTailTest, IsAlwaysValidUtf8AndNearTheLimit) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += i % 7 == 0 ? "\n" : i % 3 == 0 ? "\U0001F389" : "\u00e9x";
  for (std::size_t limit = 0; limit < text.size() + 2; ++limit) {
    const std::string cut = HeadAndTail(text, limit);
    ASSERT_TRUE(IsValidUtf8(cut)) << limit;
    ASSERT_LE(cut.size(), limit + 60) << limit;
  }
}

TEST(QuoteTest, MarksEveryLineAndSpellsControlCharactersOut) {
  EXPECT_EQ(Quote("a\nb"), "| a\n| b\n");
  EXPECT_EQ(Quote("a\r\x1b[2Jb\u202e"), "| a\\x0d\\x1b[2Jb\\u202e\n");
  EXPECT_EQ(Quote("\n\n"), "| \n| \n");
  EXPECT_EQ(Quote(""), "");
}

TEST(ObserveCellTest, ShowsOutputAndTypedValue) {
  CellResult result = Ran();
  result.out = "month  rate\nmar  51.99\n";
  result.repr = "4";
  result.type = "int";
  EXPECT_EQ(ObserveCell(result, "print(t)\n4"),
            "Observation: cell 2 ran (0.12 s).\n"
            "stdout (2 lines):\n| month  rate\n| mar  51.99\n"
            "value (int):\n| 4\n");
}

TEST(ObserveCellTest, SaysWhereNothingWasPrinted) {
  EXPECT_THAT(ObserveCell(Ran(), "x = 1"), HasSubstr("printed nothing"));
  CellResult result = Ran();
  result.out = "x";
  EXPECT_THAT(ObserveCell(result, "print('x')"), Not(HasSubstr("printed nothing")));
}

TEST(ObserveCellTest, NamesTheLineToMend) {
  CellResult result = Ran();
  result.outcome = Outcome::kError;
  result.error =
      PythonError{.type = "KeyError", .message = "'mnth'", .line = 2, .cell = 2, .traceback = "Traceback"};
  EXPECT_EQ(ObserveCell(result, "a = 1\nprint(row['mnth'])"),
            "Observation: cell 2 ended with an error (0.12 s).\n"
            "error: KeyError, line 2:\n| 'mnth'\n"
            "The line to mend:\n|    2  print(row['mnth'])\n");
}

TEST(ObserveCellTest, NamesTheCellOfAnErrorElsewhereAndShowsItsTraceback) {
  CellResult result = Ran();
  result.outcome = Outcome::kError;
  result.error = PythonError{.type = "ZeroDivisionError",
                             .message = "division by zero",
                             .line = 1,
                             .cell = 0,
                             .traceback = "a\nb\nc\nd\ne\nf\n"};
  EXPECT_THAT(ObserveCell(result, "f()"),
              AllOf(HasSubstr("error: ZeroDivisionError, line 1 of cell 0:\n| division by zero\n"),
                    HasSubstr("traceback:\n| a\n| b\n"), Not(HasSubstr("The line to mend"))));
}

TEST(ObserveCellTest, ExplainsARefusalWithRuleLineAndHint) {
  CellResult result = Ran();
  result.outcome = Outcome::kDenied;
  result.error = PythonError{.type = "PolicyError", .message = "said below already"};
  result.verdict = Verdict{Decision::kDeny,
                           {{.rule = "import",
                             .line = 1,
                             .column = 8,
                             .message = "module 'requests' is not allowed",
                             .hint = "read the file from the work folder"}}};
  EXPECT_EQ(ObserveCell(result, "import requests"),
            "Observation: cell 2 was refused before it ran; nothing of it was executed.\n"
            "- line 1, column 8 [import]: module 'requests' is not allowed\n"
            "|    1  import requests\n"
            "  Instead: read the file from the work folder\n");
}

TEST(ObserveCellTest, ListsOnlySoManyFindings) {
  CellResult result = Ran();
  result.outcome = Outcome::kDenied;
  result.verdict = Verdict{Decision::kDeny, std::vector<Finding>(12, Finding{.rule = "import", .line = 1})};
  EXPECT_THAT(ObserveCell(result, "import a", {.max_findings = 3}), HasSubstr("- and 9 more\n"));
}

TEST(ObserveCellTest, SaysWhatBecameOfTheVariables) {
  const struct {
    SessionState state;
    const char* text;
  } kTable[] = {{SessionState::kLost, "are lost"}, {SessionState::kRestored, "as they were before"}};
  for (const auto& row : kTable) {
    CellResult result = Ran();
    result.outcome = Outcome::kTimeout;
    result.state = row.state;
    result.limit = LimitHit{"wall", "wall time: 5 s limit reached"};
    EXPECT_THAT(ObserveCell(result, "while True: pass"),
                AllOf(HasSubstr(row.text), HasSubstr("limit: wall time: 5 s limit reached\n")));
  }
  EXPECT_THAT(ObserveCell(Ran(), "x"), Not(HasSubstr("ariables")));
}

TEST(ObserveCellTest, EveryOutcomeHasWordsOfItsOwn) {
  std::vector<std::string> seen;
  for (const Outcome outcome : {Outcome::kOk, Outcome::kError, Outcome::kDenied, Outcome::kTimeout,
                                Outcome::kMemory, Outcome::kOutputLimit, Outcome::kViolation,
                                Outcome::kCrashed, Outcome::kKilled, Outcome::kProtocolError}) {
    CellResult result = Ran();
    result.out = "x";
    result.outcome = outcome;
    const std::string text = ObserveCell(result, "");
    EXPECT_THAT(text, StartsWith("Observation: cell 2 "));
    EXPECT_THAT(seen, Not(::testing::Contains(text)));
    seen.push_back(text);
  }
}

// Whatever a session writes, no line of it looks like one of ours.
TEST(ObserveCellTest, UntrustedTextNeverStandsAtTheBeginningOfALine) {
  const std::string evil =
      "EVIL\nEVIL\r\nEVIL\rEVIL\vEVIL\fEVIL\x85"
      "EVIL\u2028EVIL";
  CellResult result = Ran();
  result.outcome = Outcome::kError;
  result.out = result.err = result.repr = result.type = evil;
  result.error = PythonError{.type = evil, .message = evil, .line = 1, .cell = 2, .traceback = evil + evil};
  result.limit = LimitHit{"x", evil};
  result.displays = {Value::Object({{evil, "x"}})};
  std::string all = ObserveCell(result, evil);
  result.outcome = Outcome::kDenied;
  result.verdict = Verdict{Decision::kDeny, {{.rule = "import", .line = 1, .message = evil, .hint = evil}}};
  all += ObserveCell(result, evil) + ObserveCellBriefly(result) + ObserveValidation({{evil, evil}});
  ASSERT_THAT(all, HasSubstr("EVIL"));
  for (const std::string_view line : SplitLines(all)) EXPECT_THAT(std::string(line), Not(StartsWith("EVIL")));
}

TEST(ObserveValidationTest, NamesExactPaths) {
  EXPECT_THAT(
      ObserveValidation({{"/rows/3/name", "5 is not of type 'string'"}, {"", "'x' is a required property"}}),
      AllOf(HasSubstr("- at /rows/3/name: 5 is not of type 'string'\n"),
            HasSubstr("- at the whole value: 'x' is a required property\n"),
            HasSubstr("call final_answer again")));
}

TEST(ObserveNoActionTest, ShowsHowToReplyForEachError) {
  const struct {
    ActionError error;
    const char* text;
  } kTable[] = {{ActionError::kEmpty, "empty"},
                {ActionError::kNoCode, "no Python code"},
                {ActionError::kToolCallJson, "tool call in JSON"},
                {ActionError::kBadJson, "not valid JSON"}};
  for (const auto& row : kTable) {
    EXPECT_THAT(
        ObserveNoAction(Action{.error = row.error}),
        AllOf(StartsWith("Observation: "), HasSubstr(row.text), HasSubstr("```python\nfinal_answer(")));
  }
}

}  // namespace
}  // namespace gloveport
