#include "gloveport/core/agent/action_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tests/core/agent/parse_cases.h"
#include "gloveport/tests/core/agent/syntax_server.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;

class ActionParserTest : public ::testing::Test {
 protected:
  Action Parse(std::string_view text) { return ParseAction(text, server_.checker()); }
  std::string CodeOf(std::string_view text) {
    const Action action = Parse(text);
    return action.code.value_or("<" + std::string(ActionErrorName(action.error)) + ">");
  }

  SyntaxServer server_;
};

TEST_F(ActionParserTest, MeetsEveryCaseOfTheFile) {
  int passed = 0;
  int failed = 0;
  for (const ParseCase& entry : LoadParseCases()) {
    const Action action = Parse(entry.text);
    const bool ok = Accepts(entry, action);
    ++(ok ? passed : failed);
    EXPECT_TRUE(ok) << entry.id << " (" << entry.why << ")\n--- text\n"
                    << entry.text << "\n--- code\n"
                    << action.code.value_or("(none)") << "\n--- error: " << ActionErrorName(action.error)
                    << "\n--- thought: " << action.thought;
  }
  std::cout << "parses: " << passed << " passed, " << failed << " failed, 0 skipped\n";
  EXPECT_GE(passed, 80);
}

TEST_F(ActionParserTest, MeetsFirstExpectationNotOnlyTolerableOnes) {
  const std::set<std::string> tolerated = {"parse-fence-only-empty"};
  for (ParseCase& entry : LoadParseCases()) {
    if (entry.accepted.size() == 1 || tolerated.contains(entry.id)) continue;
    entry.accepted.resize(1);
    EXPECT_TRUE(Accepts(entry, Parse(entry.text))) << entry.id;
  }
}

TEST_F(ActionParserTest, UsualAnswerNeedsNoQuestionToTheChecker) {
  const struct {
    const char* text;
    int most_questions;
  } kTable[] = {
      {"Thought: add.\n```python\nprint(1 + 1)\n```", 0},
      {"```python\nprint(1 + 1)\n```\nThat prints two.\n", 0},
      {"First\n```python\na = 1\n```\nthen\n```python\nprint(a)\n```", 0},
      {"```python\nx = [1,\n```\nand\n```python\nprint(x)\n```", 0},
      {"<code>\nprint(1)\n</code>", 0},
      {"{\"thought\": \"t\", \"code\": \"print(1)\"}", 0},
      {"Nothing to run here.", 0},
      {"```python\ns = '''\n```\n'''\nprint(s)\n```", 1},
      {"print(1)", 1},
  };
  for (const auto& row : kTable) {
    const int before = server_.questions();
    Parse(row.text);
    EXPECT_LE(server_.questions() - before, row.most_questions) << row.text;
  }
}

