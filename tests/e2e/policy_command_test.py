#!/usr/bin/python3
"""`gloveport policy`: check, explain, test, show, import, schema."""

import json
import os
import re
import unittest

from command_test import on_terminal
from programs import DENIED, FAILED, OK, SOURCE, USAGE, Case, gloveport

MAIL = os.path.join(SOURCE, "policy", "examples", "mail.json")
POLICIES = os.path.join(SOURCE, "tests", "cases", "policies.jsonl")


def policy(*arguments, **options):
    return gloveport("policy", *arguments, **options)


class Check(Case):
    def test_every_error_and_warning_has_its_place(self):
        file = self.write("p.json", '{\n "import": {},\n "limits": {"wall_s": "5"},\n'
                                    ' "imports": {"allow": ["a"], "deny": ["a"]}}')
        done = policy("check", file)
        self.assertExit(USAGE, done)
        self.assertIn(f'{file}:2:2: error: unknown key "import"', done.stdout)
        self.assertIn(f"{file}:3:23: error: wall_s", done.stdout)
        self.assertIn(f'{file}:4:24: warning: allowing "a"', done.stdout)
        self.assertIn("2 errors, 1 warning\n", done.stdout)
        report = json.loads(policy("check", file, "--json").stdout)
        self.assertEqual([(2, 2), (3, 23)], [(item["line"], item["column"]) for item in report["errors"]])

    def test_warnings_fail_only_when_asked_to(self):
        file = self.write("p.json", '{"imports": {"allow": ["a"], "deny": ["a"]}}')
        self.assertExit(OK, policy("check", file))
        self.assertExit(USAGE, policy("check", file, "--strict"))
        self.assertExit(OK, policy("check", MAIL, "--strict"))
        self.assertEqual(f"{MAIL}: ok\n", policy("check", MAIL).stdout)

    def test_tools_that_do_not_exist(self):
        tools = self.write("tools.json", '["pay", {"name": "fetch", "parameters": [{"name": "uri"}]}]')
        done = policy("check", MAIL, "--tools", tools)
        self.assertExit(OK, done)
        self.assertRegex(done.stdout, r'mail.json:10:16: warning: there is no tool "delete_mailbox"')
        self.assertRegex(done.stdout, r'mail.json:13:\d+: warning: the tool "fetch" has no parameter "url"')
        self.assertNotIn('"pay"', done.stdout)

    def test_what_cannot_be_read(self):
        self.assertExit(USAGE, policy("check", "/nowhere.json"))
        self.assertExit(USAGE, policy("check", MAIL, "--tools", self.write("t.json", "{}")))
        self.assertExit(USAGE, policy("check", self.write("p.json", "{")))


class Explain(Case):
    def test_a_policy_in_words(self):
        done = policy("explain", MAIL)
        self.assertExit(OK, done)
        self.assertRegex(done.stdout, r'2\. allow +send_mail where to matches ".*" +\S*mail\.json:12:7')
        self.assertRegex(done.stdout, r"wall time +5 s +preset sandboxed_python")
        self.assertRegex(done.stdout, r"copies +8 at the same time +built in")
        self.assertNotIn("\x1b", done.stdout)
        self.assertExit(OK, policy("explain", "default"))
        self.assertEqual(["pickle"], json.loads(policy("explain", MAIL, "--json").stdout)["imports"]["ask"])

    def test_colours_on_a_terminal_only(self):
        self.assertIn(b"\x1b[31m1. deny", on_terminal("policy", "explain", MAIL, TERM="xterm"))
        self.assertNotIn(b"\x1b[31m", on_terminal("policy", "explain", MAIL, TERM="xterm", NO_COLOR="1"))

    def test_which_rule_decides_about_code(self):
        code = self.write("cell.py", "import json, numpy\nsend_mail(to='a@example.org')\nsend_mail(to=input())\n"
                                     "pay(amount=5)\ndelete_mailbox()\n")
        done = policy("explain", MAIL, code)
        self.assertExit(DENIED, done)
        for line in (r'1:8 +allow +import json +imports.allow has "json" \(preset sandboxed_python\)',
                     r"1:14 +deny +import numpy +no entry of imports names it",
                     r"2:1 +allow +tool send_mail +rule 2 \(\S*mail.json:12:7\)",
                     r"3:1 +depends +tool send_mail +rule 2 .*if to is so at run time\n +else tools.default \(.*: ask",
                     r"4:1 +ask +tool pay +tools.default",
                     r"5:1 +deny +tool delete_mailbox +rule 1",
                     r"\[import\] +import numpy.*\n +decided by: imports\n +hint: ", "Verdict: deny"):
            self.assertRegex(done.stdout, line)

    def test_positions_are_told_by_the_tools(self):
        tools = self.write("tools.json", '[{"name": "send_mail", "parameters": ["to", "text"]}]')
        code = "send_mail('a@example.org', 'hi')"
        self.assertRegex(policy("explain", MAIL, "-c", code).stdout, "depends +tool send_mail")
        done = policy("explain", MAIL, "-c", code, "--tools", tools, "--json")
        self.assertExit(OK, done)
        self.assertEqual(["allow"], [use["decision"] for use in json.loads(done.stdout)["uses"]])

    def test_what_a_cell_costs(self):
        file = self.write("p.json", '{"extends": "default", "cost": {"escalate_above": 10, "prices": {"ask_llm": 0.5}}}')
        done = policy("explain", file, "-c", "for i in range(100): ask_llm(i)")
        self.assertExit(OK, done)
        self.assertIn("called 100 times, cost 50", done.stdout)
        self.assertRegex(done.stdout, r"\[cost\] +the cell is estimated to cost 50, more than 10")
        self.assertIn("Verdict: escalate", done.stdout)
        self.assertIn("Verdict: allow", policy("explain", file, "-c", "for i in range(9): ask_llm(i)").stdout)


