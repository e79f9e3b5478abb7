"""Which processes a program has started, and whether they are gone."""

import os
import time


def _stat(pid):
    """(parent, start time, state) of a process, or None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[19], fields[0]


def descendants(pid):
    """The processes below `pid`, each as (pid, start time): a number that is used again is another process."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(int(name))
            if stat:
                children.setdefault(stat[0], []).append((int(name), stat[1]))
    found, todo = set(), [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            if child not in found:
                found.add(child)
                todo.append(child[0])
    return found


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def alive(processes):
    """Those that still run; one that has ended and was not yet waited for does not."""
    still = set()
    for pid, start in processes:
        stat = _stat(pid)
        if stat and stat[1] == start and stat[2] not in "ZX":
            still.add((pid, start))
    return still


def wait_until_gone(processes, timeout=20):
    """Those that are left after at most `timeout` seconds; none if all is well."""
    deadline = time.monotonic() + timeout
    left = alive(processes)
    while left and time.monotonic() < deadline:
        time.sleep(0.02)  # there is no event to wait for: they are no children of ours
        left = alive(left)
    return {(pid, name_of(pid)) for pid, _ in left}
