"""Totals of a run of scripts/test. Usage: test_totals.py RESULTS_FOLDER

Reads the JUnit files that ctest wrote and checks.tsv, prints every skip with its reason, every failure by name, the lines
in which runners of case files gave their own totals, and last the sum. Exits with 1 when something failed or nothing ran.
"""

import collections
import glob
import os
import re
import sys
import xml.etree.ElementTree

CASE_TOTALS = re.compile(r"^([\w./-]+: \d+ passed, \d+ failed(?:, \d+ skipped)?)\s*$", re.MULTILINE)
GTEST_SKIP = re.compile(r"^\[ RUN      \] (\S+)\n(?:(?!\[ ).*\n)*?\S+: Skipped\n(.*)\n", re.MULTILINE)
PYTEST_SKIP = re.compile(r"^SKIPPED \[\d+\] (\S+?): (.*)$", re.MULTILINE)
UNITTEST_SKIP = re.compile(r"^(\S+) \(.*\) \.\.\. skipped ['\"](.*)['\"]$", re.MULTILINE)

Result = collections.namedtuple("Result", "run name state reason output")
STATES = {"run": "passed", "pass": "passed", "fail": "failed", "skip": "skipped", "disabled": "skipped"}


def read_junit(path):
    run = os.path.splitext(os.path.basename(path))[0]
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        lines = [line for line in output.splitlines() if line.strip()]
        yield Result(run, case.get("name"), _state(case), lines[-1].strip() if lines else "no reason given", output)


def _state(case):
    """ctest says "notrun" both of a test that skipped itself and of one whose program was not built: only the first
    is a skip."""
    if case.get("status") == "notrun":
        skipped = case.find("skipped")
        own_words = skipped is not None and skipped.get("message", "").startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR"))
        return "skipped" if own_words else "failed"
    return STATES.get(case.get("status"), "failed")


def read_checks(path):
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, state, reason = line.rstrip("\n").split("\t")
            yield Result("checks", name, STATES[state], reason, "")


def inner_skips(result):
    """Skips inside of a test program that passed as a whole."""
    for pattern in (GTEST_SKIP, PYTEST_SKIP, UNITTEST_SKIP):
        yield from pattern.findall(result.output)


def main(folder):
    results = [result for path in sorted(glob.glob(os.path.join(folder, "*.xml"))) for result in read_junit(path)]
    results += read_checks(os.path.join(folder, "checks.tsv"))
    for result in results:
        if result.state == "skipped":
            print(f"skipped  {result.run}: {result.name}: {result.reason}")
        for name, reason in inner_skips(result):
            print(f"skipped  {result.run}: {result.name}: {name}: {reason or 'no reason given'}")
    for result in results:
        if result.state == "failed":
            print(f"FAILED   {result.run}: {result.name}")
    for result in results:
        for totals in CASE_TOTALS.findall(result.output):
            print(totals if result.run == "dev" else f"{result.run}/{totals}")
    count = collections.Counter(result.state for result in results)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