class Test(Case):
    def test_the_shared_cases(self):
        done = policy("test", "default", POLICIES)
        self.assertExit(OK, done)
        self.assertTrue(done.stdout.endswith("100 passed, 0 failed\n"), done.stdout[-500:])

    def test_calls_of_tools(self):
        rows = [{"name": "inside", "tool": "send_mail", "args": {"to": "a@example.org"}, "expect": "allow", "rule": 2},
                {"name": "outside", "tool": "send_mail", "args": {"to": "a@evil.org"}, "expect": "ask"},
                {"name": "gone", "tool": "delete_mailbox", "args": {}, "expect": "deny"}]
        cases = self.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.assertExit(OK, policy("test", MAIL, cases))
        rows[1]["expect"], rows[0]["rule"] = "allow", 3
        done = policy("test", MAIL, self.write("cases.jsonl", "// a comment\n\n" + "\n".join(map(json.dumps, rows))))
        self.assertExit(FAILED, done)
        self.assertRegex(done.stdout, r"FAILED inside +expected the rule 3: tool rule 2")
        self.assertRegex(done.stdout, r"FAILED outside +expected allow, is ask")
        self.assertIn("1 passed, 2 failed", done.stdout)

    def test_code(self):
        rows = [{"name": "a", "code": "import socket", "expect": "deny", "rule": "import"},
                {"name": "b", "code": "import pickle", "expect": "escalate"},
                {"name": "c", "code": "import socket", "expect": "deny", "rule": "path"}]
        done = policy("test", "default", self.write("c.jsonl", "\n".join(map(json.dumps, rows))), "--json")
        self.assertExit(FAILED, done)
        self.assertEqual([True, True, False], [case["ok"] for case in json.loads(done.stdout)["cases"]])

    def test_cases_that_are_none(self):
        for text in ("", "{", '{"code": "1"}', '{"code": "1", "tool": "a", "expect": "allow"}',
                     '{"code": "1", "expect": "perhaps"}', "[]"):
            with self.subTest(text=text):
                self.assertExit(USAGE, policy("test", "default", self.write("c.jsonl", text)))


class ShowAndImport(Case):
    def test_presets_with_their_comments(self):
        for name in ("default", "open", "sandboxed_python"):
            with open(os.path.join(SOURCE, "policy", "presets", name + ".json"), encoding="utf-8") as file:
                self.assertEqual(file.read(), policy("show", name).stdout)
        done = policy("show", "defualt")
        self.assertExit(USAGE, done)
        self.assertIn('did you mean "default"?', done.stderr)

    def test_the_schema(self):
        with open(os.path.join(SOURCE, "policy", "policy.schema.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), json.loads(policy("schema").stdout))

    def test_what_is_imported_is_a_policy_and_the_rest_is_told(self):
        settings = self.write("settings.json", '{"permissions": {"allow": ["Bash(ls:*)",\n "Read(~/x)"],\n'
                                               ' "deny": ["mcp__files"]}}')
        done = policy("import", settings)
        self.assertExit(OK, done)
        notes = re.findall(r"settings\.json:(\d+):\d+: ([a-z ]+):", done.stderr)
        self.assertEqual([("1", "stricter"), ("2", "left out"), ("3", "stricter")], notes)
        made = self.write("made.json", done.stdout)
        self.assertExit(OK, policy("check", made, "--strict"))
        self.assertExit(USAGE, policy("import", self.write("x.json", "{}")))


if __name__ == "__main__":
    unittest.main()
