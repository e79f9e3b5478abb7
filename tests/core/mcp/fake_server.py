#!/usr/bin/python3
"""An MCP server over stdio for tests: honest where it is asked to be, and faulty in every way that a tool is named for.

fake_server.py [--stateless] [--ignore-discover] [--stubborn] [--pages] [--state FILE] [--dies-at-start]
               [--refusals N]
"""

import argparse
import json
import os
import signal
import sys
import threading

parser = argparse.ArgumentParser()
parser.add_argument("--stateless", action="store_true")        # speaks 2026-07-28 only
parser.add_argument("--ignore-discover", action="store_true")  # is silent upon what it does not know
parser.add_argument("--stubborn", action="store_true")         # ends neither with its input nor by SIGTERM
parser.add_argument("--pages", action="store_true")            # a list in pages of one
parser.add_argument("--dies-at-start", action="store_true")
parser.add_argument("--state", default="")                     # a file to which it writes what it was told
parser.add_argument("--refusals", type=int, default=0)          # of the revision that it then speaks
options = parser.parse_args()

lock = threading.Lock()
extra_tools = []


def write(text):
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def remember(text):
    if options.state:
        with open(options.state, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


TOOLS = [
    {"name": "echo", "description": "Gives back what it got.",
     "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}, "times": {"type": "integer"}},
                     "required": ["message"]}},
    {"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                                    "required": ["a", "b"]},
     "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}},
] + [{"name": name, "inputSchema": {"type": "object"}} for name in (
    "fail", "refuse", "never", "die", "garbage", "flood", "oversized", "wrong-id", "change", "ask", "sample", "environment",
    "progress", "deep", "no-structure")]


def result_of(name, arguments, request):
    if name == "echo":
        return text(" ".join([arguments["message"]] * arguments.get("times", 1)))
    if name == "add":
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        return {"content": [image, {**image, "mimeType": "text/html"}, {**image, "data": "%"}],
                "structuredContent": {"sum": arguments["a"] + arguments["b"]}}
    if name == "fail":
        return text("it went \x1b[31mwrong\x1b[0m", isError=True)
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "die":
        print("last words of the server", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "garbage":
        for line in ("Server started on port 80", "{", "[]", '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":null,"result":{}}'):
            write(line)
        return text("after garbage")
    if name == "flood":
        while True:
            write("no message")
    if name == "oversized":
        write('{"jsonrpc":"2.0","id":%s,"result":{"content":"%s"}}' % (request["id"], "x" * (2 << 20)))
        return None
    if name == "deep":
        write('{"jsonrpc":"2.0","id":%s,"result":{"content":%s1%s}}' % (request["id"], "[" * 500, "]" * 500))
        return text("after a deep one")
    if name == "wrong-id":
        send(id=request["id"] + 1000, result=text("of somebody else"))
        send(id=str(request["id"]), result=text("of another type"))
        return text("the right one")
    if name == "change":
        extra_tools.append({"name": f"new_{len(extra_tools)}", "inputSchema": {"type": "object"}})
        send(method="notifications/tools/list_changed")
        return text("changed")
    if name == "progress":
        token = request["params"]["_meta"]["progressToken"]
        for step in (1, 2):
            send(method="notifications/progress",
                 params={"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"})
        return text("done")
    raise KeyError(name)


FORM = {"mode": "form", "message": "Who are you?",
        "requestedSchema": {"type": "object", "required": ["name"],
                            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 7}}}}
waiting = {}  # our requests, and what is to be answered when theirs come


def call(request):
    params = request["params"]
    name = params["name"]
    if name == "never":
        return
    if name == "refuse":
        send(id=request["id"], error={"code": -32602, "message": "no such\x07 thing"})
        return
    if name in ("ask", "sample") and not options.stateless:
        waiting["q1"] = request["id"]
        if name == "ask":
            send(id="q1", method="elicitation/create", params=FORM)
        else:
            send(id="q1", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
        return
    if name == "ask":
        answered = params.get("inputResponses")
        if answered:
            send(id=request["id"], result={"resultType": "complete",
                                           **text(json.dumps([answered["who"], params["requestState"]]))})
        else:
            send(id=request["id"], result={"resultType": "input_required", "requestState": "opaque",
                                           "inputRequests": {"who": {"method": "elicitation/create", "params": FORM}}})
        return
    if name == "sample":
        send(id=request["id"], result={"resultType": "input_required",
                                       "inputRequests": {"x": {"method": "sampling/createMessage", "params": {}}}})
        return
    result = text("unstructured") if name == "no-structure" else result_of(name, params.get("arguments") or {}, request)
    if result is not None:
        send(id=request["id"], result={"resultType": "complete", **result} if options.stateless else result)


def listed(params):
    tools = TOOLS + extra_tools
    if not options.pages:
        return {"tools": tools}
    at = int(params.get("cursor", "0"))
    page = {"tools": tools[at:at + 1]}
    if at + 1 < len(tools):
        page["nextCursor"] = str(at + 1)
    return page


def unknown(request):
    if not options.ignore_discover:
        send(id=request["id"], error={"code": -32601, "message": "Method not found"})


def handle(message):
    method, params = message.get("method"), message.get("params") or {}
    if method is None:
        request = waiting.pop(message.get("id"), None)
        if request is not None:
            send(id=request, result=text(json.dumps(message.get("result") or message.get("error"))))
        return
    if "id" not in message:
        remember(f"{method} {json.dumps(params)}")
        return
    if options.stateless:
        meta = params.get("_meta") or {}
        if meta.get("io.modelcontextprotocol/protocolVersion") != "2026-07-28":
            send(id=message["id"], error={"code": -32602, "message": "only 2026-07-28 is spoken here"})
            return
    if method == "initialize":
        remember("initialize " + params["protocolVersion"])
        send(id=message["id"], result={"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "fake", "version": "1"},
                                       "capabilities": {"tools": {"listChanged": True}, "resources": {}}})
    elif method == "server/discover" and options.refusals > 0:
        options.refusals -= 1
        send(id=message["id"], error={"code": -32022, "message": "not that one", "data": {"supported": ["2026-07-28"]}})
    elif method == "server/discover" and options.stateless:
        send(id=message["id"], result={"resultType": "complete", "supportedVersions": ["2026-07-28"],
                                       "serverInfo": {"name": "fake", "version": "2"},
                                       "capabilities": {"tools": {"listChanged": True}}})
    elif method == "subscriptions/listen" and options.stateless:
        remember("subscribed")
    elif method == "ping":
        send(id=message["id"], result={})
    elif method == "tools/list":
        send(id=message["id"], result=listed(params))
    elif method == "resources/list":
        send(id=message["id"], result={"resources": [{"uri": "fake://a", "name": "a"}]})
    elif method == "resources/read":
        send(id=message["id"], result={"contents": [{"uri": params["uri"], "text": "content of " + params["uri"]}]})
    elif method == "tools/call":
        threading.Thread(target=call, args=(message,), daemon=True).start()
    else:
        unknown(message)


if options.dies_at_start:
    sys.exit("cannot start: the database is missing")
remember("started")
if options.stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    handle(json.loads(line))
remember("input ended")
if options.stubborn:
    signal.pause()
