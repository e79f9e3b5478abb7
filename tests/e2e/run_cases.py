#!/usr/bin/python3
"""Runs case files (tests/cases) over the session protocol and says what passed, failed and was skipped.

    run_cases.py cells|policies|parses --gloveport PATH [--workers N] [--known FILE] [ID ...]

An ID may end in * . Cases named in the --known file (one "id  reason" a line) are expected to fail: they count as
failed in the numbers, and the exit code is 1 only for other failures, or when one of them passes.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import importlib.util
import json
import os
import re
import sys
import threading
import time

from case_rules import Outcome, merged, problems_of
from case_tools import declaration, make_handler
from later_versions import expectation
from protocol_client import Client, ProtocolFault, RequestError

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases")
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
DEFAULT_TIMEOUT_S = 30


def read_cases(path):
    seen = set()
    with open(path, encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines if line.strip()]
    for case in cases:
        if case["id"] in seen:  # KeyError for a missing id: as it should
            raise ValueError(f"{path}: the id {case['id']} appears twice")
        seen.add(case["id"])
    return cases


# ---- cells ----

class CellRun:
    """One case of cells.jsonl in a session of its own."""

    def __init__(self, client, case):
        self.client = client
        self.case = case
        self.timeout_s = case.get("limits", {}).get("timeout_s", DEFAULT_TIMEOUT_S)
        self.calls = []

    def _handler(self, tool):
        answer = make_handler(tool["behavior"])

        def handle(args):
            self.calls.append({"name": tool["name"], "args": args})
            return answer(args)
        return handle

    def _open(self):
        tools = self.case.get("tools", [])
        policy = {"extends": "open",
                  "limits": {"wall_s": max(DEFAULT_TIMEOUT_S, self.timeout_s), "tool_calls": 100_000}}
        return self.client.open(policy, [declaration(tool) for tool in tools],
                                {tool["name"]: self._handler(tool) for tool in tools})

    def _run_cell(self, session, index):
        self.calls.clear()
        start = time.monotonic()
        result = session.run(self.case["cells"][index], timeout=self.timeout_s * 2 + 60,
                             timeout_s=self.timeout_s, inspect=False)
        seconds = time.monotonic() - start

        def get_file(name):
            try:
                return session.get_file(name)
            except RequestError as error:
                if error.code == "not_found":
                    return None
                raise
        return Outcome(result, list(self.calls), seconds, get_file, index)

    def _judge(self, out, last):
        """Problems of the cell that has just run."""
        case = self.case
        of_cell = (case.get("expect_cells") or [None] * len(case["cells"]))[out.index]
        problems = []
        if of_cell is not None:
            problems += problems_of(of_cell, out, self.timeout_s)
        elif not last:
            problems += problems_of({"error_type": None}, out)
        if last:
            expect = expectation(case)
            forms = [expect] + [merged(expect, other) for other in case.get("accept_also", [])]
            judged = [problems_of(form, out, self.timeout_s) for form in forms]
            if all(judged):
                problems += judged[0]
        return [f"cell {out.index}: {problem}" for problem in problems]

    def run(self):
        with self._open() as session:
            for index in range(len(self.case["cells"])):
                out = self._run_cell(session, index)
                if out.result["outcome"] == "denied" and self.case.get("sensitive"):
                    return SKIPPED, [f"the policy refuses {', '.join(self.case['sensitive'])}"]
                final = out.result["final_answer"] is not None
                problems = self._judge(out, final or index == len(self.case["cells"]) - 1)
                if problems:
                    return FAILED, problems
                if final:
                    break
        return PASSED, []


def run_cell_case(client, case):
    missing = [name for name in case.get("requires", []) if importlib.util.find_spec(name) is None]
    if missing:
        return SKIPPED, [f"{', '.join(missing)} is not installed"]
    return CellRun(client, case).run()


# ---- policies ----

SOFT_RULES = {"dunder": {"dunder", "attribute"}, "attribute": {"dunder", "attribute"}}


def run_policy_case(client, case):
    config, expect = case["policy"], case["expect"]
    policy = {"extends": "default",
              "imports": {"allow": config.get("imports_add", []), "deny": config.get("imports_remove", [])}}
    verdict = client.call("check", policy=policy, code=case["code"], tools=config.get("tools", []))["verdict"]
    findings = verdict["findings"]
    told = "; ".join(f"line {f['line']} [{f['rule']}] {f['message']}" for f in findings) or "no findings"
    allowed = expect.get("decision_any") or [expect["decision"]]
    if verdict["decision"] not in allowed:
        return FAILED, [f"decision is {verdict['decision']}, expected {' or '.join(allowed)} ({told})"]
    if verdict["decision"] == "allow":
        return PASSED, []
    rules = SOFT_RULES.get(expect.get("rule"), {expect.get("rule")})
    fitting = [f for f in findings
               if ("line" not in expect or f["line"] == expect["line"]) and ("rule" not in expect or f["rule"] in rules)]
    if not fitting:
        return FAILED, [f"no finding with rule {expect.get('rule')} in line {expect.get('line')} ({told})"]
    reason = " ".join(f["message"] for f in fitting)
    missing = [text for text in expect.get("mentions", []) if text not in reason]
    return (FAILED, [f"the reason does not mention {missing} ({told})"]) if missing else (PASSED, [])


# ---- parses ----

def _parse_problem(expect, action):
    def trimmed(code):
        return None if code is None else code.rstrip()
    if expect.get("error") != action["error"]:
        return f"error is {action['error']}, expected {expect.get('error')}"
    if trimmed(expect.get("code")) != trimmed(action["code"]):
        return f"code is {action['code']!r}, expected {expect.get('code')!r}"
    if expect.get("thought") is not None and " ".join(expect["thought"].split()) != " ".join(action["thought"].split()):
        return f"thought is {action['thought']!r}, expected {expect['thought']!r}"
    return None


def run_parse_case(client, case):
    action = client.call("parse", text=case["text"])["action"]
    problems = [_parse_problem(expect, action) for expect in [case["expect"]] + case.get("accept_also", [])]
    return (FAILED, problems[:1]) if all(problems) else (PASSED, [])


# ---- all of them ----

RUNNERS = {"cells": run_cell_case, "policies": run_policy_case, "parses": run_parse_case}


class Pool:
    """Clients, one a worker, renewed when one is lost."""

    def __init__(self, command):
        self._command = command
        self._local = threading.local()
        self._all = []

    def run(self, runner, case):
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = Client(self._command)
            self._all.append(client)
        try:
            return runner(client, case)
        except RequestError as error:
            return FAILED, [f"error reply: {error}"]
        except (ProtocolFault, BrokenPipeError) as error:
            client.process.kill()
            self._local.client = None
            return FAILED, [f"the session program: {error}"]

    def close(self):
        return [client.close() for client in self._all if client.process.poll() is None]


def group_of(case):
    return case.get("group") or case["id"].split("-")[1]


def read_known(path):
    known = {}
    if path:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                text = line.split("#")[0].strip()
                if text:
                    name, _, reason = text.partition(" ")
                    known[name] = reason.strip()
    return known


def print_groups(results):
    groups = collections.OrderedDict()
    for case, (status, _) in results:
        groups.setdefault(group_of(case), collections.Counter())[status] += 1
    width = max(map(len, groups))
    for name, counts in groups.items():
        print(f"  {name:<{width}}  {counts[PASSED]:4} passed {counts[FAILED]:4} failed {counts[SKIPPED]:4} skipped")


def report(kind, results, known):
    """Prints what happened; returns whether it is as expected."""
    print_groups(results)
    unexpected = 0
    for case, (status, problems) in results:
        name = case["id"]
        if status == SKIPPED:
            print(f"skipped {name}: {problems[0]}")
        elif status == FAILED and name in known:
            print(f"failed, as known, {name}: {known[name]}")
        elif status == FAILED:
            unexpected += 1
            print(f"FAILED {name}: {case['why']}")
            for problem in problems:
                print(f"    {problem}")
        elif name in known:
            unexpected += 1
            print(f"PASSED, but listed as failing, {name}: take it off the list")
    counts = collections.Counter(status for _, (status, _) in results)
    print(f"{kind}: {counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped")
    return unexpected == 0


def select(cases, patterns):
    if not patterns:
        return cases
    chosen = [case for case in cases if any(fnmatch.fnmatchcase(case["id"], pattern) for pattern in patterns)]
    if not chosen:
        sys.exit(f"no case matches {' '.join(patterns)}")
    return chosen


def main():
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__)[0])
    parser.add_argument("kind", choices=sorted(RUNNERS))
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--gloveport", required=True, help="the command")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--known", help="file of cases that are known to fail")
    options = parser.parse_intermixed_args()
    cases = select(read_cases(os.path.join(CASES, options.kind + ".jsonl")), options.ids)
    pool = Pool([options.gloveport, "session"])
    with concurrent.futures.ThreadPoolExecutor(options.workers) as executor:
        outcomes = list(executor.map(lambda case: pool.run(RUNNERS[options.kind], case), cases))
    exit_codes = pool.close()
    good = report(options.kind, list(zip(cases, outcomes)), read_known(options.known))
    if any(exit_codes):
        print(f"the session program ended with {exit_codes}")
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
