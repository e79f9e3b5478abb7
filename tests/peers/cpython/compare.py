#!/usr/bin/python3
"""CPython's own tests inside of a session and outside, on the same machine in the same run, beside each other.

    compare.py --gloveport PATH [--write-readme FILE] [MODULE ...]

Differences have to be explained in differences.txt; exit code 1 for others, 77 where the tests are not installed
(package libpython3.X-testsuite).
"""

import argparse
import collections
import fnmatch
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e"))
from protocol_client import Client  # noqa: E402

MODULES = ("json re datetime decimal dataclasses enum itertools functools collections statistics random csv string "
           "textwrap math fractions").split()
STATUSES = ("passed", "failed", "skipped")
BEGIN, END = "<!-- cpython: begin -->", "<!-- cpython: end -->"
TIMEOUT_S = 900


def source():
    with open(os.path.join(HERE, "run_module.py"), encoding="utf-8") as file:
        return file.read()


def run_outside(module):
    code = source() + f"\nimport json\nprint(json.dumps(run_module('test.test_{module}')))\n"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=folder,
                              timeout=TIMEOUT_S, check=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"})
    return json.loads(done.stdout.splitlines()[-1])


def run_inside(client, module, folder):
    policy = {"extends": "open", "files": {"read": [folder]},
              "limits": {"wall_s": TIMEOUT_S, "cpu_s": TIMEOUT_S, "memory_mib": 4096, "threads": 64, "open_files": 256,
                         "disk_mib": 1024}}
    with client.open(policy) as session:
        code = source() + f"\nimport json\njson.dumps(run_module('test.test_{module}'))\n"
        result = session.run(code, timeout=TIMEOUT_S + 60, inspect=False)
    if result["outcome"] != "ok":
        sys.exit(f"test_{module} inside: {result['outcome']}: {(result['error'] or {}).get('traceback')}")
    return json.loads(result["value"])


def read_explanations():
    """[(pattern, words, reason)], as the head of the file says."""
    with open(os.path.join(HERE, "differences.txt"), encoding="utf-8") as lines:
        return [tuple(part.strip() for part in line.split("|")) for line in lines
                if line.strip() and not line.startswith("#")]


def differences(inside, outside):
    for test in sorted(inside.keys() | outside.keys()):
        here, there = inside.get(test, ["absent", ""]), outside.get(test, ["absent", ""])
        if here[0] != there[0]:
            yield test, here, there


def counts(ended):
    counter = collections.Counter(status for status, _ in ended.values())
    return [counter[status] for status in STATUSES]


def table(results):
    rows = ["| module | inside: passed, failed, skipped | outside: passed, failed, skipped |", "|---|---|---|"]
    for module, inside, outside in results + [("all", merged(results, 1), merged(results, 2))]:
        cells = [", ".join(map(str, counts(ended))) for ended in (inside, outside)]
        rows.append(f"| {module} | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def merged(results, side):
    return {(result[0], test): ended for result in results for test, ended in result[side].items()}


def report(results):
    """Prints the differences; returns those that nothing explains and the text for README.md."""
    explanations = read_explanations()
    unexplained, used = [], collections.Counter()
    for _, inside, outside in results:
        for test, here, there in differences(inside, outside):
            reason = next((reason for pattern, words, reason in explanations
                           if fnmatch.fnmatchcase(test, pattern) and words in here[1]), None)
            if reason:
                used[reason] += 1
                continue
            unexplained.append(test)
            print(f"DIFFERENT {test}: {here[0]} inside, {there[0]} outside\n{here[1] or there[1]}")
    lines = [f"- {number} {'test' if number == 1 else 'tests'}: {reason}" for reason, number in sorted(used.items())]
    text = table(results) + "\n\n" + ("\n".join(lines) if lines else "No difference.")
    return unexplained, text


def write_readme(path, text):
    with open(path, encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--gloveport", required=True, help="the command")
    parser.add_argument("--write-readme", metavar="FILE", help="puts the table between the marks of this file")
    options = parser.parse_args()
    found = importlib.util.find_spec("test")
    folder = os.path.dirname(found.origin) if found and found.origin else ""
    if not os.path.exists(os.path.join(folder, "test_math.py")):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        print(f"CPython's tests are not installed: apt-get install libpython{version}-testsuite")
        return 77
    results = []
    with Client([options.gloveport, "session"]) as client:
        for module in options.modules or MODULES:
            results.append((module, run_inside(client, module, folder), run_outside(module)))
    unexplained, text = report(results)
    print(text)
    if options.write_readme:
        write_readme(options.write_readme, text)
    total = counts(merged(results, 1))
    print(f"cpython: {total[0]} passed, {total[1]} failed, {total[2]} skipped inside; "
          f"{len(unexplained)} differences that nothing explains")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
