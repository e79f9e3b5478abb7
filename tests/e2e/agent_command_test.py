#!/usr/bin/python3
"""Agent runs at the command line: streams, events, chats, runs that are kept, traces, settings, completions."""

import json
import os
import re
import signal
import subprocess
import unittest

from programs import (CONVERSION, DENIED, EXAMPLE, FAILED, GLOVEPORT, GOAL, LIMIT, OK, USAGE, Case, conversion, environment,
                      gloveport)
from scripted_endpoint import ScriptedEndpoint
from terminal import Terminal


def cell(code, thought="I go on."):
    return f"{thought}\n```python\n{code}\n```"


class AgentCase(Case):
    def setUp(self):
        super().setUp()
        self.runs = os.path.join(self.folder, "runs")

    def script(self, *answers, name="script.jsonl"):
        return "scripted:" + self.write(name, "".join(json.dumps({"content": answer}) + "\n" for answer in answers))

    def gloveport(self, *arguments, **options):
        return gloveport(*arguments, GLOVEPORT_RUNS=self.runs, **options)

    def keep(self, *answers, goal="Find it."):
        done = self.gloveport("run", goal, "--model", self.script(*answers), "--save")
        return re.search(r"Kept as run (\S+)", done.stderr)[1]


class Events(AgentCase):
    def test_each_line_is_an_event_in_the_order_of_things(self):
        done = self.gloveport("run", "Add.", "--model", self.script(cell("print('x')"), cell("final_answer(3)")), "--jsonl")
        self.assertExit(OK, done)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        names = [event["event"] for event in events if event["event"] not in ("state", "delta")]
        self.assertEqual(["step", "reply", "action", "verdict", "output", "result", "observation",
                          "step", "reply", "action", "verdict", "result", "validation", "end"], names)
        self.assertEqual(3, events[-1]["run"]["answer"])
        self.assertEqual(["generate", "parse", "run", "observe", "generate", "parse", "run", "validate", "stopped"],
                         [event["state"] for event in events if event["event"] == "state"])

    def test_tool_calls_have_a_beginning_and_an_end(self):
        done = conversion("run", GOAL, "--file", os.path.join(EXAMPLE, "bank-marketing.csv"), "--tools", "contact_cost", "--model",
                          "scripted:" + os.path.join(EXAMPLE, "transcript.jsonl"), "--jsonl")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        starts = [event["call"] for event in events if event["event"] == "tool_start"]
        ends = [event["call"] for event in events if event["event"] == "tool_end" and event["ok"]]
        self.assertEqual(3, len(starts))
        self.assertEqual(sorted(starts), sorted(ends))

    def test_pieces_come_before_the_reply_is_whole(self):
        with ScriptedEndpoint([cell("final_answer(3)")]) as endpoint:
            done = self.gloveport("run", "Add.", "--model", "openai:scripted-model", "--jsonl", OPENAI_BASE_URL=endpoint.url)
        self.assertExit(OK, done)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        pieces = [event["text"] for event in events if event["event"] == "delta" and event["kind"] == "content"]
        self.assertGreater(len(pieces), 3)
        self.assertEqual(cell("final_answer(3)"), "".join(pieces))
        self.assertEqual({"input": 100, "output": 10}, events[-1]["run"]["model"]["tokens"])

    def test_without_streaming_the_server_is_asked_for_the_whole(self):
        with ScriptedEndpoint([cell("final_answer(3)")]) as endpoint:
            done = self.gloveport("run", "Add.", "--model", "openai:m", "--jsonl", "--no-stream", OPENAI_BASE_URL=endpoint.url)
            self.assertFalse(endpoint.requests[0].get("stream"))
        self.assertExit(OK, done)
        self.assertNotIn('"delta"', done.stdout)


