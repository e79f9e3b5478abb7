"""A door to an MCP server behind which the suite's test tools seem to stand: a call of one of them becomes a call of
execute_python with a cell that does what the suite describes. Nothing else of requests is changed, and nothing of answers:
what is judged is what the server itself sent.
"""

import http.client
import http.server
import json
import threading

TEXT = "'This is a simple text response for testing.'"
# A picture of one pixel, shown in the way of IPython.
PICTURE = """
import base64
class Pixel:
    def _repr_png_(self):
        return base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==')
display(Pixel())
"""
ERROR = "raise ValueError('This tool intentionally returns an error for testing')"
PROGRESS = "[calculator(text) for text in ('1 + 1', '2 + 2', '3 + 3')]"
# policy.json wants a person to be asked for these.
QUESTION = "regex_search('a', 'banana')"
QUESTIONS = """
def ask(pattern):
    try:
        return regex_search(pattern, 'banana')
    except PermissionError:
        return 'refused'
[ask('a'), ask('b')]
"""

CELLS = {
    "test_simple_text": TEXT,
    "test_logging_tool": TEXT,
    "test_image_content": PICTURE,
    "test_error_handling": ERROR,
    "test_tool_with_progress": PROGRESS,
    "test_elicitation": QUESTION,
    "test_streaming_elicitation": QUESTION,
    "test_input_required_result_elicitation": QUESTION,
    "test_input_required_result_request_state": QUESTION,
    "test_input_required_result_tampered_state": QUESTION,
    "test_input_required_result_multi_round": QUESTIONS,
}
# The scenarios that call no other tool of the suite's.
_CALLS = ("tools-call-simple-text", "tools-call-image", "tools-call-error", "tools-call-with-progress")
SCENARIOS = {
    "2025-11-25": (*_CALLS, "tools-call-elicitation"),
    "2026-07-28": (
        *_CALLS, "server-stateless", "input-required-result-basic-elicitation", "input-required-result-request-state",
        "input-required-result-multi-round", "input-required-result-missing-input-response",
        "input-required-result-result-type", "input-required-result-tampered-state",
        "input-required-result-validate-input"),
}
HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "host")


def renamed(body, headers):
    """The body as the server shall have it; the header that repeats the tool's name goes with it."""
    try:
        message = json.loads(body)
        params = message["params"]
        cell = CELLS.get(params["name"]) if message["method"] == "tools/call" else None
    except (ValueError, KeyError, TypeError):
        return body
    if cell is None:
        return body
    for name in headers:
        if name.lower() == "mcp-name":
            headers[name] = "execute_python"
    params.update(name="execute_python", arguments={"code": cell})
    return json.dumps(message).encode()


class RenamingDoor:
    """Open at `url` within a `with`."""

    def __init__(self, port, path="/mcp"):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
                body = renamed(body, headers)
                upstream = http.client.HTTPConnection("127.0.0.1", port)
                try:
                    upstream.request(self.command, self.path, body or None, headers)
                    self.pass_on(upstream.getresponse())
                except OSError:
                    pass  # one of the two has gone
                finally:
                    upstream.close()
                self.close_connection = True

            def pass_on(self, answer):
                """As it comes: a stream stays a stream. Its end is that of the connection."""
                self.send_response(answer.status, answer.reason)
                for name, value in answer.getheaders():
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                while True:
                    piece = answer.read1(65536)
                    if not piece:
                        return
                    self.wfile.write(piece)
                    self.wfile.flush()

            do_GET = do_POST = do_DELETE = do_OPTIONS = handle_any  # noqa: N815 - the names that http.server calls

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}{path}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
