#!/usr/bin/python3
"""`gloveport exec --tools-pyi`, and `--check` of exec, run and chat, with a type checker that is really there.

mypy is taken from the folder that MYPY names (scripts/test makes it) or from PATH.
"""

import json
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
        self.runs = os.path.join(self.folder, "runs")

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

    def run_script(self, *cells, path=None):
        """A run whose model sends these cells one after the other: what it was told and did."""
        lines = [json.dumps({"content": f"Thought: go on.\n```python\n{cell}\n```"}) + "\n" for cell in cells]
        script = self.write("script.jsonl", "".join(lines))
        done = gloveport("run", "reach it", "--model", f"scripted:{script}", "--check", "--builtin", TOOLS, "--json", "--save",
                         PATH=path or self.path + ":/usr/bin:/bin", GLOVEPORT_RUNS=self.runs)
        self.assertExit(OK, done)
        return json.loads(done.stdout)

    def test_a_run_hands_findings_back_before_the_cell_runs(self):
        run = self.run_script("print('ran')\nx = calculator(1)", "x = calculator('1')", "final_answer(x)")
        first, second, _ = run["steps"]
        self.assertIsNone(first["result"])
        self.assertEqual([2], [finding["line"] for finding in first["findings"]])
        self.assertRegex(first["observation"], r'not run(?s:.)*line 2, column 16 \[types\].*"int".*\n.*x = calculator\(1\)')
        self.assertEqual("ok", second["result"]["outcome"])
        self.assertEqual(1, run["answer"])
        shown = gloveport("runs", "show", "last", GLOVEPORT_RUNS=self.runs)
        self.assertRegex(shown.stdout, "held back by the check")
        trace = json.loads(gloveport("trace", "export", "--format", "codeact", "last", GLOVEPORT_RUNS=self.runs).stdout)
        self.assertEqual([None, "ok", "ok"], [step["outcome"] for step in trace["steps"]])

    def test_a_run_knows_what_earlier_cells_have_defined(self):
        run = self.run_script(
            "from __future__ import annotations\nimport math\ntotal = 1\ndef f(a):\n    return a",
            "late = 2\nraise ValueError",
            "def f(a, b):\n    return a + b\ntotal = 'text'",
            "print(math.pi, late, total.upper(), f(1, 2))\nunknown",
            "final_answer(f(total, str(late)))")
        self.assertEqual("text2", run["answer"])
        findings = [(step["step"], finding["line"]) for step in run["steps"] for finding in step.get("findings", [])]
        self.assertEqual([(4, 2)], findings, run["steps"])

    def test_a_run_goes_on_where_the_checker_breaks(self):
        os.remove(os.path.join(self.path, "mypy"))
        with open(os.path.join(self.path, "mypy"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho out of order\nexit 2\n")
        os.chmod(os.path.join(self.path, "mypy"), 0o755)
        run = self.run_script("final_answer(1)")
        self.assertIn("out of order", run["steps"][0]["check_error"]["message"])
        os.remove(os.path.join(self.path, "mypy"))
        script = os.path.join(self.folder, "script.jsonl")
        done = gloveport("run", "x", "--model", f"scripted:{script}", "--check", PATH=self.path)
        self.assertExit(USAGE, done)
        self.assertIn("--check: no type checker is on PATH", done.stderr)

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
