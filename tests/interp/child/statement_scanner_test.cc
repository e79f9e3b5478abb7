#include "gloveport/interp/child/statement_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gloveport/interp/child/interpreter.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {
namespace {

using Kind = LastStatement::Kind;

struct Case {
  const char* text;
  Kind kind;
  const char* expression;  // where kind is kExpression
};

class Snippets : public ::testing::TestWithParam<Case> {};

TEST_P(Snippets, TrailingExpressionIsFound) {
  const std::string_view text = GetParam().text;
  const LastStatement last = FindLastStatement(text);
  EXPECT_EQ(static_cast<int>(last.kind), static_cast<int>(GetParam().kind)) << text;
  if (GetParam().kind == Kind::kExpression) {
    EXPECT_EQ(text.substr(last.begin, last.end - last.begin), GetParam().expression);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, Snippets,
    ::testing::Values(
        Case{"", Kind::kOther, ""}, Case{"# only a comment", Kind::kOther, ""},
        Case{"x", Kind::kExpression, "x"}, Case{"x = 1", Kind::kOther, ""}, Case{"x += 1", Kind::kOther, ""},
        Case{"x **= 2", Kind::kOther, ""}, Case{"x >>= 2", Kind::kOther, ""},
        Case{"x @= y", Kind::kOther, ""}, Case{"x == 1", Kind::kExpression, "x == 1"},
        Case{"x <= 1 != y >= 2", Kind::kExpression, "x <= 1 != y >= 2"}, Case{"x: int", Kind::kOther, ""},
        Case{"a = 1; a + 1  # sum", Kind::kExpression, "a + 1"}, Case{"a = 1; a;", Kind::kExpression, "a"},
        Case{"a; b = 2", Kind::kOther, ""}, Case{"if x: y", Kind::kOther, ""},
        Case{"if x: y; z", Kind::kOther, ""}, Case{"if x:\n    y\n", Kind::kOther, ""},
        Case{"if x:\n    y\nz", Kind::kExpression, "z"}, Case{"f(a=1)", Kind::kExpression, "f(a=1)"},
        Case{"f(\n  a,  # )\n  ']'\n)", Kind::kExpression, "f(\n  a,  # )\n  ']'\n)"},
        Case{"'''a\n= b'''", Kind::kExpression, "'''a\n= b'''"},
        Case{"'a\\'; b'", Kind::kExpression, "'a\\'; b'"},
        Case{"rb'a' + f\"{x:>3}\"", Kind::kExpression, "rb'a' + f\"{x:>3}\""},
        // Python 3.12: quotes within quotes.
        Case{R"(f"{d["a"]} = {x:>{w}} {{" + y)", Kind::kExpression, R"(f"{d["a"]} = {x:>{w}} {{" + y)"},
        Case{R"(f"{';'}{"; z = "}")", Kind::kExpression, R"(f"{';'}{"; z = "}")"},
        Case{R"(rf"\{d["; b = 1"]}")", Kind::kExpression, R"(rf"\{d["; b = 1"]}")"},
        Case{R"(f'{x:"^9}')", Kind::kUnsure, ""}, Case{R"(f"{f"{x}"}")", Kind::kUnsure, ""},
        Case{"f'''{\nx}'''", Kind::kUnsure, ""},
        Case{R"(x if"{"else y)", Kind::kExpression, R"(x if"{"else y)"},
        Case{"x + \\\n  1", Kind::kExpression, "x + \\\n  1"}, Case{"lambda x=1: x", Kind::kUnsure, ""},
        Case{"match(x)", Kind::kUnsure, ""}, Case{"match x:\n    case 1: y", Kind::kOther, ""},
        Case{"imports", Kind::kExpression, "imports"}, Case{"import os", Kind::kOther, ""},
        Case{"x = 1; f(x) for x in y", Kind::kUnsure, ""}, Case{"(y := 1)", Kind::kExpression, "(y := 1)"},
        Case{"y := 1", Kind::kUnsure, ""}, Case{"*a, b", Kind::kUnsure, ""},
        Case{"await f()", Kind::kExpression, "await f()"}, Case{"x = 'open", Kind::kUnsure, ""},
        Case{"f(", Kind::kUnsure, ""}, Case{"x\r\n", Kind::kUnsure, ""},
        Case{"@d\ndef f(): pass", Kind::kOther, ""}, Case{"...", Kind::kExpression, "..."},
        Case{"x if y else z", Kind::kExpression, "x if y else z"}, Case{"not x", Kind::kExpression, "not x"},
        Case{"-x", Kind::kExpression, "-x"}, Case{"{'a': 1}", Kind::kExpression, "{'a': 1}"},
        Case{"x[1:2]", Kind::kExpression, "x[1:2]"},
        Case{"print(1) ; print(2)", Kind::kExpression, "print(2)"}));

// Pairs of neighbouring statements of the standard library, with the parser's own answer: (text, offset of
// the trailing expression in bytes, or -1).
constexpr char kCollect[] = R"(
import ast, glob, os
answers = []
for path in sorted(glob.glob(os.path.dirname(os.__file__) + '/*.py'))[:50]:
    source = open(path, encoding='utf-8').read()
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    bodies = [tree.body] + [node.body for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for body in bodies:
        for first, second in zip([None] + body, body):
            # As top-level statements: the indentation of nested ones is taken away by dedent where that is safe.
            begin = (first or second).lineno - 1
            decorators = getattr(first or second, 'decorator_list', [])
            if decorators: begin = decorators[0].lineno - 1
            text = ''.join(lines[begin:second.end_lineno])
            import textwrap
            text = textwrap.dedent(text)
            try: parsed = ast.parse(text)
            except SyntaxError: continue
            last = parsed.body[-1]
            offset = -1
            if isinstance(last, ast.Expr) and isinstance(last.value, (ast.Yield, ast.YieldFrom)): continue
            if isinstance(last, ast.Expr):
                starts = [0]
                for line in text.encode().splitlines(keepends=True): starts.append(starts[-1] + len(line))
                offset = starts[last.lineno - 1] + last.col_offset
            answers.append((text, offset))
)";

TEST(Corpus, AgreesWithTheParserOrIsUnsure) {
  ASSERT_TRUE(Interpreter::Start({}).has_value());
  ASSERT_EQ(PyRun_SimpleString(kCollect), 0);
  PyObject* answers = PyDict_GetItemString(PyModule_GetDict(PyImport_AddModule("__main__")), "answers");
  const Py_ssize_t count = PyList_GET_SIZE(answers);
  ASSERT_GT(count, 4'000);
  int unsure = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* pair = PyList_GET_ITEM(answers, i);
    const std::string text = Utf8Of(PyTuple_GET_ITEM(pair, 0));
    const long offset = PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
    const LastStatement last = FindLastStatement(text);
    if (last.kind == Kind::kUnsure) {
      ++unsure;
    } else if (offset < 0) {
      ASSERT_EQ(static_cast<int>(last.kind), static_cast<int>(Kind::kOther)) << text;
    } else {
      ASSERT_EQ(static_cast<int>(last.kind), static_cast<int>(Kind::kExpression)) << text;
      // The parser counts from inside of parentheses.
      const std::size_t begin = text.find_first_not_of("( \n\t", last.begin);
      ASSERT_TRUE(last.begin == static_cast<std::size_t>(offset) || begin == static_cast<std::size_t>(offset))
          << text;
    }
  }
  EXPECT_LT(unsure, count / 20);
}

}  // namespace
}  // namespace gloveport::child
