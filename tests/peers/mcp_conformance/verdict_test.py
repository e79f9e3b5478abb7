"""What counts as passed, as expected and as wrong when the conformance suite was run."""

import json
import os
import tempfile
import unittest

from verdict import Expectation, Judgement, Outcome, outcomes_in, read_expectations

HERE = os.path.dirname(os.path.abspath(__file__))
GOOD, BAD = Outcome(set(), 2), Outcome({("one", "it says no"), ("two", "")}, 2)


def judged(outcome, *lines):
    judgement = Judgement()
    judgement.judge("client/r/scenario", outcome, [Expectation(line) for line in lines])
    return [len(judgement.passed), len(judgement.complaints), len(judgement.excused)]


class VerdictTest(unittest.TestCase):
    def test_without_expectations_all_must_pass(self):
        self.assertEqual([1, 0, 0], judged(GOOD))
        self.assertEqual([0, 1, 0], judged(BAD))
        self.assertEqual([0, 1, 0], judged(Outcome(set(), 0)))  # nothing was checked

    def test_what_is_expected_to_fail_must(self):
        self.assertEqual([0, 0, 1], judged(BAD, "client/*/scenario  why"))
        self.assertEqual([0, 1, 0], judged(GOOD, "client/*/scenario  why"))
        self.assertEqual([0, 0, 1], judged(GOOD, "?client/*/scenario  why"))
        self.assertEqual([0, 1, 0], judged(BAD, "server/*/scenario  why"))

    def test_single_checks_by_name_and_message(self):
        self.assertEqual([0, 1, 0], judged(BAD, "client/r/scenario:one  why"))
        self.assertEqual([0, 0, 1], judged(BAD, "client/r/scenario:one  why", "client/r/scenario:two  why"))
        self.assertEqual([0, 0, 1], judged(BAD, "client/r/scenario:one it * no  why", "client/r/scenario:t*  why"))
        self.assertEqual([0, 1, 0], judged(BAD, "client/r/scenario:one it * yes  why", "client/r/scenario:two  why"))

    def test_every_line_has_a_reason(self):
        self.assertRaises(ValueError, Expectation, "client/r/scenario")
        self.assertTrue(read_expectations(os.path.join(HERE, "expected_failures.txt")))

    def test_reports_are_read_from_their_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, status in (("server-a-b", "WARNING"), ("server-group/c", "SUCCESS"), ("server-server-d", "FAILURE")):
                path = os.path.join(folder, f"{name}-2026-11-30T13-32-14-952Z")
                os.makedirs(path)
                with open(os.path.join(path, "checks.json"), "w", encoding="utf-8") as file:
                    json.dump([{"id": "x", "status": status}, {"id": "y", "status": "INFO"}], file)
            self.assertEqual({"a-b": Outcome({("x", "")}, 0), "group/c": Outcome(set(), 1), "server-d": Outcome({("x", "")}, 0)},
                             outcomes_in(folder, "server-"))


if __name__ == "__main__":
    unittest.main()
