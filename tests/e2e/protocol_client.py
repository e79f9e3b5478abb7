"""A client of `gloveport session`: one process, any number of sessions, usable from several threads."""

import base64
import itertools
import json
import queue
import subprocess
import threading


class ProtocolFault(Exception):
    """The server broke the protocol, ended, or did not answer in time."""


class RequestError(Exception):
    """An error reply."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]
        self.hint = error.get("hint", "")


class ToolError(Exception):
    """What a tool's handler raises to fail the call with this text."""


def _refuse_constant(text):
    raise ValueError(f"{text} is no standard JSON")


def load_line(line):
    """One line of the protocol; standard JSON only."""
    return json.loads(line, parse_constant=_refuse_constant)


class Client:
    def __init__(self, command, stderr=None, env=None):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env)
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting = {}
        self._fault = None
        self.unsolicited = []  # lines that belong to no request of ours
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self, timeout=30):
        """Ends the input and waits for the process; returns its exit code."""
        self.discard_input()
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise ProtocolFault(f"the server did not end within {timeout} s of the end of its input") from None
        self._reader.join(timeout)
        self.process.stdout.close()
        return code

    def discard_input(self):
        """Ends the input, whether or not anybody still reads it."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def _read(self):
        for line in self.process.stdout:
            try:
                message = load_line(line)
            except ValueError as error:
                self._fail(f"a line that is no valid JSON ({error}): {line[:200]!r}")
                return
            with self._lock:
                inbox = self._waiting.get(message.get("id"))
            if inbox is None:
                self.unsolicited.append(message)
            else:
                inbox.put(message)
        self._fail("the server closed its output")

    def _fail(self, text):
        with self._lock:
            self._fault = text
            waiting = list(self._waiting.values())
        for inbox in waiting:
            inbox.put(None)

    def send_raw(self, line):
        """One line as it is: bytes, or text to be encoded."""
        data = line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass")
        with self._lock:
            self.process.stdin.write(data + b"\n")
            self.process.stdin.flush()

    def start(self, op, **members):
        """Sends a request and returns an exchange to be finished with `finish`."""
        request_id = next(self._ids)
        inbox = queue.Queue()
        with self._lock:
            if self._fault:
                raise ProtocolFault(self._fault)
            self._waiting[request_id] = inbox
        self.send_raw(json.dumps({"id": request_id, "op": op, **members}))
        return request_id, inbox

    def finish(self, exchange, on_event=None, timeout=120):
        """The reply to a request; events go to `on_event(message)`. Raises RequestError for an error reply."""
        request_id, inbox = exchange
        try:
            while True:
                try:
                    message = inbox.get(timeout=timeout)
                except queue.Empty:
                    raise ProtocolFault(f"no reply within {timeout} s") from None
                if message is None:
                    raise ProtocolFault(self._fault)
                if "event" in message:
                    if on_event:
                        on_event(message)
                    continue
                if not message["ok"]:
                    raise RequestError(message["error"])
                return message
        finally:
            with self._lock:
                self._waiting.pop(request_id, None)

    def call(self, op, on_event=None, timeout=120, **members):
        return self.finish(self.start(op, **members), on_event, timeout)

    def open(self, policy="default", tools=(), handlers=None, **options):
        """A Session. `handlers`: tool name -> function of an argument dict (values in the protocol's forms)."""
        members = {"policy": policy, "tools": list(tools)}
        if options:
            members["options"] = options
        reply = self.call("open", **members)
        return Session(self, reply, handlers or {})


class Session:
    def __init__(self, client, reply, handlers):
        self.client = client
        self.name = reply["session"]
        self.layers = reply["layers"]
        self._handlers = handlers
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.close()
        except (ProtocolFault, RequestError, BrokenPipeError):
            pass

    def like(self, name):
        """Another session of the same tools, a branch of this one."""
        return Session(self.client, {"session": name, "layers": self.layers}, self._handlers)

    def start(self, code, **members):
        return self.client.start("run", session=self.name, code=code, **members)

    def finish(self, exchange, timeout=120, on_event=None):
        """The RESULT of a started run; answers its tool calls on the way."""
        def handle(message):
            self.events.append(message)
            if on_event:
                on_event(message)
            if message["event"] == "tool_call":
                self._answer(message)
        return self.client.finish(exchange, handle, timeout)["result"]

    def run(self, code, timeout=120, on_event=None, **members):
        return self.finish(self.start(code, **members), timeout, on_event)

    def _answer(self, message):
        reply = {"op": "tool_reply", "call": message["call"]}
        handler = self._handlers.get(message["name"])
        try:
            if handler is None:
                raise ToolError(f"the client has no tool {message['name']}")
            reply["value"] = handler(message["args"])
        except ToolError as error:
            reply["error"] = str(error)
        self.client.send_raw(json.dumps(reply))

    def interrupt(self):
        self.client.call("interrupt", session=self.name)

    def close(self):
        self.client.call("close", session=self.name)

    def put_file(self, path, data):
        self.client.call("put_file", session=self.name, path=path, data=base64.b64encode(data).decode())

    def get_file(self, path):
        return base64.b64decode(self.client.call("get_file", session=self.name, path=path)["data"])

    def list_files(self):
        return {f["path"]: f["size"] for f in self.client.call("list_files", session=self.name)["files"]}

    def remove_file(self, path):
        self.client.call("remove_file", session=self.name, path=path)

    def set(self, name, value):
        self.client.call("set", session=self.name, name=name, value=value)

    def get(self, name):
        return self.client.call("get", session=self.name, name=name)["value"]
