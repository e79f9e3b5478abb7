#!/usr/bin/python3
"""How fast Python runs inside of a session against the same Python outside, as JSON on standard output.

    run.py --gloveport PATH [--library PLAIN_PYTHON] [--rounds N] [--cpu N] [WORKLOAD ...]

"inside" is a session, "executable" is /usr/bin/python3, "library" a program that only runs the shared library which
sessions use (plain_python of this folder). All run in turns in the same minutes, once warm; the least time of each
counts. A ratio is outside / inside: 1 means equally fast, less than 1 that inside is slower. Those of "cpu" are of CPU
time, which says more on a machine that has other work to do.
"""

import argparse
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e"))
from protocol_client import Client  # noqa: E402

AIM = 0.97
SERVE = "\nimport sys\nfor line in sys.stdin: print(measure(line.strip()), flush=True)\n"


def source():
    with open(os.path.join(HERE, "workloads.py"), encoding="utf-8") as file:
        return file.read()


class Outside:
    """A Python without confinement, its libraries' threads limited as in a session."""

    def __init__(self, program):
        self._process = subprocess.Popen(
            [program, "-I", "-c", source() + SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})

    def measure(self, name):
        print(name, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Inside:
    def __init__(self, client):
        self._session = client.open({"extends": "open", "limits": {"wall_s": 120, "cpu_s": 120}})
        self._run(source() + "\n0")

    def _run(self, code):
        result = self._session.run(code, inspect=False)
        if result["outcome"] != "ok":
            sys.exit(f"inside: {result['outcome']}: {result['error']}")
        return result["value"]

    def measure(self, name):
        return self._run(f"measure({name!r})")

    def close(self):
        self._session.close()


def compare(names, runners, rounds):
    """{workload: {runner: [wall, cpu]}}, the least of each."""
    best = {name: {side: [math.inf, math.inf] for side in runners} for name in names}
    for number in range(rounds + 1):
        for name in names:
            for side in sorted(runners, reverse=number % 2 == 1):
                seconds = runners[side].measure(name)
                if number:  # the first is for warming up
                    best[name][side] = list(map(min, best[name][side], seconds))
    return best


def ratios(best, side):
    """How fast inside is, measured by `side`: of the wall clock and of CPU time, for each workload and on average."""
    tick = 1e-6  # a clock that a virtual machine has just stepped may say that nothing passed
    each = {name: [max(times[side][clock], tick) / max(times["inside"][clock], tick) for clock in (0, 1)]
            for name, times in best.items()}
    mean = [math.prod(ratio[clock] for ratio in each.values()) ** (1 / len(each)) for clock in (0, 1)]
    return {"wall": round(mean[0], 4), "cpu": round(mean[1], 4),
            "workloads": {name: {"wall": round(wall, 4), "cpu": round(cpu, 4)} for name, (wall, cpu) in each.items()}}


def known_workloads():
    space = importlib.util.spec_from_file_location("workloads", os.path.join(HERE, "workloads.py"))
    workloads = importlib.util.module_from_spec(space)
    space.loader.exec_module(workloads)
    return [name for name in workloads.WORKLOADS if importlib.util.find_spec("numpy") or "numpy" not in name]


def main():
    known = known_workloads()
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(known))
    parser.add_argument("--gloveport", required=True, help="the command")
    parser.add_argument("--library", help="plain_python, to compare with the shared library, too")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cpu", type=int, help="pins everything to this CPU")
    options = parser.parse_args()
    if options.cpu is not None:
        os.sched_setaffinity(0, {options.cpu})
    outside = {"executable": Outside(sys.executable)}
    if options.library:
        outside["library"] = Outside(options.library)
    with Client([options.gloveport, "session"]) as client:
        inside = Inside(client)
        best = compare(options.workloads or known, {"inside": inside, **outside}, options.rounds)
        inside.close()
    for runner in outside.values():
        runner.close()
    json.dump({"bench": "pure_python", "python": platform.python_version(), "rounds": options.rounds, "aim": AIM,
               "ratio": {side: ratios(best, side) for side in outside}, "seconds": best}, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
