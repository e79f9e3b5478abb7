"""The verdicts demanded by tests/cases: policies.jsonl, HumanEval, and the honest cells."""

import gzip
import json
import os
import unittest

import support

inspector = support.load()

# Its canonical solution calls eval, which the default policy of the cases forbids under any name.
USES_EVAL = {"HumanEval/160"}


class PoliciesTest(unittest.TestCase):

    def test_every_case_has_its_verdict(self):
        cases = support.lines("policies.jsonl")
        self.assertEqual(100, len(cases))
        for case in cases:
            with self.subTest(case["id"], why=case["why"]):
                self.check(case)

    def check(self, case):
        policy, expect = case["policy"], case["expect"]
        rules = support.rules(policy.get("imports_add", ()), policy.get("imports_remove", ()),
                              policy.get("tools", ()))
        verdict = inspector.check(case["code"], rules)
        self.assertIn(verdict["decision"], expect.get("decision_any", [expect.get("decision")]), verdict)
        if verdict["decision"] == "allow":
            self.assertEqual([], verdict["findings"])
            return
        first = verdict["findings"][0]
        self.assertEqual(expect["rule"], first["rule"], first)
        self.assertEqual(expect["line"], first["line"], first)
        for text in expect.get("mentions", ()):
            self.assertIn(text, first["message"])
        self.assertTrue(first["hint"])


class HumanEvalTest(unittest.TestCase):

    def test_every_solution_and_test_is_allowed(self):
        with gzip.open(os.path.join(support.CASES, "HumanEval.jsonl.gz"), "rt", encoding="utf-8") as file:
            tasks = [json.loads(line) for line in file]
        self.assertEqual(164, len(tasks))
        for task in tasks:
            with self.subTest(task["task_id"]):
                code = task["prompt"] + task["canonical_solution"] + "\n" + task["test"] + "\n"
                code += f"check({task['entry_point']})\n"
                verdict = inspector.check(code, support.rules())
                if task["task_id"] in USES_EVAL:
                    self.assertEqual(["builtin"], [finding["rule"] for finding in verdict["findings"]])
                    verdict = inspector.check(code, support.rules(builtins={"allow": ["eval"]}))
                self.assertEqual({"decision": "allow", "findings": []}, verdict)


class CellsTest(unittest.TestCase):

    def test_every_honest_cell_is_allowed_or_no_python(self):
        for case in support.lines("cells.jsonl"):
            if case.get("sensitive"):
                continue
            tools = [tool["name"] for tool in case.get("tools") or ()]
            rules = support.rules(case.get("imports") or (), (), [*tools, "final_answer"])
            for number, cell in enumerate(case["cells"]):
                with self.subTest(case["id"], cell=number):
                    self.check(cell, rules)

    def check(self, cell, rules):
        verdict = inspector.check(cell, rules)
        if verdict["decision"] != "allow":
            self.assertEqual(["syntax"], [finding["rule"] for finding in verdict["findings"]], verdict)
            self.assertFalse(inspector.syntax(cell)["complete"])
            try:
                compile(cell.removeprefix("\ufeff"), "<cell>", "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError):
                return
            self.fail("refused as no Python, but CPython compiles it")


if __name__ == "__main__":
    unittest.main()
