"""Whatever the text is, there is a verdict; nothing of it runs; time grows with its length and no faster."""

import ast
import random
import sys
import time
import unittest

import support
import twins

inspector = support.load()
RULES = support.rules()

ODD = {
    "empty": "",
    "blank": " \n\t\n",
    "NUL": "x = 1\0",
    "NUL in a text": "x = 'a\0b'",
    "lone surrogate": "x = '\ud800'",
    "lone surrogate as a name": "\udcff = 1",
    "open brackets": "(" * 100_000,
    "closed brackets": "[" * 5000 + "]" * 5000,
    "deep brackets that are code": "x = " + "[" * 90 + "]" * 90,
    "minus signs": "-" * 50_000 + "1",
    "nots": "not " * 50_000 + "1",
    "long sum": "x = " + "+".join(["1"] * 50_000),
    "long chain": "x" + ".y" * 50_000,
    "calls of calls": "f" + "()" * 50_000,
    "lambdas": "lambda: " * 5000 + "1",
    "elif": "if a: pass\n" + "elif a: pass\n" * 20_000,
    "deep blocks": "\n".join(" " * i + "if a:" for i in range(2000)),
    "deep f-strings": "f'{" * 200 + "1" + "}'" * 200,
    "huge number": "x = " + "9" * 100_000,
    "huge power of a text": "open('a' * 10 ** 9)",
    "huge text": "x = '" + "a" * 500_000 + "'",
    "too long": "x = 1\n" * 200_000,
    "backslashes": "\\" * 10_000,
    "quotes": "'" * 9999,
    "only a line break": "\r",
    "all characters": "".join(map(chr, range(1, 0x3000))),
    "bad escapes": "x = '\\N{no such name} \\x0'",
    "itself": "a = a\nb = c\nc = b\nopen(a)\nb.c\na += a\nwhile 1: a = a[a](a)",
    "loop through parents": "def f():\n    global f\n    f = f.f\n    class f:\n        nonlocal g\n        "
                            "f = f",
    "bytes": b"x = 1",
    "broken bytes": b"x = '\xff'",
    "no text": None,
    "a number": 5,
    "a list": ["x"],
}
DECISIONS = {"allow", "deny", "escalate"}


class OddTextTest(unittest.TestCase):

    def check_shape(self, verdict):
        self.assertIn(verdict["decision"], DECISIONS)
        self.assertEqual(verdict["decision"] == "allow", not verdict["findings"])
        for finding in verdict["findings"]:
            self.assertEqual({"rule", "line", "column", "message", "hint"}, set(finding))
            self.assertGreaterEqual(finding["line"], 1)
            self.assertGreaterEqual(finding["column"], 1)
            self.assertNotIn("could not be judged", finding["message"])

    def test_every_text_has_a_verdict(self):
        for what, code in ODD.items():
            with self.subTest(what):
                self.check_shape(inspector.check(code, RULES))
                answer = inspector.syntax(code)
                self.assertEqual(answer["complete"], answer["message"] == "")
                self.assertFalse(answer["complete"] and answer["incomplete"])

    def test_what_is_no_python_is_said_so(self):
        for what in ("NUL", "lone surrogate", "open brackets", "minus signs", "long sum", "too long",
                     "a number"):
            with self.subTest(what):
                verdict = inspector.check(ODD[what], RULES)
                self.assertEqual(("deny", "syntax"), (verdict["decision"], verdict["findings"][0]["rule"]))
        for what in ("empty", "deep brackets that are code", "huge text", "bytes", "itself"):
            with self.subTest(what):
                self.assertEqual("allow", inspector.check(ODD[what], RULES)["decision"])

    def test_little_stack_is_enough(self):
        def deep(levels):
            return deep(levels - 1) if levels else inspector.check("x = " + "-" * 40 + "1", RULES)

        for levels in range(sys.getrecursionlimit() - 120, sys.getrecursionlimit() - 10, 7):
            try:
                self.assertIn(deep(levels)["decision"], DECISIONS)
            except RecursionError:
                break  # not even the call itself had room


