"""Clients of an MCP server as plain JSON-RPC, over stdio and over HTTP, in either kind of revision."""

import http.client
import itertools
import json
import os
import queue
import re
import subprocess
import threading
import urllib.parse

from programs import GLOVEPORT, environment

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
PATIENCE = 120  # seconds: for what has to come


def meta(capabilities=None, revision=STATELESS, **more):
    """The `_meta` of a request of the stateless revision."""
    return {"io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities or {}, **more}


class Answers:
    """What was received for one request: messages before the answer, and the answer."""

    def __init__(self):
        self.messages = []
        self.answer = None

    @property
    def result(self):
        return self.answer["result"]

    def progress(self):
        return [message["params"] for message in self.messages if message.get("method") == "notifications/progress"]


class Stdio:
    """`gloveport mcp` with these flags. Requests may be sent from several threads."""

    def __init__(self, *flags, command=GLOVEPORT, capabilities=None, revision=HANDSHAKE, **changes):
        self.process = subprocess.Popen([command, "mcp", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment(**changes))
        self.capabilities = capabilities or {}
        self.revision = revision
        self.on_request = None  # called with each request of the server's; what it returns is the result
        self._ids = itertools.count(1)
        self._waiting = {}
        self.others = queue.Queue()  # what belongs to no request
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if revision != STATELESS:
            self.initialized = self.request("initialize", {"protocolVersion": revision, "capabilities": self.capabilities,
                                                           "clientInfo": {"name": "peer", "version": "1"}})
            self.notify("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the input; returns the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        if not self.process.stderr.closed:
            self.stderr = self.process.stderr.read().decode()
            self.process.stdout.close()
            self.process.stderr.close()
        return code

    def _read(self):
        for line in self.process.stdout:
            self._take(json.loads(line))
        for waiting in list(self._waiting.values()):
            waiting.put(None)
        self.others.put(None)

    def _take(self, message):
        if "method" in message and "id" in message:
            if self.on_request:
                result = self.on_request(message)
                if result is not None:
                    self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            else:
                self.others.put(message)
        elif "method" in message:
            token = message.get("params", {}).get("progressToken")
            self._waiting.get(token, self.others).put(message)
        else:
            self._waiting.get(message.get("id"), self.others).put(message)

    def send(self, message):
        self.send_text(json.dumps(message))

    def send_text(self, text):
        with self._lock:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def begin(self, method, params=None, progress=False):
        """Sends a request; its id, for `finish`."""
        number = next(self._ids)
        params = dict(params or {})
        if self.revision == STATELESS:
            params["_meta"] = meta(self.capabilities, **params.get("_meta", {}))
        if progress:
            params.setdefault("_meta", {})["progressToken"] = number
        self._waiting[number] = queue.Queue()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})})
        return number

    def next_of(self, number):
        """The next message that belongs to a request."""
        message = self._waiting[number].get(timeout=PATIENCE)
        if message is None:
            raise AssertionError("the server has ended")
        return message

    def has_more_of(self, number):
        return not self._waiting[number].empty()

    def finish(self, number):
        answers = Answers()
        while True:
            message = self.next_of(number)
            if "method" not in message:
                del self._waiting[number]
                answers.answer = message
                return answers
            answers.messages.append(message)

    def request(self, method, params=None, progress=False):
        return self.finish(self.begin(method, params, progress))

    def call(self, tool, arguments=None, progress=False, **more):
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}, **more}, progress).result

    def python(self, code, session=None, **more):
        """The structured content of execute_python."""
        arguments = {"code": code, **({"session": session} if session else {}), **more}
        return self.call("execute_python", arguments)["structuredContent"]


class Server:
    """`gloveport serve --mcp` with these flags, until the end of the `with`."""

    def __init__(self, *flags, command=GLOVEPORT, listen="127.0.0.1:0", **changes):
        self.process = subprocess.Popen([command, "serve", "--mcp", "--listen", listen, *flags], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**changes), text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://\S+?(?=,|\s)", line)
        if not found:
            raise AssertionError(line + self.process.stderr.read())
        self.url = found.group()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Tells it to end; returns the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(PATIENCE)
        if not self.process.stderr.closed:
            self.stderr = self.process.stderr.read()
            self.process.stdout.close()
            self.process.stderr.close()
        return code


def events(response):
    """The messages of a stream of server-sent events, as they come."""
    data = []
    for line in response:
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].lstrip())
        elif not line and data:
            yield json.loads(b"\n".join(data))
            data = []


class Reply:
    """What an HTTP request brought."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.stream = response.headers.get_content_type() == "text/event-stream"
        self.response = response
        self.text = "" if self.stream else response.read().decode()

    def json(self):
        return json.loads(self.text)


class Http:
    """A client of a server at `url`: one MCP session, or stateless requests."""

    def __init__(self, url, capabilities=None, revision=HANDSHAKE, token=None, **headers):
        parts = urllib.parse.urlsplit(url)
        self.host, self.path = parts.netloc, parts.path
        self.capabilities = capabilities or {}
        self.revision = revision
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            self.headers["Authorization"] = "Bearer " + token
        self.on_request = None
        self.session = None
        self._ids = itertools.count(1)
        if revision != STATELESS:
            reply = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": revision, "capabilities": self.capabilities, "clientInfo": {"name": "peer", "version": "1"}}})
            if reply.status != 200:
                raise AssertionError(f"{reply.status} {reply.text}")
            self.session = reply.headers["Mcp-Session-Id"]
            self.notify("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def send(self, method, body=None, **changes):
        """One HTTP request; a header whose value is None is left out."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self.headers}
        if self.session:
            headers |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": self.revision}
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        connection.request(method, self.path, body, {name: value for name, value in headers.items() if value is not None})
        return Reply(connection.getresponse())

    def post(self, message, **changes):
        text = message if isinstance(message, (str, bytes)) else json.dumps(message)
        return self.send("POST", text, **changes)

    def notify(self, method, params=None):
        return self.post({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def begin(self, method, params=None, progress=False):
        """Posts a request; the reply, whose stream is still to be read, for `finish`."""
        number = next(self._ids)
        params = dict(params or {})
        headers = {}
        if self.revision == STATELESS:
            params["_meta"] = meta(self.capabilities, **params.get("_meta", {}))
            headers = {"MCP_Protocol_Version": self.revision, "Mcp_Method": method}
            if method == "tools/call":
                headers["Mcp_Name"] = params["name"]
        if progress:
            params.setdefault("_meta", {})["progressToken"] = number
        message = {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}
        reply = self.post(message, **headers)
        reply.id = number
        return reply

    def finish(self, reply):
        answers = Answers()
        for message in events(reply.response) if reply.stream else [reply.json()]:
            if "method" in message and "id" in message:
                result = self.on_request(message) if self.on_request else None
                if result is not None:
                    self.post({"jsonrpc": "2.0", "id": message["id"], "result": result})
            elif "method" in message:
                answers.messages.append(message)
            else:
                answers.answer = message
        return answers

    def request(self, method, params=None, progress=False):
        return self.finish(self.begin(method, params, progress))

    call = Stdio.call
    python = Stdio.python

    def close(self):
        return self.send("DELETE").status
