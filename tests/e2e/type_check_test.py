#!/usr/bin/python3
"""`gloveport exec --tools-pyi` and `--check`, with a type checker that is really there.

mypy is taken from the folder that MYPY names (scripts/test makes it) or from PATH.
"""

import os
import shutil
import subprocess
import sys
import unittest

from programs import DENIED, OK, USAGE, Case, gloveport

FOLDER = os.path.join(os.environ.get("MYPY", ""), "bin")
MYPY = shutil.which("mypy", path=FOLDER) or shutil.which("mypy")
TOOLS = """{"http": {"hosts": ["api.example.org"], "methods": ["POST"]}, "calculator": {}, "regex": {}, "ask_user": {},
            "files": {"folders": {"here": "."}}, "web_search": {"url": "https://search.example.org"}}"""


class Check(Case):
    def setUp(self):
        super().setUp()
        # A PATH on which mypy is the only checker.
        self.path = os.path.join(self.folder, "bin")
        os.mkdir(self.path)
        os.symlink(MYPY, os.path.join(self.path, "mypy"))

    def check(self, code, *arguments, path=None):
        return gloveport("exec", "--check", "--builtin", TOOLS, *arguments, "-c", code, PATH=path or self.path + ":/usr/bin:/bin")

    def test_a_wrong_argument_is_found_before_anything_runs(self):
        done = self.check("print('ran')\nx = 1\ncalculator(x + 1)")
        self.assertExit(DENIED, done)
        self.assertEqual("", done.stdout)
        self.assertIn("mypy found errors; nothing was run:", done.stderr)
        self.assertRegex(done.stderr, r'line 3, column 12: \[types\].*"int".*"str"')

    def test_what_a_tool_gives_has_a_type_too(self):
        done = self.check("for match in regex_search('a', 'b'):\n    print(match['begin'])")
        self.assertExit(DENIED, done)
        self.assertRegex(done.stderr, r"line 2, column 17: \[types\].*begin")

    def test_code_that_fits_runs(self):
        for code in ("calculator('1 + 1')",
                     "for match in regex_search('b+', 'abb'):\n    print(match['start'] + 1, match['groups'])\n2",
                     "x = 1\nx = 'text'\nx = []\nx.append(calculator('1'))\nlen(x) + 1",
                     "import asyncio\nasync def f():\n    return 2\nawait f()",
                     "import numpy\ntry: display('shown')\nexcept ToolError: pass\n2 * int(numpy.arange(2)[1])",
                     "from __future__ import annotations\ncalculator('2')"):
            with self.subTest(code=code):
                done = self.check(code)
                self.assertExit(OK, done)
                self.assertEqual("2", done.stdout.split()[-1])

    def test_findings_are_in_the_json(self):
        done = self.check("calculator(1)", "--json")
        self.assertExit(DENIED, done)
        self.assertIn('"outcome":"denied"', done.stdout)
        self.assertIn("TypeCheckError", done.stdout)

    def test_where_no_checker_is_there_is_an_error(self):
        os.remove(os.path.join(self.path, "mypy"))
        done = self.check("1", path=self.path)
        self.assertExit(USAGE, done)
        self.assertIn("no type checker is on PATH", done.stderr)

    def test_a_checker_that_breaks_is_no_approval(self):
        os.remove(os.path.join(self.path, "mypy"))
        with open(os.path.join(self.path, "mypy"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho out of order\nexit 2\n")
        os.chmod(os.path.join(self.path, "mypy"), 0o755)
        done = self.check("print('ran')")
        self.assertNotEqual(OK, done.returncode)
        self.assertEqual("", done.stdout)
        self.assertIn("out of order", done.stderr)

    def test_the_stub_is_one_that_mypy_takes(self):
        done = gloveport("exec", "--tools-pyi", "--builtin", TOOLS)
        self.assertExit(OK, done)
        self.assertIn("def http_get(url: str, params: dict[str, str] | None = None", done.stdout)
        self.assertIn("class HttpGetResult(TypedDict):", done.stdout)
        stub = self.write("tools.pyi", done.stdout)
        checked = subprocess.run([MYPY, "--strict", "--config-file=", "--cache-dir=/dev/null", stub], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(0, checked.returncode, checked.stdout + checked.stderr)


if __name__ == "__main__":
    if MYPY is None:
        print("skipped: mypy is neither on PATH nor in", FOLDER)
        sys.exit(77)
    unittest.main()
