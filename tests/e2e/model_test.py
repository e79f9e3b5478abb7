#!/usr/bin/python3
"""`gloveport run` with every kind of model: which requests it makes, what it keeps of them, and that no key is anywhere."""

import json
import os
import unittest

from model_endpoint import Code, ModelEndpoint, Refuse
from programs import MODEL, OK, USAGE, Case, gloveport

KEY = "sk-test-0123456789abcdef"
KINDS = {"openai": "/chat/completions", "openai-responses": "/responses", "anthropic": "/messages"}
STEPS = [Code("x = 2 + 3\nx"), Code("final_answer(x)")]


def ask(model, *arguments, goal="What is 2 + 3?", url="", **options):
    return gloveport("run", goal, "--model", model, *arguments, OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY,
                     **({"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": url} if url else {}), **options)


class Kinds(Case):
    def test_each_kind_gets_to_the_answer_in_each_form(self):
        for kind, path in KINDS.items():
            for action in ("text", "json", "tool"):
                with self.subTest(kind=kind, action=action), ModelEndpoint(STEPS) as endpoint:
                    done = ask(f"{kind}:tiny?action={action}", "--json", url=endpoint.url)
                    self.assertExit(OK, done)
                    report = json.loads(done.stdout)
                    self.assertEqual(5, report["answer"])
                    self.assertEqual({"input": 200, "output": 20},
                                     {name: report["model"]["tokens"][name] for name in ("input", "output")})
                    self.assertEqual(2, len(endpoint.requests))
                    for where, _, body in endpoint.requests:
                        self.assertTrue(where.endswith(path), where)
                        self.assertEqual(action == "tool", "tools" in body)
                    # What came of the first step is told as the result of the call that asked for it.
                    second = json.dumps(endpoint.requests[1][2])
                    self.assertEqual(action == "tool", second.count("call_1") == 2, second)

    def test_a_form_that_the_server_refuses_gives_way(self):
        with ModelEndpoint([Refuse(400, "this model does not support tools"), Refuse(400, "response_format is not supported"),
                            Refuse(400, "response_format is not supported"), *STEPS]) as endpoint:
            done = ask("openai:tiny?action=tool", url=endpoint.url)
        self.assertExit(OK, done)
        self.assertEqual(5, json.loads(done.stdout))
        self.assertNotIn("tools", endpoint.requests[3][2])

    def test_mistakes_are_usage_errors_that_say_what_would_be_right(self):
        for model, message in (("gpt-5", "names no kind of model"), ("openai:m?action=xml", "is no option of a model"),
                               ("record:a", "does not say which model"), ("replay:/nonexistent", "/nonexistent")):
            done = ask(model)
            self.assertExit(USAGE, done)
            self.assertRegex(done.stderr, f"--model.*{message}")

    def test_help_names_every_kind(self):
        text = gloveport("run", "--help").stdout
        for name in (*KINDS, "scripted", "record", "replay"):
            self.assertIn(name + ":", text)


class Recordings(Case):
    def record(self):
        path = os.path.join(self.folder, "run.jsonl")
        with ModelEndpoint(STEPS) as endpoint:
            self.assertExit(OK, ask(f"record:{path}=openai:tiny", url=endpoint.url))
        return path

    def test_a_recorded_run_is_played_without_the_model(self):
        path = self.record()
        with open(path, encoding="utf-8") as file:
            exchanges = [json.loads(line) for line in file]
        self.assertEqual(["openai:tiny"] * 2, [exchange["model"] for exchange in exchanges])
        self.assertEqual(2, len(exchanges[1]["request"]["messages"]))  # only what is new
        done = ask("replay:" + path)
        self.assertExit(OK, done)
        self.assertEqual(5, json.loads(done.stdout))

    def test_another_prompt_is_refused_with_its_difference_unless_only_the_order_counts(self):
        path = self.record()
        done = ask("replay:" + path, goal="What is 3 + 2?")
        self.assertExit(MODEL, done)
        self.assertRegex(done.stderr, r'exchange 1 .* recorded "What is 2 \+ 3\?", now "What is 3 \+ 2\?"')
        done = ask(f"replay:{path}?match=order", goal="What is 3 + 2?")
        self.assertExit(OK, done)
        self.assertEqual(5, json.loads(done.stdout))

    def test_a_recording_is_not_overwritten(self):
        path = self.record()
        done = ask(f"record:{path}=scripted:{self.write('s.jsonl', json.dumps({'content': 'x'}))}")
        self.assertExit(USAGE, done)
        self.assertIn("exists already", done.stderr)


class Keys(Case):
    def test_a_key_is_sent_and_shown_nowhere_even_if_the_server_repeats_it(self):
        for kind in KINDS:
            with self.subTest(kind=kind), ModelEndpoint([Code("print(dict(__import__('os').environ))"), *STEPS,
                                                         Refuse(401, f"Incorrect API key: {KEY}")]) as endpoint:
                audit, recording = (os.path.join(self.folder, kind + end) for end in (".audit", ".jsonl"))
                for _ in range(2):
                    done = ask(f"record:{recording}={kind}:tiny", "--json", "--audit", audit, url=endpoint.url)
                    self.assertNotIn(KEY, done.stdout + done.stderr)
                    for name in (audit, recording):
                        with open(name, encoding="utf-8") as file:
                            self.assertNotIn(KEY, file.read())
                        os.remove(name)
                self.assertExit(MODEL, done)
                self.assertIn("[secret]", done.stderr)
                self.assertTrue(all(KEY in json.dumps(headers) for _, headers, _ in endpoint.requests))


if __name__ == "__main__":
    unittest.main()
