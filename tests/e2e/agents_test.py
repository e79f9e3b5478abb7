#!/usr/bin/python3
"""Agents that code calls as tools (--agents), and the tree in which their work is shown."""

import json
import os
import re
import unittest

from programs import GLOVEPORT, OK, USAGE, Case, gloveport
from terminal import Terminal


def cell(code, thought="I go on."):
    return f"{thought}\n```python\n{code}\n```"


class Agents(Case):
    def script(self, name, *answers):
        return "scripted:" + self.write(name, "".join(json.dumps({"content": answer}) + "\n" for answer in answers))

    def agents(self, **changes):
        """A file with a researcher, who adds with the calculator, and an idler who never answers."""
        researcher = {"description": "Adds.", "tools": ["calculator"],
                      "model": self.script("researcher.jsonl",
                                           cell("print('hidden')\nx = calculator('1 + 2')", "First I add."),
                                           cell("final_answer(x)", "That is it."))}
        idler = {"description": "Does nothing.", "max_steps": 1, "model": self.script("idler.jsonl", "Nothing.")}
        return self.write("agents.json", json.dumps({"researcher": {**researcher, **changes}, "idler": idler}))

    def arguments(self, *cells, agents=None):
        return ["run", "Find it.", "--model", self.script("script.jsonl", *cells), "--builtin", '{"calculator": {}}',
                "--agents", agents or self.agents()]

    def test_an_agent_is_a_function_with_tools_of_its_own(self):
        done = gloveport(*self.arguments(cell("final_answer(researcher('Add 1 and 2.') + 10)")), "--json")
        self.assertExit(OK, done)
        run = json.loads(done.stdout)
        self.assertEqual(13, run["answer"])
        self.assertEqual(["researcher"], [call["name"] for call in run["steps"][0]["result"]["tool_calls"]])

    def test_what_an_agent_does_hangs_from_its_call(self):
        code = ("a = calculator('2 * 3')\nb = researcher('Add.')\n"
                "try:\n    idler('Idle.')\nexcept ToolError: pass\nfinal_answer(a + b)")
        done = gloveport(*self.arguments(cell(code)))
        self.assertExit(OK, done)
        tree = done.stderr[done.stderr.index("    |- calls"):done.stderr.index("It gives a final answer")]
        times = re.compile(r"\d+\.\d+ s|\(\d+\.\d+ s of CPU.*\)|#\d+")
        self.assertEqual("""\
    |- calls the tool calculator(expression="2 * 3") -> 6
    |- # calls the agent researcher(task="Add.", context=null)
    |  |- step 1 of at most 10
    |  |  |- First I add.
    |  |  |- calls the tool calculator(expression="1 + 2") -> 3
    |  |  `- the cell ended: ok, after #
    |  |- step 2 of at most 10
    |  |  |- That is it.
    |  |  `- the cell ended: ok, after #
    |  `- answers 3 (2 steps, #)
    |- # calls the agent idler(task="Idle.", context=null)
    |  |- step 1 of at most 1
    |  |  |- Nothing.
    |  |  `- says nothing that can be run
    |  `- no answer: there was no answer after 1 steps (1 step, #)
    `- The cell ended: ok, after # #.
""", times.sub("#", tree))

    def test_a_terminal_that_shows_utf8_gets_lines(self):
        arguments = self.arguments(cell("final_answer(researcher('Add.'))"))
        for locale, line in (({"LC_ALL": "C.UTF-8"}, "    ├─ #1 calls the agent.*\n    │  ├─ step 1(?s:.*)    │  └─ answers 3(?s:.*)    └─ The"),
                             ({"LC_ALL": "C"}, r"    \|- #1 calls the agent.*\n    \|  \|- step 1(?s:.*)    \|  `- answers 3(?s:.*)    `- The")):
            with self.subTest(locale=locale):
                terminal = Terminal(GLOVEPORT, *arguments, **locale)
                self.assertEqual(OK, terminal.finish())
                self.assertRegex(terminal.text, line)

    def test_agents_side_by_side_are_told_apart(self):
        memory = os.path.join(self.folder, "memory.json")
        # Each waits until all have begun.
        wait = ("import random, time\nremember(str(random.random()), 1)\nwhile len(recall_keys()) < 3: time.sleep(0.05)\n"
                "final_answer(2)")
        code = ("import asyncio\n"
                "final_answer(sum(await asyncio.gather(*(adder(f'Add {n}.') for n in range(3)))))")
        adder = {"adder": {"description": "Adds.", "async": True, "tools": ["remember", "recall_keys"],
                           "model": self.script("adder.jsonl", *[cell(wait)] * 3)}}
        done = gloveport("run", "Add.", "--model", self.script("script.jsonl", cell(code)), "--agents",
                         self.write("adder.json", json.dumps(adder)), "--builtin", json.dumps({"memory": {"file": memory}}), "--json")
        self.assertExit(OK, done)
        self.assertEqual(6, json.loads(done.stdout)["answer"])
        self.assertEqual(3, len(re.findall(r"calls the agent adder", done.stderr)))
        self.assertEqual(3, len(re.findall(r"answers 2 \(1 step", done.stderr)))
        self.assertEqual({"1", "2", "3"}, set(re.findall(r"\|  `- #(\d) answers 2", done.stderr)))

    def test_events_say_for_which_call_they_are(self):
        done = gloveport(*self.arguments(cell("final_answer(researcher('Add.'))")), "--jsonl")
        self.assertExit(OK, done)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        nested = [event for event in events if "of" in event]
        self.assertEqual({"agent": "researcher", "cell": 0, "call": 1}, nested[0]["of"])
        self.assertEqual(3, next(event for event in nested if event["event"] == "end")["run"]["answer"])
        calls = [event["event"] for event in events if event["event"].startswith("tool_")]
        self.assertEqual(["tool_start", "tool_start", "tool_end", "tool_end"], calls)
        self.assertNotIn("of", events[-1])
        self.assertEqual("end", events[-1]["event"])

    def test_one_budget_holds_for_the_whole_tree(self):
        done = gloveport(*self.arguments(cell("researcher('Add.')"), cell("final_answer(1)")), "--max-tokens", "10", "--json")
        self.assertEqual("max_tokens", json.loads(done.stdout)["stop_reason"])

    def test_a_chat_has_them_too(self):
        arguments = self.arguments(cell("final_answer(researcher('Add.'))"))
        done = gloveport("chat", *arguments[2:], stdin="Find it.\n/tools\n")
        self.assertExit(OK, done)
        self.assertEqual("3\n", done.stdout)
        self.assertRegex(done.stderr, r"\|  `- answers 3 \(2 steps")
        self.assertIn("researcher(task: str, context: object = None)", done.stderr)

    def test_what_is_wrong_with_the_file_is_a_matter_of_usage(self):
        for changes, message in (({"tools": ["nothing"]}, "researcher.tools: the run has no tool nothing"),
                                 ({"description": ""}, "researcher.description is missing"),
                                 ({"policy": "no-such"}, "researcher.policy: "),
                                 ({"model": "what:x"}, "researcher.model: "),
                                 ({"async": 1}, "researcher.async must be true or false"),
                                 ({"schema": {"type": 5}}, "researcher.schema: "),
                                 ({"budget": 1}, "researcher.budget: unknown key")):
            with self.subTest(changes=changes):
                done = gloveport(*self.arguments(cell("1"), agents=self.agents(**changes)))
                self.assertExit(USAGE, done)
                self.assertIn(message, done.stderr)
        self.assertExit(USAGE, gloveport(*self.arguments(cell("1"), agents=os.path.join(self.folder, "none.json"))))
        taken = self.write("taken.json", json.dumps({"calculator": {"description": "x"}}))
        done = gloveport(*self.arguments(cell("1"), agents=taken))
        self.assertIn("already a tool 'calculator'", done.stderr)


if __name__ == "__main__":
    unittest.main()
