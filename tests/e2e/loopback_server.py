"""HTTP servers of tests, on the loopback interface."""

import http.server
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Says nothing of the requests that it gets."""

    def log_message(self, *_):
        pass


class LoopbackServer:
    """Serves with `handler` at self.host (address and port) within a `with`."""

    def __init__(self, handler):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.host = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
