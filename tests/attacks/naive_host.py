# Circumstances in which payloads of the corpus are known to work: run as a cell before them, in a process without any
# layer. Everything here is what a careless host would do; none of it is part of Gloveport.
import json
import os
import pickle
import socket
import struct
import sys
import threading

# What a host sees of a cell: code of its own, from files of its own.
HOST_CODE = '''
class Stub:
    """Calls tools of a host that trusts what it is sent: pickled both ways, no grants, no limits."""

    def __init__(self, sock, name):
        self.sock = sock
        self.name = name

    def invoke(self, name, args, kwargs=None):
        data = pickle.dumps((name, args, kwargs or {}))
        self.sock.sendall(struct.pack("<Q", len(data)) + data)
        ok, value = pickle.loads(receive(self.sock))
        if not ok:
            raise RuntimeError(value)
        return value

    def __call__(self, *args, **kwargs):
        sock = self.sock
        return self.invoke(self.name, list(args), kwargs)


def receive(sock):
    size = struct.unpack("<Q", exactly(sock, 8))[0]
    return exactly(sock, size)


def exactly(sock, size):
    parts = []
    while size:
        part = sock.recv(min(size, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


TOOLS = {"tool_echo": lambda value=None, **rest: value, "tool_secret": lambda *args: "S3CR3T-told"}


def serve(sock):
    while True:
        name, args, kwargs = pickle.loads(receive(sock))
        try:
            answer = True, TOOLS[name](*args, **kwargs)
        except Exception as error:
            answer = False, repr(error)
        data = pickle.dumps(answer)
        sock.sendall(struct.pack("<Q", len(data)) + data)


class JsonStub(Stub):
    """The same with JSON, which changes what it cannot carry."""

    def __call__(self, value=None):
        return json.loads(json.dumps(value))
'''
host = {"pickle": pickle, "struct": struct, "os": os, "json": json}
exec(compile(HOST_CODE, "/opt/naive/host.py", "exec"), host)


def start_host():
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        try:
            host["serve"](theirs)
        finally:
            os._exit(0)
    theirs.close()
    return ours


if CIRCUMSTANCE == "pickle":
    tool_echo = host["Stub"](start_host(), "tool_echo")
elif CIRCUMSTANCE == "json":
    tool_echo = host["JsonStub"](None, "tool_echo")
elif CIRCUMSTANCE == "hook":
    def hook(event, args):
        if event == "open" and str(args[0]).startswith("/etc"):
            raise PermissionError("denied by a hook")
    sys.addaudithook(hook)
    hook.__module__ = "guard"
elif CIRCUMSTANCE == "path":
    sys.path.insert(0, os.getcwd())