class MutationTest(unittest.TestCase):
    """Texts put together at random from pieces of the known ones, the same in every run."""

    FORMS = (
        "{0}.{a}", "{0}({1})", "{0}({1}, {2})", "{0}({k}={1})", "{0}[{1}]", "{0}[{1}:{2}]",
        "({0}).join([{1}, {2}])",
        "x = {0}\ny = x + {1}\ngetattr(y, x)", "open({0})", "({0}).{a}({1})", "({0}) + ({1})",
        "({0}) % ({1})",
        "({0}) / ({1})", "({0}) * ({1})", "for x in {0}:\n x.{a}({1})", "x, y = {0}, {1}\nx(y)", "-({0})",
        "f'{{{0}}}{{{1}}}'", "(a := {0}).{a}", "import pathlib\npathlib.Path({0}, {1}).open()",
        "df.query({0})",
        "[{0}, {1}][0].{a}({2})", "vars({0})[{1}]", "match {0}:\n case x: x.{a}", "{0}(*{1}, **{2})",
    )
    ATTRIBUTES = ("join format read_text replace get decode mro __dict__ parent joinpath strip query load "
                  "open resolve "
                  "__class__ extractall encode __code__ _os chdir").split()
    KEYWORDS = ("allow_pickle", "file", "mode", "filename")

    def pieces(self):
        texts = [row[column] for rows in twins.TABLES.values() for row in rows for column in (1, 4)]
        texts += [case["code"] for name in ("policies.jsonl", "escapes.jsonl")
                  for case in support.lines(name)]
        found = set()
        for text in texts:
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError):
                continue
            nodes = [node for node in ast.walk(tree)
                     if isinstance(node, ast.expr) and not isinstance(node, ast.Starred)]
            found.update(piece for piece in map(ast.unparse, nodes[:40]) if len(piece) < 150)
        return sorted(found)

    def test_every_mixture_has_a_verdict(self):
        pieces = self.pieces()
        self.assertGreater(len(pieces), 1000)
        source = random.Random(20240331)
        judged = 0
        for _ in range(6000):
            code = "\n".join(
                source.choice(self.FORMS).format(*source.sample(pieces, 3), a=source.choice(self.ATTRIBUTES),
                                                 k=source.choice(self.KEYWORDS))
                for _ in range(source.randint(1, 3)))
            verdict = inspector.check(code, RULES)
            rules = {finding["rule"] for finding in verdict["findings"]}
            judged += rules != {"syntax"}
            self.assertFalse(any("could not be judged" in f["message"] for f in verdict["findings"]),
                             (code, verdict))
        self.assertGreater(judged, 3000)


class HarmlessTest(unittest.TestCase):

    def test_nothing_is_imported_or_run(self):
        before = set(sys.modules)
        ran = []
        sys.inspector_test_ran = ran
        code = ("import sys, colorsys, this, antigravity\nsys.inspector_test_ran.append(1)\n"
                "getattr(sys, 'inspector_test_ran').append(2)\n'{0.append}'.format(sys.inspector_test_ran)\n"
                "df.query('@sys.inspector_test_ran.append(3)')\nimport timeit; timeit.timeit('import "
                "this')\n")
        try:
            inspector.check(code, {"imports": {"allow": ["*"]}})
            inspector.syntax(code)
        finally:
            del sys.inspector_test_ran
        self.assertEqual([], ran)
        self.assertEqual(set(), set(sys.modules) - before)

    def test_nothing_is_loaded_late(self):
        inspector.check("x = 1", RULES)
        before = set(sys.modules)
        for rows in twins.TABLES.values():
            for row in rows:
                inspector.check(row[1], RULES)
                inspector.check(row[4], RULES)
        for code in ODD.values():
            inspector.check(code, RULES)
        inspector.check("x = '\\N{BULLET}'\n\uff45\uff56\uff41\uff4c\nopen('/\\x00\\u202e/..')", RULES)
        self.assertEqual(set(), set(sys.modules) - before)

    def test_no_code_object_is_made_of_the_text(self):
        made = []
        original = compile

        def watched(source, filename, mode, flags=0, *args, **kwargs):
            made.append(flags & ast.PyCF_ONLY_AST)
            return original(source, filename, mode, flags, *args, **kwargs)

        parts = support.load("inspector_source")
        parts.compile = watched
        try:
            inspector.check("import timeit\ntimeit.timeit('x')\ndf.query('a > 1')", RULES)
            inspector.syntax("x = (")
        finally:
            del parts.compile
        self.assertGreaterEqual(len(made), 4)
        self.assertTrue(all(made))


class GrowthTest(unittest.TestCase):
    """Eight times the text may take some thirty times the time at most; quadratic work takes sixty-four."""

    SHAPES = {
        "assignments to one name": lambda n: 'x = "a"\n' * n + "open(x)",
        "additions to one name": lambda n: 's = "a"\n' + 's += "b"\n' * n + "open(s)",
        "chain of aliases": lambda n: "import random as a0\n" + "".join(f"a{i + 1} = a{i}\n"
                                                                        for i in range(n)) + "a9._os",
        "findings on one line": lambda n: "x = ['é', " + "eval, " * n + "]",
        "one list spread often": lambda n: "x = [" + '"a", ' * n + "]\n" + "open(*x)\n" * n,
        "one text judged often": lambda n: 'x = "' + "{0.a}" * n + '"\n' + "x.format(1)\n" * n,
        "one query judged often": lambda n: 'x = "' + "a + " * min(n, 900) + 'b"\n' + "df.query(x)\n" * n,
        "star imports": lambda n: "from math import *\n" * n + "foo.bar()\n" * n,
        "refused imports": lambda n: "".join(f"import mod{i}\n" for i in range(n)),
        "pieces of an f-string": lambda n: 'x = "a"\nopen(f"' + "{x}" * n + '")',
        "ordinary calls": lambda n: "import numpy as np\n" + "y = np.array([1, 2]).sum()\n" * n,
    }

    def cost(self, code):
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            inspector.check(code, RULES)
            best = min(best, time.process_time() - start)
        return best

    def test_time_grows_with_the_text(self):
        for what, shape in self.SHAPES.items():
            with self.subTest(what):
                self.assertLess(self.cost(shape(4000)), 30 * max(self.cost(shape(500)), 0.001))


if __name__ == "__main__":
    unittest.main()