TEST_F(ActionParserTest, TakesCodeOut) {
  const struct {
    const char* name;
    const char* text;
    const char* code;
  } kTable[] = {
      {"invisible characters around a fence",
       "\xE2\x80\x8B```\xEF\xBB\xBFpython\xE2\x80\x8B\nprint(1)\n\xE2\x80\x8B```\xE2\x80\x8B", "print(1)"},
      {"invisible characters around tags",
       "\xEF\xBB\xBF<code>\xE2\x80\x8B\nprint(1)\xE2\x80\x8B\n</code>\xE2\x80\x8B", "print(1)"},
      {"byte order mark before bare code", "\xEF\xBB\xBFprint(1)", "print(1)"},
      {"language in capitals", "```Python\nprint(1)\n```", "print(1)"},
      {"fence that opens behind prose", "Here it is: ```python\nprint(1)\n```\n", "print(1)"},
      {"fence that closes behind code",
       "```python\nprint('x')```\nThis prints x.\n```python\nprint('y')\n```", "print('x')\n\nprint('y')"},
      {"fence that was never closed before the next", "```python\na = 1\n```python\nprint(a)\n```",
       "a = 1\n\nprint(a)"},
      {"fence in a list item", "- ```python\n  print(1)\n  print(2)\n  ```", "print(1)\nprint(2)"},
      {"all of the code indented", "```python\n    a = 1\n    print(a)\n```", "a = 1\nprint(a)"},
      {"indented fence with a string at the margin", "  ```python\n  s = '''\nx\n'''\n  print(s)\n  ```",
       "s = '''\nx\n'''\nprint(s)"},
      {"longer closing fence", "```python\nprint(1)\n`````\n", "print(1)"},
      {"tilde is an operator", "~~~python\nx = 3\nprint(~~~x)\n~~~", "x = 3\nprint(~~~x)"},
      {"fence closed by a tag", "```python\nprint(1)\n</code>", "print(1)"},
      {"tag closed by a fence", "<code>\nprint(1)\n```\n", "print(1)"},
      {"tag spoken of without quotes", "I use <code> tags.\n<code>\nprint('right')\n</code>",
       "print('right')"},
      {"tag spoken of before a fence", "I use the <code> tag.\n```python\nprint(1)\n```", "print(1)"},
      {"name marked up with a tag beside a fence",
       "The <code>len</code> function:\n```python\nprint(len('x'))\n```", "print(len('x'))"},
      {"tags inside a string of a fence", "```python\nhtml = '<code>x</code>'\nprint(html)\n```",
       "html = '<code>x</code>'\nprint(html)"},
      {"closing tag inside a string", "<code>\ns = '</code>'\nprint(s)\n</code>", "s = '</code>'\nprint(s)"},
      {"closing tag behind a comment", "<code>\nprint(1)  # done</code>", "print(1)  # done"},
      {"tag inside a fence with text behind", "```python\n<code>\nprint(1)\n</code>\n```\nthat was it\n",
       "print(1)"},
      {"tags in a fence of another language are text",
       "```html\n<code>x()</code>\n```\n```python\nprint(1)\n```", "print(1)"},
      {"fences in a fence of another language are text",
       "```markdown\nUse:\n~~~python\nx()\n~~~\n```\n~~~python\nprint(1)\n~~~", "print(1)"},
      {"reasoning in capitals", "<THINK>```python\nx()\n```</THINK>```python\nprint(1)\n```", "print(1)"},
      {"reasoning between blocks",
       "```python\na = 1\n```\n<think>```python\nx()\n```</think>\n```python\nprint(a)\n```",
       "a = 1\n\nprint(a)"},
      {"reasoning tag spoken of", "I never use `<think>` here.\n```python\nprint(1)\n```", "print(1)"},
      {"reasoning with half a block inside",
       "So I'd write\n```python\ndraft(\n</think>\n```python\nprint(1)\n```", "print(1)"},
      {"lone closing tag inside a string", "```python\ns = '''\n</think>\n'''\nprint(s)\n```",
       "s = '''\n</think>\n'''\nprint(s)"},
      {"reasoning before JSON", "<think>hm</think>\n{\"thought\": \"t\", \"code\": \"print(1)\"}",
       "print(1)"},
      {"tag around the code of JSON", "{\"code\": \"<code>\\nprint(1)\\n</code>\"}", "print(1)"},
      {"JSON and an invented observation",
       "{\"thought\": \"t\", \"code\": \"print(1)\"}\nObservation: 1\n```python\nfinal_answer(1)\n```",
       "print(1)"},
      {"untagged fence with JSON", "```\n{\"thought\": \"t\", \"code\": \"print(1)\"}\n```", "print(1)"},
      {"JSON data in the thought",
       "The row is\n{\"code\": \"DE\", \"name\": \"x\"}\n```python\nprint(1)\n```", "print(1)"},
      {"label with emphasis", "**Thought:** x\n**Code:**\n```python\nprint(1)\n```", "print(1)"},
      {"observation invented in an open fence",
       "```python\nr = ask()\nObservation: 42\n```python\nfinal_answer(42)\n```", "r = ask()"},
      {"observation invented behind bare code", "r = ask()\nObservation: 42\nfinal_answer(42)", "r = ask()"},
      {"observation invented behind an untagged block",
       "```\nr = ask()\n```\nObservation: 42\n```python\nfinal_answer(42)\n```", "r = ask()"},
      {"output of before, observation, code",
       "It said\n```\nNameError: rate\n```\nObservation: as I saw.\n```python\nprint(1)\n```", "print(1)"},
      {"a new turn invented behind the block",
       "```python\nprint(1)\n```\n<|im_start|>user\n```python\nx()\n```", "print(1)"},
      {"bare code with a fence in a string", "md = '''\n```python\nx()\n```\n'''\nfinal_answer(md)",
       "md = '''\n```python\nx()\n```\n'''\nfinal_answer(md)"},
      {"bare code under a thought", "Thought: simple\nx = 3\nprint(x)", "x = 3\nprint(x)"},
      {"one line between ticks", "```print(1)```", "print(1)"},
      {"chat token at the end of an open block", "```python\nprint(1)<|eot_id|>", "print(1)"},
      {"comment that ends in ticks", "```python\n# ends with ```\nprint(1)\n```",
       "# ends with ```\nprint(1)"},
      {"ticks behind a comment, no other close", "```python\nprint(1)  # one```\nDone.", "print(1)  # one"},
      {"lone carriage returns", "```python\rprint(1)\r```", "print(1)"},
      {"NUL inside a string stays", "```python\ns = 'a\\0b'\n```", "s = 'a\\0b'"},
      {"two closing candidates, neither complete", "```python\ns = '''a\n```\nb'''\nprint(\n```", "s = '''a"},
  };
  for (const auto& row : kTable) EXPECT_EQ(CodeOf(row.text), row.code) << row.name;
}

