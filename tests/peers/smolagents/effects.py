"""What a security test of smolagents must not bring about, seen from outside of the code that it runs.

Every one of those tests tries to start a process, or to get at a module with which one can. Asserted here: it ran at least one
cell, and the process of the tests started nothing meanwhile, by CPython's audit events. That a session's own process can start
nothing, whatever its code gets hold of, is shown by the corpus of attacks (tests/attacks).
"""
import contextlib
import subprocess
import sys

STARTS = {"os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pty.spawn"}

_current = None


class AnyWords:
    """An exception of which only the being there is looked at: it contains every text."""

    def __init__(self, error):
        self.error = error

    def __str__(self):
        return _Everything(self.error)


class _Everything(str):
    def __contains__(self, text):
        return True


class Seen:
    def __init__(self):
        self.host = []      # that this process did
        self.cells = 0

    def assert_none(self):
        assert self.host == [], f"this process started something: {self.host}"
        assert self.cells > 0, "the test ran no cell: it shows nothing"


def host_event(event, arguments):
    """An audit hook of this process."""
    if _current is not None and event in STARTS:
        _current.host.append((event, repr(arguments)[:200]))


def heard(kind, data):
    """An event of a session."""
    if _current is not None and kind == "cell_start":
        _current.cells += 1


@contextlib.contextmanager
def watched():
    global _current
    _current = Seen()
    try:
        yield _current
    finally:
        _current = None


def start_watching():
    """Begins to hear this process's audit events; fails where a process that is started is not among them."""
    sys.addaudithook(host_event)
    with watched() as seen:
        subprocess.run(["true"], check=True)
    if not seen.host:
        raise RuntimeError("a process was started and no audit event told of it: nothing would be asserted")