class Recoveries(AgentCase):
    def test_a_fresh_session_gets_over_a_model_that_repeats_itself(self):
        same = cell("x = 1")
        done = self.gloveport("run", "Go.", "--model", self.script(same, same, same, cell("final_answer('x' in globals())")),
                              "--fresh-session")
        self.assertExit(OK, done)
        self.assertEqual("false\n", done.stdout)
        self.assertIn("It would end here (repeated_action: ", done.stderr)
        self.assertRegex(done.stderr, r"recovered +3  fresh_session, instead of ending as repeated_action")

    def test_a_second_model_goes_on(self):
        second = self.script(cell("final_answer(n + 1)"), name="second.jsonl")
        done = self.gloveport("run", "Go.", "--model", self.script(cell("n = 1")), "--second-model", second)
        self.assertExit(OK, done)
        self.assertEqual("2\n", done.stdout)

    def test_a_fallback_policy_is_told_to_the_model(self):
        same = cell("import csv")
        policy = self.write("strict.json", '{"extends": "sandboxed_python"}')
        done = self.gloveport("run", "Go.", "--model", self.script(same, same, same, cell("final_answer(1)")),
                              "--fallback-policy", policy, "--json")
        self.assertExit(OK, done)
        run = json.loads(done.stdout)
        self.assertEqual("fallback_runtime", run["recoveries"][0]["action"])
        self.assertNotEqual("default", run["evidence"]["policy"])

    def test_plans_are_shown_and_kept_apart_from_steps(self):
        done = self.gloveport("run", "Go.", "--model", self.script("1. look", cell("final_answer(1)")), "--plan-every", "3", "--json")
        self.assertExit(OK, done)
        run = json.loads(done.stdout)
        self.assertEqual(["1. look"], [plan["text"] for plan in run["plans"]])
        self.assertEqual(1, len(run["steps"]))
        self.assertRegex(done.stderr, r"The plan:\n +1\. look")

    def test_money_is_limited_by_a_price_table(self):
        prices = self.write("prices.json", '{"currency": "EUR", "as_of": "2026-11", "models": {"scripted-model": {"input": 1000, "output": 0}}}')
        with ScriptedEndpoint([cell("1"), cell("2"), cell("3")]) as endpoint:
            done = self.gloveport("run", "Go.", "--model", "openai:scripted-model", "--prices", prices, "--max-cost", "0.15",
                                  OPENAI_BASE_URL=endpoint.url)
        self.assertExit(LIMIT, done)
        self.assertRegex(done.stderr, r"cost +0\.2000 EUR")
        self.assertIn("max_cost: 0.2000 are spent, 0.1500 were allowed", done.stderr)

    def test_a_copy_of_the_file_does_not_leave(self):
        text = self.write("clients.csv", "".join(f"client {n},{n * 37}\n" for n in range(60)))
        script = self.script(cell("final_answer(open('clients.csv').read())"), cell("final_answer(60)"))
        done = self.gloveport("run", "Go.", "--model", script, "--file", text, "--max-verbatim", "80")
        self.assertExit(OK, done)
        self.assertEqual("60\n", done.stdout)
        self.assertIn("more than 80 bytes of the file clients.csv", done.stderr)


class Chats(AgentCase):
    def chat(self, lines, *answers, **options):
        return self.gloveport("chat", "--model", self.script(*answers), stdin="".join(line + "\n" for line in lines), **options)

    def test_goals_share_session_and_conversation(self):
        done = self.chat(["What is six?", "Seven times\\", "that?"], cell("x = 6\nfinal_answer(x)"), cell("final_answer(7 * x)"))
        self.assertExit(OK, done)
        self.assertEqual("6\n42\n", done.stdout)

    def test_commands(self):
        done = self.chat(["/help", "/files", "go", "/files", "/evidence", "/nonsense", "/new", "/quit", "go"],
                         cell("open('a.txt', 'w').write('abc')\nfinal_answer(1)"))
        self.assertExit(OK, done)
        for text in ("Ctrl-D leaves", "begins with the first goal", "a.txt (3 bytes)", "seccomp", "/nonsense is no command",
                     "A new session and conversation"):
            self.assertIn(text, done.stderr)
        self.assertEqual("1\n", done.stdout)

    def test_a_kept_conversation_goes_on(self):
        self.keep(cell("final_answer('blue')"), goal="Which colour?")
        with ScriptedEndpoint([cell("final_answer('still blue')")]) as endpoint:
            done = self.gloveport("chat", "--model", "openai:m", "--resume", "last", stdin="And now?\n", OPENAI_BASE_URL=endpoint.url)
            messages = endpoint.requests[0]["messages"]
        self.assertExit(OK, done)
        self.assertIn("Which colour?", messages[1]["content"])
        self.assertIn("final_answer('blue')", messages[2]["content"])
        self.assertIn("# Task\nAnd now?", messages[3]["content"])

    def test_a_chat_at_a_terminal_streams_and_asks_for_approval(self):
        policy = self.write("policy.json", '{"extends": "default", "tools": {"rules": [{"tool": "contact_cost", "effect": "ask"}]}}')
        answers = [cell("final_answer(contact_cost(10))", "I ask the tool.\nIt knows."), cell("final_answer('done')")]
        with ScriptedEndpoint(answers, pause=0.05) as endpoint:
            terminal = Terminal(CONVERSION, "chat", "--model", "openai:m", "--tools", "contact_cost", "--policy", policy,
                                OPENAI_BASE_URL=endpoint.url)
            terminal.wait_for("Write a goal, or /help")
            at = terminal.wait_for("> ")
            terminal.type("What do ten contacts cost?\n")
            thought = terminal.wait_for(r"I ask the tool\.", at)
            self.assertNotIn("and wants to run", terminal.text[:thought])  # it is shown before the rest has come
            terminal.wait_for("y / a / n / e", thought)
            terminal.type("y\n")
            at = terminal.wait_for(r"The answer is accepted", thought)
            terminal.wait_for("> ", at)
            terminal.type("/quit\n")
            self.assertEqual(OK, terminal.finish(), terminal.text)
        self.assertEqual(1, terminal.text.count("final_answer(contact_cost(10))"))

    def test_an_interrupt_stops_a_reply_in_the_making_and_the_chat_goes_on(self):
        with ScriptedEndpoint([cell("x = 1\n" * 200), cell("final_answer(5)")], pause=0.1) as endpoint:
            terminal = Terminal(GLOVEPORT, "chat", "--model", "openai:m", OPENAI_BASE_URL=endpoint.url)
            at = terminal.wait_for("> ")
            terminal.type("Go.\n")
            at = terminal.wait_for("x = 1", at)
            terminal.type("\x03")
            at = terminal.wait_for("No answer: the run was interrupted", at)
            at = terminal.wait_for("> ", at)
            self.assertIn("   1  x = 1\n", terminal.text[:at])
            terminal.type("Again.\n")
            terminal.wait_for("> ", terminal.wait_for("The answer is accepted", at))
            terminal.type("/quit\n")
            self.assertEqual(OK, terminal.finish(), terminal.text)
        self.assertIn("   1  final_answer(5)\n", terminal.text[at:])  # nothing is left of the reply before it


