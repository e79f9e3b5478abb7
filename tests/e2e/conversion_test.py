#!/usr/bin/python3
"""The conversion example: from the goal to a validated answer, and each way in which it can fail."""

import json
import os
import socket
import subprocess
import unittest

from processes import descendants, wait_until_gone
from programs import (ANSWER, CONVERSION, EXAMPLE, FAILED, GLOVEPORT, GOAL, LIMIT, MODEL, OK, USAGE, Case, conversion,
                      environment, gloveport)
from protocol_client import Client
from scripted_endpoint import ScriptedEndpoint

CSV = os.path.join(EXAMPLE, "bank-marketing.csv")
SCHEMA = os.path.join(EXAMPLE, "answer.schema.json")
TRANSCRIPT = os.path.join(EXAMPLE, "transcript.jsonl")
WRONG_SHAPE = os.path.join(EXAMPLE, "transcript-wrong-shape.jsonl")


def answers_of(transcript):
    with open(transcript, encoding="utf-8") as lines:
        return [json.loads(line)["content"] for line in lines]


def ask(*arguments, model="scripted:" + TRANSCRIPT, csv=CSV, **options):
    return conversion("run", GOAL, "--file", csv, "--tools", "contact_cost", "--schema", SCHEMA, "--model", model,
                      *arguments, **options)


