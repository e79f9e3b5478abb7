"""A command under test on a terminal of its own."""

import os
import pty
import re
import select
import time

from programs import environment

ESCAPES = re.compile(r"\x1b\[[0-9;]*m|[^\n]*\r\x1b\[K")


class Terminal:
    """`text` is what the screen was given, without colours and with plain line ends."""

    def __init__(self, *command, **changes):
        env = environment(TERM="xterm", **changes)
        self._process, self._screen = pty.fork()
        if self._process == 0:
            os.execve(command[0], command, env)
        self._raw = b""

    @property
    def text(self):
        return ESCAPES.sub("", self._raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    def _read(self, timeout):
        ready, _, _ = select.select([self._screen], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self._screen, 65536)
        except OSError:  # the other side is closed
            data = b""
        self._raw += data
        return bool(data)

    def wait_for(self, pattern, start=0, timeout=30):
        """Where the text behind `pattern` begins; searched from `start` on."""
        end = time.monotonic() + timeout
        while True:
            found = re.compile(pattern).search(self.text, start)
            if found:
                return found.end()
            if time.monotonic() > end or not self._read(0.2):
                raise AssertionError(f"{pattern!r} did not come; the screen has:\n{self.text[-3000:]}")

    def type(self, text):
        os.write(self._screen, text.encode())

    def finish(self, timeout=60):
        """The exit code, when it has ended."""
        end = time.monotonic() + timeout
        while self._read(0.2) and time.monotonic() < end:
            pass
        os.close(self._screen)
        _, status = os.waitpid(self._process, 0)
        return os.waitstatus_to_exitcode(status)