class Runs(AgentCase):
    def test_list_show_and_export(self):
        first = self.keep(cell("print('hi')"), cell("final_answer({'n': 1}, 'Counted.')"), goal="Count it.")
        second = self.keep(cell("1 / 0"), cell("final_answer(2)"))
        listed = self.gloveport("runs", "list").stdout.splitlines()
        self.assertEqual([second, first], [line.split()[0] for line in listed])
        shown = self.gloveport("runs", "show", first[:18]).stdout
        for text in ("Count it.", "Step 1: ok", "   1  print('hi')", "| hi", 'Answer: {"n":1}', "Counted."):
            self.assertIn(text, shown)
        self.assertIn("ZeroDivisionError", self.gloveport("runs", "show", "last").stdout)
        notebook = json.loads(self.gloveport("runs", "export", first, "--format", "notebook").stdout)
        self.assertEqual(["print('hi')"], notebook["cells"][2]["source"])
        self.assertIn("```python\nprint('hi')\n```", self.gloveport("runs", "export", first, "--format", "markdown").stdout)

    def test_diff_says_what_was_done_differently(self):
        first = self.keep(cell("final_answer(1)"))
        same = self.keep(cell("final_answer(1)"))
        other = self.keep(cell("x = 2\nfinal_answer(x)"))
        self.assertExit(OK, self.gloveport("runs", "diff", first, same))
        done = self.gloveport("runs", "diff", first, other)
        self.assertExit(FAILED, done)
        for line in ("-    final_answer(1)", "+    x = 2", "-answer: 1", "+answer: 2", " goal: Find it."):
            self.assertIn(line, done.stdout.splitlines())

    def test_a_run_that_is_not_there(self):
        done = self.gloveport("runs", "show", "1999")
        self.assertExit(USAGE, done)
        self.assertIn("run --save", done.stderr)

    def test_an_answer_is_given_although_its_run_could_not_be_kept(self):
        done = gloveport("run", "Find it.", "--model", self.script(cell("final_answer(1)")), "--save",
                         GLOVEPORT_RUNS=self.write("no-folder", ""))
        self.assertExit(FAILED, done)
        self.assertEqual("1\n", done.stdout)
        self.assertIn("--save: ", done.stderr)

    def test_a_goal_that_is_no_utf_8_is_kept(self):
        done = self.gloveport("run", b"caf\xe9", "--model", self.script(cell("final_answer(1)")), "--save")
        self.assertExit(OK, done)
        self.assertIn("caf\ufffd", self.gloveport("runs", "list").stdout)

    def test_traces_of_those_that_succeeded(self):
        self.keep(cell("final_answer(1)"))
        self.keep(cell("final_answer(1)"))
        self.keep(cell("x = 'secret-17'"))
        done = self.gloveport("trace", "export", "--only-successes")
        self.assertExit(OK, done)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([True], [line["metadata"]["success"] for line in lines])
        self.assertIn("1 line of 3 runs; 1 left out by filters, 1 as duplicates", done.stderr)
        done = self.gloveport("trace", "export", "last", "--format", "codeact", "--redact", "number=secret-[0-9]+")
        self.assertIn("[redacted:number]", done.stdout)
        self.assertNotIn("secret-17", done.stdout)
        self.assertExit(USAGE, self.gloveport("trace", "export", "--redact", "nothing"))
        schema = json.loads(self.gloveport("trace", "schema", "--format", "sharegpt").stdout)
        self.assertIn("conversations", schema["required"])


