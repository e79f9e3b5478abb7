#!/usr/bin/python3
"""Runs the reference solutions of HumanEval and their tests as cells, inspected, under the policy `default`.

    human_eval.py --gloveport PATH [--workers N] [TASK ...]

A TASK is the number of one. Exit code 1 when a solution fails or is refused.
"""

import argparse
import concurrent.futures
import gzip
import json
import os
import sys
import threading
import time

from protocol_client import Client, ProtocolFault, RequestError

TASKS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases", "HumanEval.jsonl.gz")

# What a solution needs beyond `default`, and why: 160 puts an expression together as text and evaluates it.
EXTENSIONS = {160: {"builtins": {"allow": ["eval"]}}}


def read_tasks():
    with gzip.open(TASKS, "rt", encoding="utf-8") as lines:
        return {int(task["task_id"].rpartition("/")[2]): task for task in map(json.loads, lines)}


def cells_of(task):
    return [task["prompt"] + task["canonical_solution"], f"{task['test']}\ncheck({task['entry_point']})\n"]


def run_cells(client, task, policy):
    """None when both cells succeed, else what the first that does not ended with."""
    try:
        with client.open(policy) as session:
            for code in cells_of(task):
                result = session.run(code)
                if result["outcome"] != "ok":
                    error = result["error"] or {}
                    return f"{result['outcome']}: {error.get('type')}: {error.get('message')}"
    except (ProtocolFault, RequestError, BrokenPipeError) as error:
        return f"the session program: {error}"
    return None


def run_task(client, number, task):
    """(how it ended under the policy it needs, problem)"""
    if number not in EXTENSIONS:
        return "default", run_cells(client, task, "default")
    refused = run_cells(client, task, "default")
    if refused is None or not refused.startswith("denied"):
        return "extended", f"`default` was to refuse it, but: {refused or 'it passed'}"
    return "extended", run_cells(client, task, {"extends": "default", **EXTENSIONS[number]})


class Clients:
    """One client a thread."""

    def __init__(self, gloveport):
        self._command = [gloveport, "session"]
        self._local = threading.local()
        self._all = []

    def mine(self):
        if not hasattr(self._local, "client"):
            self._local.client = Client(self._command)
            self._all.append(self._local.client)
        return self._local.client

    def close(self):
        for client in self._all:
            if client.process.poll() is None:
                client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", type=int, metavar="TASK")
    parser.add_argument("--gloveport", required=True, help="the command")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    tasks = read_tasks()
    numbers = options.tasks or sorted(tasks)
    clients = Clients(options.gloveport)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.workers) as executor:
        ended = list(executor.map(lambda number: run_task(clients.mine(), number, tasks[number]), numbers))
    seconds = time.monotonic() - start
    clients.close()
    passed = {"default": 0, "extended": 0}
    for number, (policy, problem) in zip(numbers, ended):
        if problem:
            print(f"FAILED HumanEval/{number}: {problem}")
        else:
            passed[policy] += 1
    for number in sorted(EXTENSIONS.keys() & set(numbers)):
        print(f"HumanEval/{number} is refused by `default`, as it should be; run with {json.dumps(EXTENSIONS[number])}")
    total = sum(passed.values())
    print(f"{passed['default']} passed under `default`, {passed['extended']} under an extension of it, {seconds:.1f} s")
    print(f"human_eval: {total} passed, {len(numbers) - total} failed, 0 skipped")
    return 0 if total == len(numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