TEST_F(ActionParserTest, SaysWhyThereIsNoCode) {
  const struct {
    const char* name;
    const char* text;
    ActionError error;
  } kTable[] = {
      {"nothing", "", ActionError::kEmpty},
      {"only invisible characters", "\xE2\x80\x8B\xEF\xBB\xBF \n", ActionError::kEmpty},
      {"reasoning that never ends", "<think>\n```python\nx()\n```", ActionError::kNoCode},
      {"only reasoning", "<think>all done</think>", ActionError::kNoCode},
      {"inline ticks in prose", "Call ```final_answer(x)``` when done.", ActionError::kNoCode},
      {"code in a shell block", "```bash\npython -c 'print(1)'\n```", ActionError::kNoCode},
      {"an expression without action", "x + 1", ActionError::kNoCode},
      {"prose with brackets", "The answer (as computed) is 42.", ActionError::kNoCode},
      {"block only before the label", "```python\ndraft()\n```\nCode:\n", ActionError::kNoCode},
      {"block only in reasoning closed alone", "```python\ndraft()\n```\n</think>\nSo it is 4.",
       ActionError::kNoCode},
      {"list of tool calls", "[{\"name\": \"f\", \"arguments\": {}}]", ActionError::kToolCallJson},
      {"tool call of an interface", "{\"tool_calls\": [{\"function\": {\"name\": \"f\"}}]}",
       ActionError::kToolCallJson},
      {"structured output with raw line ends", "{\"thought\": \"t\", \"code\": \"a = 1\nprint(a)\"}",
       ActionError::kBadJson},
      {"structured output in Python's quotes", "{'thought': 't', 'code': 'print(1)'}", ActionError::kBadJson},
      {"structured output in a fence, cut", "```json\n{\"thought\": \"t\", \"code\": \"pri",
       ActionError::kBadJson},
      {"duplicate keys", "{\"code\": \"a()\", \"code\": \"b()\"}", ActionError::kBadJson},
      {"empty code", "{\"thought\": \"t\", \"code\": \" \"}", ActionError::kNoCode},
  };
  for (const auto& row : kTable) {
    const Action action = Parse(row.text);
    EXPECT_EQ(ActionErrorName(action.error), ActionErrorName(row.error)) << row.name << "\n"
                                                                         << action.code.value_or("");
    EXPECT_EQ(action.code.has_value(), action.error == ActionError::kNone) << row.name;
  }
}

TEST_F(ActionParserTest, SaysThatAnInventedObservationWasCut) {
  EXPECT_TRUE(Parse("```python\nprint(1)\n```\nObservation: 1").cut_invented);
  EXPECT_FALSE(Parse("```python\nprint(1)\n```<|im_end|>").cut_invented);
  EXPECT_FALSE(Parse("Observation: 1\n```python\nprint(1)\n```").cut_invented);
}

TEST_F(ActionParserTest, KeepsThoughtWithoutReasoningAndLabels) {
  EXPECT_EQ(Parse("<think>a</think>**Thought:** b\n\n**Code:**\n```python\nx()\n```").thought, "b");
  EXPECT_EQ(Parse("<think>a</think>I cannot help.").thought, "I cannot help.");
  EXPECT_EQ(Parse("b. Code: <code>x()</code>").thought, "b.");
}

TEST(ActionParserWithoutCheckerTest, ReportsThatTheCheckerFailed) {
  const SyntaxChecker broken = [](std::string_view) -> Result<SyntaxInfo> {
    return Fail(ErrorCode::kClosed, "gone");
  };
  const Action bare = ParseAction("print(1)", broken);
  EXPECT_EQ(bare.error, ActionError::kNoCode);
  ASSERT_TRUE(bare.checker_error);
  EXPECT_EQ(bare.checker_error->message, "gone");
  EXPECT_FALSE(ParseAction("```python\nprint(1)\n```", broken).checker_error);
}

// ---- properties ----