class Answers(Case):
    def test_a_refusal_then_the_answer_with_everything_told(self):
        done = ask()
        self.assertExit(OK, done)
        self.assertEqual(ANSWER, json.loads(done.stdout))
        for pattern in (
                r"a script speaks in its place",                             # no model was asked, and it says so
                r"(?s)refuses it.*line 1, column \d+: \[import\].*requests.*hint: ",
                r"\| mar +477 +248 +51\.99",                                 # the table, as it was printed
                r"calls the tool contact_cost\(contacts=\d+",
                r"The answer is accepted",
                r"5,289 of 45,211 clients subscribed, which is 11\.698 %\. March",  # the explanation
                r"(?s)Evidence.*final_answer.*denied.*ok.*files read +bank-marketing\.csv"
                r".*refused.*requests.*tool calls.*contact_cost.*CPU.*MiB.*seccomp +in force"):
            with self.subTest(pattern=pattern):
                self.assertRegex(done.stderr, pattern)

    def test_an_answer_of_the_wrong_shape_is_sent_back_with_the_schemas_error(self):
        done = ask(model="scripted:" + WRONG_SHAPE)
        self.assertExit(OK, done)
        self.assertEqual(ANSWER, json.loads(done.stdout))
        self.assertRegex(done.stderr, r'(?s)The answer is not accepted:.*property "clients" is missing.*The answer is accepted')

    def test_a_changed_row_changes_the_answer(self):
        with open(CSV, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual("no", text.splitlines()[1].split(",")[-1])
        changed = text.replace(",no\n", ",yes\n", 1)
        done = ask(csv=self.write("bank-marketing.csv", changed))
        self.assertExit(OK, done)
        answer = json.loads(done.stdout)
        self.assertEqual((5290, 11.701), (answer["conversions"], answer["conversion_percent"]))
        self.assertIn("5,290 of 45,211", done.stderr)

    def test_a_changed_rate_changes_the_answer(self):
        # The script's own code, with a tool of the same name and other rates.
        code = answers_of(TRANSCRIPT)[1]
        tool = {"name": "contact_cost", "parameters": [{"name": "contacts", "type": "integer"},
                                                       {"name": "channel", "type": "string", "default": "cellular"}]}
        with Client([GLOVEPORT, "session"], env=environment()) as client:
            action = client.call("parse", text=code)["action"]
            with client.open("default", [tool], {"contact_cost": lambda args: 10.0 * args["contacts"]}) as session:
                with open(CSV, "rb") as file:
                    session.put_file("bank-marketing.csv", file.read())
                answer = session.run(action["code"])["final_answer"]["value"]
        self.assertEqual({**ANSWER, "cost_per_conversion_eur": round(10.0 * 124956 / 5289, 2)}, answer)

    def test_json_has_answer_steps_and_evidence(self):
        done = ask("--json")
        self.assertExit(OK, done)
        report = json.loads(done.stdout)
        self.assertEqual(("final_answer", ANSWER), (report["stop_reason"], report["answer"]))
        self.assertEqual(["denied", "ok"], [step["result"]["outcome"] for step in report["steps"]])
        self.assertTrue(report["model"]["scripted"])
        self.assertEqual(["bank-marketing.csv"], report["evidence"]["usage"]["files_read"])
        self.assertEqual(3, report["evidence"]["usage"]["tool_calls"])
        self.assertTrue(report["evidence"]["layers"]["seccomp"]["active"])

    def test_a_model_behind_an_endpoint_gets_there_the_same_way(self):
        with ScriptedEndpoint(answers_of(TRANSCRIPT)) as endpoint:
            done = ask(model="openai:tiny", OPENAI_BASE_URL=endpoint.url, OPENAI_API_KEY="key")
        self.assertExit(OK, done)
        self.assertEqual(ANSWER, json.loads(done.stdout))
        self.assertNotIn("script speaks", done.stderr)
        self.assertEqual(2, len(endpoint.requests))
        prompt = json.dumps(endpoint.requests[0])
        self.assertIn("contact_cost(contacts: int, channel: str = 'cellular') -> float", prompt)
        self.assertIn("requests", endpoint.requests[1]["messages"][-1]["content"])  # the refusal was told

    def test_nothing_is_left_behind(self):
        process = subprocess.Popen([CONVERSION, "run", GOAL, "--file", CSV, "--tools", "contact_cost", "--model",
                                    "scripted:" + TRANSCRIPT], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=environment())
        below = set()
        for _ in process.stderr:  # the processes of the session exist while it is narrated
            below |= descendants(process.pid)
        process.stderr.close()
        self.assertEqual(OK, process.wait(60))
        self.assertNotEqual(set(), below)
        self.assertEqual(set(), wait_until_gone(below))


class Failures(Case):
    """Clear message, fitting exit code, nothing on stdout."""

    def assertFails(self, code, done, pattern):
        self.assertExit(code, done)
        self.assertEqual("", done.stdout)
        self.assertRegex(done.stderr, pattern)

    def test_a_csv_path_that_is_wrong(self):
        self.assertFails(USAGE, ask(csv=os.path.join(self.folder, "no.csv")), r"--file: cannot open .*no\.csv: No such file")

    def test_a_folder_in_place_of_the_csv(self):
        self.assertFails(USAGE, ask(csv=self.folder), r"--file: .*directory")

    def test_two_files_of_one_name(self):
        twin = self.write("bank-marketing.csv", "x")
        self.assertFails(USAGE, ask("--file", twin), r"another file named bank-marketing\.csv")

    def test_an_endpoint_that_is_down(self):
        with socket.socket() as closed:  # bound, not listening: connections are refused
            closed.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
            done = ask(model="openai:tiny", OPENAI_BASE_URL=url)
        self.assertFails(MODEL, done, r"openai:tiny gave no reply: .*cannot connect")

    def test_an_endpoint_that_refuses(self):
        with ScriptedEndpoint([]) as endpoint:
            done = ask(model="openai:tiny", OPENAI_BASE_URL=endpoint.url)
        self.assertFails(MODEL, done, r"no more answers")

    def test_a_key_that_is_not_set(self):
        self.assertFails(USAGE, ask(model="openai:tiny"), r"OPENAI_API_KEY is not set")

    def test_a_transcript_that_ends_too_early(self):
        short = self.write("short.jsonl", json.dumps({"content": answers_of(TRANSCRIPT)[0]}) + "\n")
        self.assertFails(MODEL, ask(model="scripted:" + short), r"short\.jsonl has ended: it holds 1 answer and answer 2")

    def test_transcripts_that_cannot_be_used(self):
        for name, text, pattern in [("empty.jsonl", "", "holds no answers"), ("bad.jsonl", "{}\n{", r"bad\.jsonl, line 1")]:
            with self.subTest(name=name):
                self.assertFails(USAGE, ask(model="scripted:" + self.write(name, text)), pattern)
        self.assertFails(USAGE, ask(model="scripted:" + os.path.join(self.folder, "no.jsonl")), r"--model: cannot open")
        self.assertFails(USAGE, ask(model="scripted:" + self.folder), r"--model: .*directory")

    def test_policies_that_cannot_be_used(self):
        broken = self.write("broken.json", "{\n  \"extend\": \"default\"\n}")
        self.assertFails(USAGE, ask("--policy", broken), r"--policy: .*broken\.json:2:3: .*extend")
        self.assertFails(USAGE, ask("--policy", self.folder), r"--policy: .*directory")
        self.assertFails(USAGE, ask("--policy", "nonsense"), r"--policy: \"nonsense\" is neither")

    def test_schemas_that_cannot_be_used(self):
        for name, text, pattern in [("text.json", "nonsense", r"--schema .*text\.json: invalid JSON"),
                                    ("type.json", '{"type": "nonsense"}', r"nonsense")]:
            with self.subTest(name=name):
                done = conversion("run", GOAL, "--model", "scripted:" + TRANSCRIPT, "--schema", self.write(name, text))
                self.assertFails(USAGE, done, pattern)

    def test_tools_that_the_program_does_not_have(self):
        self.assertFails(USAGE, ask("--tools", "send_mail"), r"no such tool\n.*its tools are: contact_cost")
        done = gloveport("run", GOAL, "--model", "scripted:" + TRANSCRIPT, "--tools", "contact_cost")
        self.assertFails(USAGE, done, r"gloveport has no such tool\n.*examples/conversion")

    def test_too_few_steps(self):
        self.assertFails(LIMIT, ask("--max-steps", "1"), r"no answer after 1 step")

    def test_answers_that_never_fit(self):
        answers = [json.dumps({"content": f"Guess {n}.\n```python\nfinal_answer({n})\n```"}) for n in range(10)]
        done = ask(model="scripted:" + self.write("guesses.jsonl", "\n".join(answers)))
        self.assertFails(FAILED, done, r"none was accepted; the last: at ")

    def test_json_of_a_run_that_failed(self):
        done = ask("--json", "--max-steps", "1")
        self.assertExit(LIMIT, done)
        self.assertEqual("max_steps", json.loads(done.stdout)["stop_reason"])


if __name__ == "__main__":
    unittest.main()
