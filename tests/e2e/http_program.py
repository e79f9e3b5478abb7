"""Programs that serve HTTP, as other processes of this machine."""

import re
import socket
import subprocess
import time

from programs import environment


class HttpServer:
    """A server program on a free port of this machine, until the end of the `with`."""

    def __init__(self, *command, **changes):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [re.sub(r"\bPORT$", str(self.port), word) for word in command]
        self._env = {**environment(**changes), "PORT": str(self.port)}
        self.process = self._start()
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def restart(self):
        self.process.kill()
        self.process.wait(30)
        self.process = self._start()
        self._await()

    def _start(self):
        return subprocess.Popen(self._command, env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self._await()

    def _await(self):
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)  # another process gets ready; there is no event to wait for
        raise AssertionError(f"the server does not listen; its exit code is {self.process.poll()}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)
            raise
