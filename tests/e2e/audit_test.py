#!/usr/bin/python3
"""The audit log of a run: verified, shown, replayed, gone on from."""

import json
import os
import signal
import subprocess
import unittest

from programs import (ANSWER, DENIED, EXAMPLE, FAILED, GLOVEPORT, GOAL, OK, USAGE, Case, conversion, environment,
                      gloveport)
from protocol_client import Client

DEMO = ("run", GOAL, "--file", os.path.join(EXAMPLE, "bank-marketing.csv"), "--tools", "contact_cost", "--schema",
        os.path.join(EXAMPLE, "answer.schema.json"), "--model", "scripted:" + os.path.join(EXAMPLE, "transcript.jsonl"))
COST = {"name": "contact_cost", "parameters": [{"name": "contacts", "type": "integer"},
                                               {"name": "channel", "type": "string", "default": "cellular"}]}


class AuditCase(Case):
    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.folder, "log")

    def records(self, *arguments):
        done = gloveport("audit", "show", "--json", self.log, *arguments)
        self.assertExit(OK, done)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def verify(self, *arguments, code=OK):
        done = gloveport("audit", "verify", "--json", self.log, *arguments)
        self.assertExit(code, done)
        return json.loads(done.stdout)

    def record_cost(self, rate, code="contact_cost(10, 'telephone')"):
        """A session with a tool of the same name as the example's, and other rates."""
        with Client([GLOVEPORT, "session", "--audit", self.log], subprocess.DEVNULL, environment()) as client:
            with client.open("default", [COST], {"contact_cost": lambda args: rate * args["contacts"]}) as session:
                return session.run(code)["value"]


class TheDemo(AuditCase):
    def test_it_comes_out_the_same_from_the_record_and_live(self):
        ran = conversion(*DEMO, "--audit", self.log)
        self.assertExit(OK, ran)
        self.assertEqual(ANSWER, json.loads(ran.stdout))
        for arguments in ((), ("--against", "live")):
            with self.subTest(arguments=arguments):
                done = conversion("replay", self.log, "--json", *arguments)
                self.assertExit(OK, done)
                report = json.loads(done.stdout)
                self.assertEqual((True, 1, 2, [], []), tuple(report[key] for key in
                                                             ("identical", "sessions", "cells", "divergences", "gaps")))
        # Without the example's function at hand its answers are in the log all the same.
        self.assertExit(OK, gloveport("replay", self.log))

    def test_the_head_that_is_printed_is_the_logs(self):
        key = os.path.join(self.folder, "key.pem")
        self.assertExit(OK, gloveport("audit", "key", key))
        ran = conversion(*DEMO, "--audit", self.log, "--audit-key", key)
        self.assertExit(OK, ran)
        self.assertRegex(ran.stderr, r"head [0-9a-f]{64}\b")
        head = ran.stderr[ran.stderr.index(", head ") + 7:][:64]
        check = self.verify("--head", head, "--key", key + ".pub")
        self.assertEqual(("sealed", head, True), (check["end"], check["head"], check["signatures"] > 0))
        self.assertEqual("broken", self.verify("--head", "0" * 64, code=FAILED)["end"])
        self.assertExit(USAGE, gloveport("audit", "verify", self.log + "x"))

    def test_the_summary_answers_what_a_reader_asks(self):
        self.assertExit(OK, conversion(*DEMO, "--audit", self.log))
        done = gloveport("audit", "summary", "--json", self.log)
        self.assertExit(OK, done)
        summary = json.loads(done.stdout)
        self.assertEqual({"denied": 1, "ok": 1}, summary["cells"])
        self.assertEqual(3, summary["tools"]["contact_cost"]["calls"])
        self.assertEqual([ANSWER], summary["answers"])
        self.assertEqual("sealed", summary["log"]["end"])
        self.assertEqual("final_answer", summary["stop_reason"])
        self.assertEqual(["inspector"], [attempt["source"] for attempt in summary["attempts"]])
        self.assertTrue([file for file in summary["files"] if file["path"] == "bank-marketing.csv"])
        page = gloveport("audit", "summary", self.log)
        self.assertExit(OK, page)
        self.assertRegex(page.stdout, r"(?s)cells +1 denied, 1 ok\n.*tool +contact_cost: 3 calls.*answer .*5289.*sealed")
        self.assertNotIn("\x1b", page.stdout)


