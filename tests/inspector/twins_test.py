"""Every row of twins.py: the denial, its finding, and the honest twin."""

import unittest

import support
import twins

inspector = support.load()


def rules_of(row):
    rules = support.rules(tools=["tool_echo"], read=["/data/reports"])
    rules["imports"]["deny"] = twins.OPTIONS.get(row, {}).get("deny", [])
    return rules


class TwinsTest(unittest.TestCase):

    def test_row_names_are_unique(self):
        for name, table in twins.TABLES.items():
            self.assertEqual(len(table), len({row[0] for row in table}), name)

    def test_every_denial(self):
        for table, rows in twins.TABLES.items():
            for what, refused, rule, words, _ in rows:
                with self.subTest(table=table, what=what):
                    verdict = inspector.check(refused, rules_of(what))
                    self.assertNotEqual("allow", verdict["decision"], refused)
                    found = [item for item in verdict["findings"] if item["rule"] == rule]
                    self.assertTrue(found, verdict)
                    self.assertTrue(all(any(word in item["message"] for item in found) for word in words),
                                    verdict)
                    self.assertTrue(all(item["hint"] for item in verdict["findings"]), verdict)

    def test_every_twin(self):
        for table, rows in twins.TABLES.items():
            for what, _, _, _, allowed in rows:
                with self.subTest(table=table, what=what):
                    self.assertEqual({"decision": "allow", "findings": []},
                                     inspector.check(allowed, rules_of(what)))


class VerdictTest(unittest.TestCase):

    def check(self, code, **more):
        return inspector.check(code, support.rules(**more))

    def test_findings_come_in_text_order(self):
        verdict = self.check("x = f(eval, exec)\nimport os\n(a\n .__globals__)\n")
        places = [(item["line"], item["column"]) for item in verdict["findings"]]
        self.assertEqual([(1, 7), (1, 13), (2, 8), (4, 3)], places)

    def test_columns_count_characters(self):
        self.assertEqual(11, self.check("x = 'äöü', eval")["findings"][0]["column"] - 1)

    def test_lines_count_as_the_parser_counts(self):
        verdict = self.check("a = 1\r\nb = 2\rc = 'x\x0cy\u2028z'\n'é'; eval")
        self.assertEqual([(4, 6)], [(item["line"], item["column"]) for item in verdict["findings"]])

    def test_a_mark_at_the_start_is_dropped(self):
        self.assertEqual("allow", self.check("\ufeffx = 1")["decision"])

    def test_denial_beats_a_question(self):
        self.assertEqual("escalate", self.check("import pickle")["decision"])
        self.assertEqual("deny", self.check("import pickle\nimport os")["decision"])

    def test_everything_may_be_allowed(self):
        code = "import os, socket\nfrom random import _os\nimport pandas as pd\npd.io.common.os.getcwd()"
        everything = {"imports": {"allow": ["*"], "deny": [], "ask": []}}
        self.assertEqual("allow", inspector.check(code, everything)["decision"])
        everything["imports"]["deny"] = ["os"]
        self.assertEqual(["import", "import", "attribute"],
                         [item["rule"] for item in inspector.check(code, everything)["findings"]])

    def test_a_question_about_a_re_export_stays_one(self):
        asked = support.rules()
        asked["imports"]["ask"] = ["os"]
        self.assertEqual("escalate", inspector.check("import random\nrandom._os", asked)["decision"])

    def test_a_tool_may_have_any_name(self):
        self.assertEqual("allow", self.check("exec('a'), os.read()", tools=["exec", "os"])["decision"])

    def test_findings_are_bounded(self):
        verdict = self.check("eval\n" * 5000)
        self.assertEqual(100, len(verdict["findings"]))
        self.assertIn("4900 more", verdict["findings"][-1]["message"])

    def test_messages_are_short_and_on_one_line(self):
        for code in ("open('/etc/" + "x" * 3000 + "')", "import " + "x" * 90_000,
                     "open('/etc/\\x1b[2J\\u202e')"):
            for item in self.check(code)["findings"]:
                self.assertLess(len(item["message"]), 400)
                self.assertTrue(item["message"].isprintable())

    def test_rules_that_are_none_deny(self):
        for rules in (None, {}, [], {"imports": None}, {"imports": {"allow": "os"}},
                      {"imports": {"allow": [1, None]}}):
            with self.subTest(rules=rules):
                self.assertEqual("deny", inspector.check("import os", rules)["decision"])
                self.assertEqual("allow", inspector.check("x = 1", rules)["decision"])


class HintTest(unittest.TestCase):

    CASES = [
        ("import requests", "files in the work folder"),
        ("import requests", "lookup()"),
        ("import lookup", "call it without importing"),
        ("from tools import lookup", "call it without importing"),
        ("import pandsa", "pandas"),
        ("import os", "pathlib"),
        ("import subprocess", "ThreadPoolExecutor"),
        ("import pip", "Nothing can be installed"),
        ("import yaml", "json"),
        ("import seaborn", "matplotlib"),
        ("eval('1')", "json.loads"),
        ("open('/etc/passwd')", "/workdir"),
        ("open('/etc/passwd')", "/data"),
        ("!pip install x", "not Python"),
        ("```python\nx = 1\n```", "fence"),
        ("print 'x'", "parentheses"),
    ]

    def test_each_hint_says_what_to_do(self):
        rules = support.rules(tools=["lookup"], read=["/data"])
        for code, words in self.CASES:
            with self.subTest(code=code):
                self.assertIn(words, inspector.check(code, rules)["findings"][0]["hint"])

    def test_alternatives_are_only_named_where_they_are_allowed(self):
        rules = support.rules(remove=["pathlib"])
        self.assertNotIn("pathlib", inspector.check("import os", rules)["findings"][0]["hint"])


if __name__ == "__main__":
    unittest.main()