SyntaxInfo GuessSyntax(std::string_view code, std::mt19937& random) {
  return {.complete = random() % 2 == 0, .has_action = code.size() % 2 == 0};
}

std::string Mutate(std::string text, std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"```",
                                                   "```python\n",
                                                   "~~~",
                                                   "<code>",
                                                   "</code>",
                                                   "</co",
                                                   "<think>",
                                                   "<tool_call>\n",
                                                   "<tool_call>",
                                                   "</think>\n",
                                                   "Code:\n",
                                                   "Observation: 1\n",
                                                   "'''",
                                                   "\"\"\"",
                                                   "'",
                                                   "\\",
                                                   "#",
                                                   "{",
                                                   "}",
                                                   "{\"code\": \"",
                                                   "\n",
                                                   "\r\n",
                                                   "\xE2\x80\x8B",
                                                   "\xE2",
                                                   "\xFF",
                                                   "<|python_tag|>",
                                                   "<|",
                                                   "|>",
                                                   "`",
                                                   "``",
                                                   " ",
                                                   "<tool_call>",
                                                   "<end_code>",
                                                   std::string(1, '\0')};
  for (unsigned n = random() % 6 + 1; n > 0; --n) {
    const std::size_t at = random() % (text.size() + 1);
    switch (random() % 4) {
      case 0:
        text.insert(at, kPieces[random() % kPieces.size()]);
        break;
      case 1:
        text.erase(at, random() % 8);
        break;
      case 2:
        text.insert(at, text.substr(text.size() / 2, random() % 40));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

TEST(ActionParserPropertyTest, EveryTextGivesExactlyCodeOrAnError) {
  std::mt19937 random(20240613);
  const SyntaxChecker checker = [&](std::string_view code) -> Result<SyntaxInfo> {
    return GuessSyntax(code, random);
  };
  for (const ParseCase& entry : LoadParseCases()) {
    for (int i = 0; i < 400; ++i) {
      const std::string text = Mutate(entry.text, random);
      const Action action = ParseAction(text, checker);
      ASSERT_EQ(action.code.has_value(), action.error == ActionError::kNone) << entry.id << "\n" << text;
      ASSERT_TRUE(IsValidUtf8(action.code.value_or(""))) << entry.id << "\n" << text;
      ASSERT_TRUE(IsValidUtf8(action.thought)) << entry.id << "\n" << text;
    }
  }
}

// Every line of the code must be found in the text: nothing is made up, nothing is repaired.
TEST(ActionParserPropertyTest, CodeIsOnlyEverCutOut) {
  std::mt19937 random(7);
  const SyntaxChecker checker = [&](std::string_view code) -> Result<SyntaxInfo> {
    return GuessSyntax(code, random);
  };
  for (const ParseCase& entry : LoadParseCases()) {
    if (entry.text.find("\\n") != std::string::npos) continue;  // JSON: escapes are resolved
    for (int i = 0; i < 100; ++i) {
      const std::string text = Mutate(entry.text, random);
      const Action action = ParseAction(text, checker);
      if (!action.code || text.find('"') != std::string::npos) continue;
      std::string normal = ToValidUtf8(text);
      for (const std::string_view line : SplitLines(*action.code))
        ASSERT_THAT(normal, HasSubstr(std::string(line)));
    }
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 40;
#else
constexpr double kMostSeconds = 4;
#endif

// Of this thread alone: what else the machine does must not count.
double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(ActionParserPropertyTest, LongHostileTextIsParsedInLinearTime) {
  const SyntaxChecker never = [](std::string_view) -> Result<SyntaxInfo> { return SyntaxInfo{}; };
  for (const std::string piece : {"```python\nx = '''\n",
                                  "<code>\nx = '</code>'\n",
                                  "<code> ",
                                  "```",
                                  "`",
                                  "``` python ' ",
                                  "{\"code\": \"",
                                  "{\n",
                                  "<think>",
                                  "<",
                                  "<|",
                                  "</think>\n",
                                  "Observation: x\n",
                                  "Code:\n",
                                  "~~~\n",
                                  "\n```json\n{",
                                  "'''\n```\n",
                                  "```python\n'''```\n",
                                  "<code>'''</code>\n",
                                  "[\n",
                                  "("}) {
    std::string text;
    while (text.size() < (1u << 20)) text += piece;
    const double start = ThreadCpuSeconds();
    ParseAction(text, never);
    EXPECT_LT(ThreadCpuSeconds() - start, kMostSeconds) << piece;
  }
}

}  // namespace
}  // namespace gloveport
