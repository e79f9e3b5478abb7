"""Runs the official conformance suite of the Model Context Protocol against our client and our server, in both kinds of
revisions, and compares with expected_failures.txt.

Three legs: "client" (client.py), "server", and "renamed": the server scenarios that need nothing but a call of a tool with
a name of the suite's, through the door of renaming.py. Exit code 77 with the reason where the suite is not installed.

Usage: run.py --gloveport PROGRAM --packages FOLDER --venv FOLDER [--keep FOLDER] [LEG ...]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e"))
from node import find_node  # noqa: E402
from renaming import SCENARIOS, RenamingDoor  # noqa: E402
from verdict import Judgement, outcomes_in, read_expectations  # noqa: E402

REVISIONS = ("2025-11-25", "2026-07-28")
LEGS = ("client", "server", "renamed")
# What the cells of renaming.py need: tools, and one of them for which a person is asked.
BUILTIN = '{"calculator": {}, "regex": {}}'
POLICY = os.path.join(HERE, "policy.json")
PATIENCE_S = 280  # of one run of the suite; it takes seconds


class Suite:
    def __init__(self, node, packages, folder):
        self.program = [node, os.path.join(packages, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")]
        self.folder = folder

    def run(self, leg, revision, *arguments):
        """{scenario: Outcome} of all that the revision wants of a client or of a server, and what the suite only reports on."""
        role = "client" if leg == "client" else "server"
        folder = os.path.join(self.folder, leg, revision)
        os.makedirs(folder)
        done = subprocess.run([*self.program, role, "--requirements", revision, "-o", folder, "--timeout", "200000", *arguments],
                              capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, check=False)
        outcomes = outcomes_in(folder, "server-" if role == "server" else "")
        announced = re.search(r"\((\d+) scenarios\)", done.stdout)
        if not announced or int(announced[1]) != len(outcomes):
            raise RuntimeError(f"the suite did not run all of its scenarios:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return outcomes

    def client(self, revision):
        return self.run("client", revision, "--command", f"/usr/bin/python3 {os.path.join(HERE, 'client.py')}")

    def server(self, revision):
        with start_server() as server:
            return self.run("server", revision, "--url", server.url)

    def renamed(self, revision):
        with start_server() as server, RenamingDoor(server.port) as door:
            outcomes = self.run("renamed", revision, "--url", door.url)
        return {scenario: outcomes[scenario] for scenario in SCENARIOS[revision]}


def start_server():
    from http_program import HttpServer  # reads the environment that main() sets
    # Each call of the suite's opens a session, and some leave one behind that waits for an answer.
    return HttpServer(os.environ["GLOVEPORT"], "serve", "--mcp", "--listen", "127.0.0.1:PORT", "--max-sessions", "60",
                      "--builtin", BUILTIN, "--policy", POLICY)


def judge_leg(suite, leg, expectations):
    judgement = Judgement()
    started = time.monotonic()
    for revision in REVISIONS:
        for scenario, outcome in sorted(getattr(suite, leg)(revision).items()):
            judgement.judge(f"{leg}/{revision}/{scenario}", outcome, expectations)
    for one in expectations:
        if not one.used and one.scenario.startswith(leg + "/"):
            judgement.complaints.append(f"{one.scenario}{':' + one.check if one.check else ''}: nothing of the kind failed; "
                                        "take the line out of expected_failures.txt")
    for complaint in judgement.complaints:
        print(complaint)
    print(f"mcp_conformance/{leg}: {len(judgement.passed)} passed, {len(judgement.complaints)} failed, "
          f"{len(judgement.excused)} skipped", flush=True)
    print(f"  in {time.monotonic() - started:.0f} s; passed: {', '.join(sorted(judgement.passed))}", flush=True)
    return not judgement.complaints


def main():
    parser = argparse.ArgumentParser()
    for name in ("--gloveport", "--packages", "--venv"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--keep", type=os.path.abspath, help="a folder for the suite's reports")
    parser.add_argument("legs", nargs="*", default=LEGS)
    options = parser.parse_args()
    node = find_node(options.venv)
    if not os.path.isdir(os.path.join(options.packages, "node_modules", "@modelcontextprotocol", "conformance")):
        print("the conformance suite is not installed; scripts/test does that")
        return 77
    if not node:
        print("Node 22 or later is not installed; scripts/test does that")
        return 77
    expectations = read_expectations(os.path.join(HERE, "expected_failures.txt"))
    os.environ.update(GLOVEPORT=options.gloveport, CONVERSION="", PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory(prefix="gloveport-conformance-") as scratch:
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
        suite = Suite(node, options.packages, options.keep or scratch)
        return 0 if all([judge_leg(suite, leg, expectations) for leg in options.legs]) else 1


if __name__ == "__main__":
    sys.exit(main())