class Settings(AgentCase):
    def here(self, *arguments, **changes):
        return self.gloveport(*arguments, cwd=self.folder, **{"HOME": self.folder, "XDG_CONFIG_HOME": "", **changes})

    def configure(self, settings, name=".gloveport.json"):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(settings, file)
        os.chmod(path, 0o644)
        return path

    def test_flag_before_environment_before_project_before_user(self):
        self.configure({"run": {"max-steps": 7, "model": "scripted:a"}, "*": {"policy": "open"}},
                       os.path.join(".config", "gloveport", "config.json"))
        self.configure({"run": {"max-steps": 8}})
        listed = self.here("config", "list", "--origin").stdout
        self.assertIn(f"run --max-steps = 8   ({self.folder}/.gloveport.json)", listed)
        self.assertIn("run --model = scripted:a   (", listed)
        self.assertIn("exec --policy = open   (", listed)
        self.assertIn("run --max-steps = 9   (GLOVEPORT_MAX_STEPS)", self.here("config", "list", "--origin", GLOVEPORT_MAX_STEPS="9").stdout)
        script = self.script(cell("1"), cell("final_answer(2)"))
        self.assertExit(LIMIT, self.here("run", "Go.", "--model", script, GLOVEPORT_MAX_STEPS="1"))
        self.assertExit(OK, self.here("run", "Go.", "--model", script, "--max-steps", "2", GLOVEPORT_MAX_STEPS="1"))

    def test_what_is_wrong_is_named_with_its_origin(self):
        for settings, pattern in (({"run": {"hook": "/bin/evil"}}, "hook may not be set by a project's file"),
                                  ({"*": {"builtin": "{}"}}, "builtin may not be set by a project's file"),
                                  ({"run": {"policy": "open"}}, "policy may not be set by a project's file"),
                                  ({"run": {"modl": "x"}}, 'run has no option "modl"'),
                                  ({"rum": {}}, 'there is no command "rum"'),
                                  ({"run": {"max-steps": 0}}, "max-steps"),
                                  ([], "a JSON object is needed")):
            with self.subTest(settings=settings):
                path = self.configure(settings)
                done = self.here("run", "Go.", "--model", "scripted:x")
                self.assertExit(USAGE, done)
                self.assertIn(path, done.stderr)
                self.assertIn(pattern, done.stderr)

    def test_a_file_that_others_may_write_is_left(self):
        os.chmod(self.configure({"run": {"max-steps": 1}}), 0o666)
        done = self.here("run", "Go.", "--model", self.script(cell("1"), cell("final_answer(2)")))
        self.assertExit(OK, done)
        self.assertIn("is not used: others may write it", done.stderr)


class OfTheCommandItself(Case):
    def test_bash_completes_commands_and_options(self):
        script = gloveport("completion", "bash").stdout
        ask = """
          for line in "gloveport ru" "gloveport run --max-t" "gloveport policy ch" "gloveport trace export --only-v"; do
            read -ra COMP_WORDS <<< "$line"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gloveport; echo "${COMPREPLY[*]}"
          done"""
        done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, check=True)
        self.assertEqual(["run runs", "--max-tokens", "check", "--only-validated"], done.stdout.splitlines())

    def test_other_shells_have_every_command(self):
        for shell in ("zsh", "fish"):
            script = gloveport("completion", shell).stdout
            for command in ("run", "chat", "exec", "policy", "trace"):
                self.assertIn(command, script)

    def test_the_manual_page_is_roff_and_has_every_option(self):
        page = gloveport("man").stdout
        self.assertTrue(page.startswith(".TH gloveport 1"))
        for text in (".SS run", ".SS trace export", "max\\-tokens", "Exit codes"):
            self.assertIn(text, page)


if __name__ == "__main__":
    unittest.main()
