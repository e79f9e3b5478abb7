"""What the suite found, beside what is expected: expected_failures.txt."""

import collections
import fnmatch
import glob
import json
import os
import re

# Of one scenario: the checks that did not pass, each with its message, and how many did.
Outcome = collections.namedtuple("Outcome", "bad passed")


def outcomes_in(folder, prefix=""):
    """{scenario: Outcome} of one run of the suite, from the reports that it left in folders PREFIX SCENARIO - TIME."""
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "checks.json"), recursive=True):
        name = os.path.relpath(os.path.dirname(path), folder)
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[-\d]+Z$", "", name).removeprefix(prefix)
        with open(path, encoding="utf-8") as file:
            checks = json.load(file)
        bad = {(check["id"], check.get("errorMessage") or "") for check in checks if check["status"] in ("FAILURE", "WARNING")}
        found[scenario] = Outcome(bad, sum(check["status"] == "SUCCESS" for check in checks))
    return found


class Expectation:
    """One line: a pattern LEG/REVISION/SCENARIO or LEG/REVISION/SCENARIO:CHECK; with ? in front it may go either way.
    CHECK is the name of a check, or the name, a blank and what it says."""

    def __init__(self, line):
        pattern, _, self.reason = line.partition("  ")
        self.either = pattern.startswith("?")
        self.scenario, _, self.check = pattern.lstrip("?").partition(":")
        self.reason = self.reason.strip()
        if not self.reason:
            raise ValueError(f"no reason is given: {line}")
        self.used = False

    def covers(self, scenario):
        return fnmatch.fnmatchcase(scenario, self.scenario)

    def excuses(self, check, message):
        return not self.check or any(fnmatch.fnmatchcase(text, self.check) for text in (check, f"{check} {message}"))


def read_expectations(path):
    with open(path, encoding="utf-8") as file:
        return [Expectation(line.rstrip()) for line in file if line.strip() and not line.startswith("#")]


class Judgement:
    """Counts and complaints of one leg of the suite."""

    def __init__(self):
        self.passed, self.excused, self.complaints = [], [], []

    def judge(self, scenario, outcome, expectations):
        """`scenario` is LEG/REVISION/SCENARIO."""
        covering = [one for one in expectations if one.covers(scenario)]
        wrong = []
        for check, message in sorted(outcome.bad):
            excuses = [one for one in covering if one.excuses(check, message)]
            for one in excuses:
                one.used = True
            if not excuses:
                wrong.append(f"{check} {message[:500]}")
        whole = [one for one in covering if not one.check]
        if wrong:
            self.complaints.append(f"{scenario}: failed: {'; '.join(wrong)}")
        elif outcome.bad or any(one.either for one in whole):
            self.excused.append(scenario)
        elif whole:
            self.complaints.append(f"{scenario}: passed, though expected_failures.txt says: {whole[0].reason}")
        elif outcome.passed == 0:
            self.complaints.append(f"{scenario}: nothing of it was checked")
        else:
            self.passed.append(scenario)
        for one in covering:
            one.used = one.used or one.either