class Differences(AuditCase):
    def test_a_tool_that_answers_otherwise_is_told(self):
        self.assertEqual(50, self.record_cost(5))
        self.assertExit(OK, conversion("replay", self.log))
        done = conversion("replay", self.log, "--against", "live")
        self.assertExit(FAILED, done)
        self.assertRegex(done.stdout, r"(?s)1 cells of 1 sessions .*differently.*value of s1, cell 0\n  recorded .*\n  now ")
        report = json.loads(conversion("replay", self.log, "--against", "live", "--json").stdout)
        self.assertEqual((False, ["value"]), (report["identical"], [d["what"] for d in report["divergences"]]))
        self.assertExit(OK, gloveport("replay", self.log, "--against", "live"))  # it has no such tool: the record answers

    def test_a_log_that_was_edited_is_not_replayed_and_the_record_is_named(self):
        self.record_cost(5)
        with open(self.log, encoding="utf-8") as file:
            text = file.read()
        with open(self.log, "w", encoding="utf-8") as file:
            file.write(text.replace("contact_cost(10,", "contact_cost(11,"))
        check = self.verify(code=FAILED)
        line = 1 + next(n for n, record in enumerate(text.splitlines()) if "contact_cost(10," in record)
        self.assertEqual(("broken", line, line - 1), (check["end"], check["line"], check["records"]))
        for command in ("replay", "show"):
            done = gloveport(*(["replay"] if command == "replay" else ["audit", "show"]), self.log)
            self.assertNotEqual(OK, done.returncode)
            self.assertIn(f"line {line}", done.stderr)

    def test_a_log_is_never_overwritten(self):
        self.record_cost(5)
        done = gloveport("exec", "--audit", self.log, "-c", "1")
        self.assertExit(USAGE, done)
        self.assertIn("evidence is not overwritten", done.stderr)


class GoingOn(AuditCase):
    def killed(self):
        """The log of a session whose host was killed between two cells."""
        client = Client([GLOVEPORT, "session", "--audit", self.log], subprocess.DEVNULL, environment())
        session = client.open("default", [COST], {"contact_cost": lambda args: 2.5 * args["contacts"]})
        session.put_file("in.txt", b"seven")
        session.run("x = contact_cost(4) + len(open('in.txt').read())")
        session.run("def f(y):\n    return x * y")
        client.process.send_signal(signal.SIGKILL)
        client.process.wait()
        client.discard_input()
        client.process.stdout.close()

    def test_the_state_is_there_again(self):
        self.killed()
        self.assertEqual("open end", self.verify()["end"])
        for arguments in ((), ("--session", "s1")):
            done = gloveport("resume", self.log, *arguments, "-c", "print(open('in.txt').read())\nf(2)")
            self.assertExit(OK, done)
            self.assertEqual("seven\n30.0\n", done.stdout)
        self.assertExit(DENIED, gloveport("resume", self.log, "-c", "import subprocess"))  # under its policy
        self.assertExit(FAILED, gloveport("resume", self.log, "-c", "1 / 0"))

    def test_what_cannot_be_gone_on_from(self):
        self.record_cost(5)
        done = gloveport("resume", self.log, "-c", "1")
        self.assertExit(USAGE, done)
        self.assertIn("were all closed", done.stderr)
        self.assertExit(USAGE, gloveport("resume", self.log + "x", "-c", "1"))


class Showing(AuditCase):
    def test_filters(self):
        with Client([GLOVEPORT, "session", "--audit", self.log], subprocess.DEVNULL, environment()) as client:
            with client.open("default") as first, client.open("open") as second:
                first.run("import subprocess")
                second.run("print('x')")
                first.run("1")
                second.put_file("in.txt", b"seven")
                second.run("try: open('/etc/shadow')\nexcept OSError: pass", inspect=False)
        self.assertEqual({"cell"}, {r["kind"] for r in self.records("--kind", "cell")})
        self.assertEqual(4, len(self.records("--kind", "cell")))
        self.assertEqual({"s2"}, {r["session"] for r in self.records("--session", "s2")})
        self.assertEqual({1}, {r["cell"] for r in self.records("--cell", "1")})
        attempts = self.records("--source", "interpreter", "--session", "s2")
        self.assertEqual({"interpreter"}, {r["source"] for r in attempts})
        self.assertIn("/etc/shadow", json.dumps(attempts))
        page = gloveport("audit", "show", self.log, "--kind", "put_file", "--kind", "files").stdout
        self.assertRegex(page, r"put_file +in\.txt \(5 bytes, sha256 [0-9a-f]{12}\)\n")
        self.assertRegex(page, r"files +1 in the work folder\n +\| in\.txt \(5 bytes")

    def test_a_page_is_tidy_and_free_of_escapes(self):
        code = "print('\x1b[2J')\nx = '\x1b]0;t\x07'\nfor i in range(3):\n    x += 'z' * 300\nx"
        with Client([GLOVEPORT, "session", "--audit", self.log], subprocess.DEVNULL, environment()) as client:
            with client.open("open") as session:
                session.run(code)
        done = gloveport("audit", "show", self.log)
        self.assertExit(OK, done)
        self.assertNotRegex(done.stdout, r"[\x00-\x08\x0b-\x1f]")
        for line in done.stdout.splitlines():
            self.assertLess(len(line), 400, line)
            self.assertRegex(line, r"^( *\d+ \d\d:\d\d:\d\d\.\d{3} | {36}\| )")


if __name__ == "__main__":
    unittest.main()
