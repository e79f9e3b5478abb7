#!/usr/bin/python3
"""A person decides: over the session protocol, and at the terminal."""

import hashlib
import json
import os
import queue
import unittest

from programs import (ANSWER, CONVERSION, DENIED, EXAMPLE, GLOVEPORT, GOAL, OK, Case, conversion, environment, gloveport)
from protocol_client import Client, RequestError
from terminal import Terminal

SEND = {"name": "send", "description": "Sends.", "parameters": [{"name": "to", "type": "string"}]}
ASK = {"extends": "open", "tools": {"rules": [{"tool": "send", "effect": "ask"}]}}


class OverTheProtocol(unittest.TestCase):
    def setUp(self):
        self.client = Client([GLOVEPORT, "session"], env=environment())
        self.addCleanup(self.client.close)
        self.sent = []
        self.approvals = queue.Queue()

    def open(self, policy=ASK):
        return self.client.open(policy, [SEND], {"send": lambda args: self.sent.append(args["to"]) or len(self.sent)})

    def run_deciding(self, session, cell, **decision):
        """The result of a cell whose first question gets this decision."""
        def on_event(event):
            if event["event"] == "approval":
                self.approvals.put(event)
                self.client.send_raw(json.dumps({"op": "approve", "approval": event["approval"], **decision}))
        return session.run(cell, on_event=on_event)

    def test_an_allowed_call_runs_and_the_event_says_all_of_it(self):
        session = self.open()
        self.assertEqual(1, self.run_deciding(session, "send('bob')", decision="allow")["value"])
        event = self.approvals.get_nowait()
        subject = event["subject"]
        self.assertEqual(("tool_call", session.name, 0, "send", {"to": "bob"}),
                         tuple(subject[key] for key in ("kind", "session", "cell", "tool", "args")))
        self.assertEqual(hashlib.sha256(b'{"tool":"send","args":{"to":"bob"}}').hexdigest(), subject["sha256"])
        self.assertTrue(subject["reason"] and subject["grant"])
        self.assertTrue(0 < subject["deadline_s"] <= 300)
        self.assertEqual(["bob"], self.sent)

    def test_a_denial_has_the_reason(self):
        session = self.open()
        result = self.run_deciding(session, "try: send('bob')\nexcept PermissionError as error: text = str(error)\ntext",
                                   decision="deny", reason="not on a Sunday")
        self.assertIn("not on a Sunday", result["value"])
        self.assertEqual([], self.sent)

    def test_always_covers_later_calls_until_it_is_revoked(self):
        session = self.open()
        self.run_deciding(session, "send('a'); send('b')", decision="always", by="ann")
        self.assertEqual(1, self.approvals.qsize())
        grants = self.client.call("grants", session=session.name)["grants"]
        self.assertEqual([("ann", 1)], [(grant["by"], grant["uses"]) for grant in grants])
        self.client.call("revoke_grant", session=session.name, grant=grants[0]["grant"])
        self.assertEqual([], self.client.call("grants", session=session.name)["grants"])
        with self.assertRaises(RequestError) as caught:
            self.client.call("revoke_grant", session=session.name, grant=grants[0]["grant"])
        self.assertEqual("not_found", caught.exception.code)
        self.run_deciding(session, "send('c')", decision="deny")
        self.assertEqual((2, ["a", "b"]), (self.approvals.qsize(), self.sent))

    def test_a_decision_on_something_else_is_a_denial(self):
        session = self.open()
        result = self.run_deciding(session, "send('bob')", decision="allow", sha256="0" * 64)
        self.assertEqual("PermissionError", result["error"]["type"])
        self.assertEqual([], self.sent)

    def test_edited_arguments_and_code_are_what_runs(self):
        session = self.open()
        self.run_deciding(session, "send('bob')", decision="allow", args={"to": "carol"})
        self.assertEqual(["carol"], self.sent)
        session = self.open({"extends": "default", "imports": {"ask": ["sqlite3"]}})
        self.assertEqual(42, self.run_deciding(session, "import sqlite3", decision="allow", code="6 * 7")["value"])
        self.assertEqual("import sqlite3", self.approvals.queue[-1]["subject"]["code"])
        again = self.run_deciding(session, "import sqlite3", decision="allow", code="import subprocess")
        self.assertEqual("denied", again["outcome"])

    def test_an_escalated_cell_that_is_allowed_imports(self):
        session = self.open({"extends": "default", "imports": {"ask": ["sqlite3"]}})
        code = "import sqlite3\nsqlite3.connect(':memory:').execute('select 6 * 7').fetchone()[0]"
        self.assertEqual(42, self.run_deciding(session, code, decision="allow")["value"])
        self.assertEqual("denied", self.run_deciding(session, code, decision="deny")["outcome"])

    def test_an_interrupt_withdraws_the_question(self):
        session = self.open()
        seen = queue.Queue()
        exchange = session.start("send('bob')")

        def on_event(event):
            seen.put(event["event"])
            if event["event"] == "approval":
                self.client.send_raw(json.dumps({"op": "interrupt", "session": session.name}))
        result = session.finish(exchange, on_event=on_event)
        self.assertEqual("KeyboardInterrupt", result["error"]["type"])
        self.assertEqual(["approval", "approval_withdrawn"], list(seen.queue))

    def test_decisions_that_cannot_be_used(self):
        session = self.open()
        for members, code in [({"approval": 999, "decision": "allow"}, "not_found"),
                              ({"approval": 1, "decision": "perhaps"}, "invalid_argument"),
                              ({"approval": 1, "decision": "allow", "args": [1]}, "invalid_argument"),
                              ({"approval": "x", "decision": "allow"}, "invalid_argument"),
                              ({"decision": "allow"}, "invalid_argument")]:
            with self.subTest(members=members), self.assertRaises(RequestError) as caught:
                self.client.call("approve", **members)
            self.assertEqual(code, caught.exception.code)
        self.assertEqual(3, session.run("1 + 2")["value"])

    def test_a_client_that_closes_its_input_has_denied(self):
        session = self.open()

        def on_event(event):
            if event["event"] == "approval":
                self.client.discard_input()
        result = session.run("send('bob')", on_event=on_event)
        self.assertEqual("PermissionError", result["error"]["type"])
        self.assertIn("went away", result["error"]["message"])
        self.assertEqual([], self.sent)


