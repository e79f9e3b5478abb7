#!/usr/bin/python3
"""Runs all of cells.jsonl with an audit log (gloveport session --audit), replays the log, and compares.

    replay_cells.py --gloveport PATH [ID ...]

Tools answer from the log. Every case runs under a seed and a fixed clock. The cases in DIFFER, and no others, may come
out differently, each for the reason that it has there.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

from protocol_client import Client
from run_cases import CASES, FAILED, CellRun, read_cases, select

DIFFER = {
    "cell-plot-no-leftovers": "the value is a list of Line2D, known by its repr only, which has an address of memory",
    "cell-exit-timeout-c-loop": "on a slow machine its limit of time falls between two calls of C code, where it stops when asked",
}


class Recorded(CellRun):
    """As CellRun, in a session that can be repeated, and whose name is kept."""

    def _open(self):
        open_as_ever = self.client.open

        def open_repeatable(policy, *rest, **options):
            session = open_as_ever({**policy, "seed": 7, "clock": "2031-05-06T07:08:09Z"}, *rest, **options)
            self.session = session.name
            return session
        self.client = type("", (), {"open": staticmethod(open_repeatable)})
        return super()._open()


def record(command, log, cases):
    """Runs the cases one after the other; the id of each session's case, and what did not run as its case says."""
    sessions, failed = [], []
    with Client(command + ["session", "--audit", log], stderr=subprocess.PIPE) as client:
        for case in cases:
            run = Recorded(client, case)
            status, problems = run.run()
            sessions.append(case["id"])
            if status == FAILED:
                failed.append((case["id"], problems))
    return sessions, failed


def sessions_of(log):
    with open(log, encoding="utf-8") as lines:
        return [r["session"] for r in map(json.loads, lines) if r["kind"] == "session"]


def replay(command, log):
    done = subprocess.run(command + ["replay", "--json", log], capture_output=True, text=True, timeout=800, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"the replay ended with {done.returncode}: {done.stderr[-2000:]}")
    report = json.loads(done.stdout)
    if (done.returncode == 0) != report["identical"]:
        sys.exit(f"exit code {done.returncode} does not fit the report")
    return report


def part(command, folder, number, cases):
    """One share of the cases: [(id, problems)] and the figures of its replay."""
    log = os.path.join(folder, f"{number}.jsonl")
    ids, failed = record(command, log, cases)
    verified = subprocess.run(command + ["audit", "verify", log], capture_output=True, text=True, check=False)
    if verified.returncode != 0 or "sealed" not in verified.stdout:
        sys.exit(f"the log does not hold: {verified.stdout}{verified.stderr}")
    names = dict(zip(sessions_of(log), ids, strict=True))
    report = replay(command, log)
    differences = collections.defaultdict(list)
    for name in report["divergences"]:
        differences[names[name["session"]]].append(name)
    return failed, differences, report


def main():
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__)[0])
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--gloveport", required=True, help="the command")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_intermixed_args()
    cases = select(read_cases(os.path.join(CASES, "cells.jsonl")), options.ids)
    shares = [cases[n::options.workers] for n in range(options.workers)]
    with tempfile.TemporaryDirectory(prefix="gloveport-replay-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.workers) as executor:
        parts = list(executor.map(lambda n: part([options.gloveport], folder, n, shares[n]), range(options.workers)))
    wrong = 0
    explained = set()
    for failed, differences, report in parts:
        for gap in report["gaps"]:
            print(f"gap: {gap}")
            wrong += 1
        for name, problems in failed:
            print(f"not as its case says, while it was recorded: {name}: {problems[0]}")
        for name, found in differences.items():
            if name in DIFFER:
                explained.add(name)
                print(f"differs, as explained, {name}: {DIFFER[name]}")
                continue
            wrong += 1
            print(f"DIFFERS {name}")
            for difference in found:
                print(f"    cell {difference.get('cell')}, {difference['what']}:\n        then {str(difference['recorded'])[:300]}"
                      f"\n        now  {str(difference['now'])[:300]}")
    cells = sum(report["cells"] for _, _, report in parts)
    print(f"{cells} cells of {len(cases)} cases were repeated; {len(explained)} cases differ and are explained")
    print(f"replay: {len(cases) - wrong - len(explained)} passed, {wrong} failed, {len(explained)} skipped")
    return 1 if wrong or cells < len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