PICKLE = "import pickle\nlen(pickle.dumps([1, 2])) > 0\n"
PROMPT = r"y / a / n / e \?"


class AtTheTerminal(Case):
    def exec(self, code=PICKLE, *arguments, **changes):
        return Terminal(GLOVEPORT, "exec", "--audit", os.path.join(self.folder, "log"), *arguments, "-c", code, **changes)

    def decisions(self):
        shown = gloveport("audit", "show", "--json", "--kind", "decision", os.path.join(self.folder, "log"))
        self.assertExit(OK, shown)
        return [json.loads(line) for line in shown.stdout.splitlines()]

    def test_what_is_shown_is_tidy(self):
        terminal = self.exec()
        terminal.wait_for(PROMPT)
        self.assertEqual("""
This cell needs your approval
  | import pickle
  | len(pickle.dumps([1, 2])) > 0
""", terminal.text[:terminal.text.index("  why: ")])
        lines = terminal.text.splitlines()
        self.assertRegex(lines[4], r"^  why: line 1, column 8: import pickle")
        self.assertTrue(all(line.startswith("  ") for line in lines[2:]), terminal.text)
        self.assertRegex(terminal.text, r"\n  \[y\]es, this once   \[a\]lways in this run: .*\n  \[n\]o   \[e\]dit it first .*\n")
        self.assertNotRegex(terminal.text, r"[\x00-\x08\x0b-\x1f]")
        terminal.type("y\n")
        self.assertEqual(OK, terminal.finish(), terminal.text)

    def test_yes(self):
        terminal = self.exec()
        terminal.wait_for(PROMPT)
        terminal.type("y\n")
        terminal.wait_for("True")
        self.assertEqual(OK, terminal.finish())
        decision, = self.decisions()
        self.assertEqual((True, False, "terminal"), tuple(decision[key] for key in ("allowed", "always", "by")))
        self.assertEqual(hashlib.sha256(PICKLE.encode()).hexdigest(), decision["sha256"])

    def test_no_with_a_reason(self):
        terminal = self.exec()
        terminal.wait_for(PROMPT)
        terminal.type("n\n")
        terminal.wait_for("Why")
        terminal.type("too risky\n")
        terminal.wait_for("not approved: too risky")
        self.assertEqual(DENIED, terminal.finish())
        decision, = self.decisions()
        self.assertEqual((False, "too risky"), (decision["allowed"], decision["reason"]))

    def test_what_is_no_answer_is_asked_again(self):
        terminal = self.exec()
        at = terminal.wait_for(PROMPT)
        terminal.type("maybe\n")
        at = terminal.wait_for(PROMPT, at)
        terminal.type("\n")
        terminal.wait_for(PROMPT, at)
        terminal.type("yes\n")
        self.assertEqual(OK, terminal.finish())

    def test_what_was_typed_before_the_question_is_no_answer(self):
        terminal = self.exec("import time\n" + PICKLE)
        terminal.type("y\n")  # long before: the session has to be opened first
        terminal.wait_for(PROMPT)
        terminal.type("n\n\n")
        self.assertEqual(DENIED, terminal.finish())

    def test_an_edited_cell(self):
        editor = self.write("editor.sh", "#!/bin/sh\nprintf '6 * 7\\n' > \"$1\"\n")
        os.chmod(editor, 0o755)
        terminal = self.exec(EDITOR=editor, VISUAL="")
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        terminal.wait_for("42")
        self.assertEqual(OK, terminal.finish())
        self.assertEqual("6 * 7\n", self.decisions()[0]["edited"]["code"])

    def test_no_editor_asks_again(self):
        terminal = self.exec(EDITOR="", VISUAL="")
        at = terminal.wait_for(PROMPT)
        terminal.type("e\n")
        at = terminal.wait_for("No editor", at)
        terminal.wait_for(PROMPT, at)
        terminal.type("n\n\n")
        self.assertEqual(DENIED, terminal.finish())

    def test_no_answer_in_time_is_a_denial_and_says_so(self):
        policy = self.write("policy.json", '{"extends": "default", "limits": {"approval_s": 0.5}}')
        terminal = self.exec(PICKLE, "--policy", policy)
        terminal.wait_for("No answer is needed any more")
        self.assertEqual(DENIED, terminal.finish())
        self.assertEqual("deadline", self.decisions()[0]["by"])

    def test_escapes_in_the_code_do_not_reach_the_terminal(self):
        terminal = self.exec("import pickle\nx = '\x1b[2J\x1b]0;title\x07'\n")
        terminal.wait_for(PROMPT)
        self.assertNotIn("\x1b", terminal.text)
        self.assertNotIn("\x07", terminal.text)
        terminal.type("n\n\n")
        terminal.finish()

    def test_without_a_terminal_nobody_is_asked(self):
        done = gloveport("exec", "-c", PICKLE)
        self.assertExit(DENIED, done)
        self.assertNotIn("needs your approval", done.stderr)

    def test_always_in_a_run_asks_once_for_three_calls(self):
        policy = self.write("policy.json", '{"extends": "default", "tools": {"rules": [{"tool": "contact_cost", "effect": "ask"}]}}')
        log = os.path.join(self.folder, "log")
        terminal = Terminal(CONVERSION, "run", GOAL, "--file", os.path.join(EXAMPLE, "bank-marketing.csv"), "--tools",
                            "contact_cost", "--policy", policy, "--audit", log, "--model",
                            "scripted:" + os.path.join(EXAMPLE, "transcript.jsonl"))
        at = terminal.wait_for("This call needs your approval")
        terminal.wait_for(PROMPT, at)
        self.assertRegex(terminal.text, r"\n  \| contact_cost\(contacts=\d+, channel='\w+'\)\n  why: ")
        terminal.type("a\n")
        self.assertEqual(OK, terminal.finish(), terminal.text)
        self.assertEqual(1, terminal.text.count("needs your approval"))
        self.assertIn(str(ANSWER["conversions"]), terminal.text)
        decisions = self.decisions()
        self.assertEqual(["terminal", "grant of terminal", "grant of terminal"], [d["by"] for d in decisions])
        self.assertExit(OK, conversion("replay", log))


if __name__ == "__main__":
    unittest.main()
