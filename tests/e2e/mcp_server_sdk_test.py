#!/usr/bin/python3
"""Our MCP server as programs of others use it: clients made with the official Python and TypeScript SDKs, over stdio and
streamable HTTP, in revisions with a handshake and in the stateless one.

MCP_SDK is a virtual environment with the package mcp, MCP_PACKAGES a folder with node_modules; scripts/test makes both. What is
not there is skipped.
"""

import base64
import http.client
import json
import os
import sys
import tempfile
import unittest

import jsonschema

from http_program import HttpServer
from processes import descendants, wait_until_gone
from programs import GLOVEPORT, Case
from sdk_clients import HANDSHAKE, MISSING, MISSING_REASON, SDKS, STATELESS, SdkClient

TOOLS = '{"calculator": {}, "regex": {}}'
# A person is asked for one of them.
POLICY = {"extends": "default", "limits": {"wall_s": 600},
          "tools": {"rules": [{"tool": "regex_search", "effect": "ask"}]}}
TOKENS = ("token-of-the-first-client", "token-of-the-other-client")
PICTURE = """
import base64
class Pixel:
    def _repr_png_(self):
        return base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==')
display(Pixel())
"""
ENDLESS = """
try:
    calculator('1 + 1')
    while True: pass
except BaseException as error:
    ended = type(error).__name__
    raise
"""
ASKS = "try:\n    found = regex_search('an', 'banana')\nexcept PermissionError as refusal:\n    found = str(refusal)\nfound"


class SdkCase(Case):
    """`sdk` and `revision` are those of the classes below. One server and one client that asks nobody serve a whole class."""

    sdk = revision = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="gloveport-e2e-"))
        policy = os.path.join(cls.shared, "policy.json")
        with open(policy, "w", encoding="utf-8") as file:
            json.dump(POLICY, file)
        cls.flags = ["--policy", policy, "--builtin", TOOLS, "--max-sessions", "60"]
        cls.target = cls.make_target()
        cls.silent = cls.enterClassContext(SdkClient(cls.sdk, cls.target, cls.revision))
        cls.tools = cls.silent.tools()  # the SDKs judge structured content by what was listed

    @classmethod
    def make_target(cls):
        return {"command": [GLOVEPORT, "mcp", *cls.flags]}

    def client(self, answer=None):
        return self.enterContext(SdkClient(self.sdk, self.target, self.revision, answer))

    def python(self, client, code, **arguments):
        """The structured content of a call, which fits the schema that the server gave; the SDK has judged it as well."""
        self.result = client.call("execute_python", code=code, **arguments)
        self.assertNotIn("error", self.result)
        jsonschema.validate(self.result["structuredContent"], self.tools["execute_python"]["outputSchema"])
        return self.result["structuredContent"]

    def text(self):
        return "".join(part["text"] for part in self.result["content"] if part["type"] == "text")


class Basics:
    """What works in the same way by all ways."""

    def test_the_server_has_three_tools(self):
        opened = self.silent.opened
        self.assertEqual("gloveport", opened.get("server"), opened)
        self.assertIn(opened["revision"], (None, self.revision))  # the first TypeScript SDK does not tell
        self.assertEqual({"execute_python", "reset_session", "list_tools"}, set(self.tools))
        for tool in self.tools.values():
            jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
            jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
        listed = self.silent.call("list_tools")
        self.assertEqual({"calculator", "regex_search"}, {tool["name"] for tool in listed["structuredContent"]["tools"]})
        self.assertIn("def calculator(", listed["content"][0]["text"])

    def test_a_cell_brings_text_values_images_and_errors(self):
        client = self.silent
        first = self.python(client, "print('printed')\n{'answer': calculator('6 * 7'), 'none': None}")
        self.assertEqual(("ok", {"answer": 42, "none": None}, "printed\n"),
                         (first["status"], first["value"], first["stdout"]))
        self.assertEqual([("calculator", True)], [(call["name"], call["ok"]) for call in first["tool_calls"]])
        self.assertIn("printed", self.text())
        session = first["session"]
        self.assertEqual(1, self.python(client, PICTURE, session=session)["images"])
        image, = [part for part in self.result["content"] if part["type"] == "image"]
        self.assertEqual("image/png", image["mimeType"])
        self.assertTrue(base64.b64decode(image["data"], validate=True).startswith(b"\x89PNG"))
        failed = self.python(client, "x = 1\nx / 0", session=session)
        self.assertEqual((True, "error", "ZeroDivisionError", 2),
                         (self.result["isError"], failed["status"], failed["error"]["type"], failed["error"]["line"]))
        self.assertIn("ZeroDivisionError", self.text())
        refused = self.python(client, "import socket", session=session)
        self.assertEqual((True, "denied", 1), (self.result["isError"], refused["status"], refused["findings"][0]["line"]))

    def test_state_is_kept_until_it_is_reset(self):
        client = self.silent
        session = self.python(client, "x = 41")["session"]
        self.assertEqual(42, self.python(client, "x + 1", session=session)["value"])
        self.assertEqual("NameError", self.python(client, "x")["error"]["type"])  # without a handle: a fresh session
        reset = client.call("reset_session", session=session)
        self.assertEqual(session, reset["structuredContent"]["session"])
        self.assertEqual("NameError", self.python(client, "x", session=session)["error"]["type"])
        closed = client.call("reset_session", session=session, close=True)
        self.assertIsNone(closed["structuredContent"]["session"])
        self.assertEqual("not_run", self.python(client, "1", session=session)["status"])

    def test_progress_is_reported_and_a_cancelled_cell_ends(self):
        client = self.silent
        session = self.python(client, "x = 1")["session"]
        stopped = client.call_and_cancel("execute_python", code=ENDLESS, session=session)
        self.assertEqual("cancelled", stopped["error"], stopped)
        self.assertEqual(1, len(stopped["progress"]))
        # What comes next in the session waits for its end, which was not that of its ten minutes.
        self.assertEqual("KeyboardInterrupt", self.python(client, "ended", session=session)["value"])
        self.assertEqual(2, self.python(client, "calculator('1 + 1')", session=session)["value"])

    def test_who_accepts_lets_the_call_run(self):
        client = self.client("accept")
        self.assertEqual(["an", "an"], [match["text"] for match in self.python(client, ASKS)["value"]])
        question, = self.result["questions"]
        self.assertRegex(question["message"], r'(?s)regex_search.*pattern = "an".*text = "banana"')

    def test_who_declines_does_not(self):
        client = self.client("decline")
        self.assertIn("declined", self.python(client, ASKS)["value"])
        self.assertEqual(1, len(self.result["questions"]))

    def test_a_client_that_asks_nobody_gets_a_refusal(self):
        client = self.silent
        self.assertIn("nobody could be asked", self.python(client, ASKS)["value"])
        self.assertEqual("ok", self.python(client, "1")["status"])


def combinations():
    for sdk in SDKS:
        for revision in (HANDSHAKE, STATELESS):
            if revision == HANDSHAKE or not sdk.endswith("v1"):
                yield sdk, revision


def add_classes(base, name):
    """A class for each SDK and revision: unittest finds them by name."""
    for sdk, revision in combinations():
        full = name + "".join(word.capitalize() for word in sdk.split()) + revision.replace("-", "")
        globals()[full] = type(full, (base, SdkCase), {"sdk": sdk, "revision": revision, "__module__": __name__})


class OverStdio(Basics):
    def test_the_server_ends_with_its_client(self):
        with SdkClient(self.sdk, self.target, self.revision) as client:
            self.python(client, "x = 1")
            started = descendants(client.pid)
        self.assertEqual(set(), wait_until_gone(started))


add_classes(OverStdio, "Stdio")


class OverHttp(Basics):
    @classmethod
    def make_target(cls):
        server = cls.enterClassContext(HttpServer(GLOVEPORT, "serve", "--mcp", "--listen", "127.0.0.1:PORT", *cls.flags))
        return {"url": server.url}

    def test_clients_do_not_reach_each_other(self):
        one, other = self.silent, self.client()
        session = self.python(one, "secret = 'of one'")["session"]
        self.assertEqual("NameError", self.python(other, "secret")["error"]["type"])
        if self.revision == HANDSHAKE:  # the stateless one knows no clients: who has a handle was given it
            self.assertEqual("not_run", self.python(other, "secret", session=session)["status"])
            other.call("reset_session", session=session)
        self.assertEqual("of one", self.python(one, "secret", session=session)["value"])


    def test_who_has_another_token_is_another_client(self):
        tokens = self.write("tokens", "".join(token + "\n" for token in TOKENS))
        server = self.enterContext(HttpServer(GLOVEPORT, "serve", "--mcp", "--listen", "127.0.0.1:PORT", *self.flags,
                                              "--token-file", tokens))

        def client_of(token):
            target = {"url": server.url, "headers": {"Authorization": f"Bearer {token}"}}
            return self.enterContext(SdkClient(self.sdk, target, self.revision))
        one, other = client_of(TOKENS[0]), client_of(TOKENS[1])
        session = self.python(one, "secret = 'of one'")["session"]
        self.assertEqual("not_run", self.python(other, "secret", session=session)["status"])
        self.assertEqual("of one", self.python(one, "secret", session=session)["value"])
        self.assertRegex(client_of("wrong").opened["error"], "401|token")


add_classes(OverHttp, "Http")


class Refusals(Case):
    """What the door of streamable HTTP lets in: said by requests of our own, since no SDK sends the wrong ones."""

    def request(self, server, method="POST", path="/mcp", body=None, **headers):
        """(status, body) of a request whose headers are named with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.addCleanup(connection.close)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **given})
        answer = connection.getresponse()
        self.head = answer.headers
        return answer.status, answer.read()

    def initialize(self, server, **headers):
        return self.request(server, body={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}, **headers)

    def serve(self, *flags, **changes):
        return self.enterContext(HttpServer(GLOVEPORT, "serve", "--mcp", "--listen", "127.0.0.1:PORT", *flags, **changes))

    def test_a_token_is_a_client(self):
        tokens = self.write("tokens", "".join(token + "\n" for token in TOKENS))
        server = self.serve("--token-file", tokens, GLOVEPORT_MCP_TOKEN="t" * 32)
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKENS[0]}"}, {"Authorization": TOKENS[0]}):
            with self.subTest(headers=wrong):
                self.assertEqual(401, self.initialize(server, **wrong)[0])
                self.assertTrue(self.head["WWW-Authenticate"].startswith("Bearer"))
                self.assertEqual(401, self.request(server, "GET", **wrong)[0])
        self.assertEqual(200, self.initialize(server, Authorization="Bearer " + "t" * 32)[0])
        self.assertEqual(200, self.initialize(server, Authorization=f"Bearer {TOKENS[0]}")[0])
        known = {"Mcp_Session_Id": self.head["Mcp-Session-Id"], "MCP_Protocol_Version": HANDSHAKE}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        self.assertEqual(404, self.request(server, body=listing, Authorization=f"Bearer {TOKENS[1]}", **known)[0])
        self.assertEqual(404, self.request(server, "DELETE", Authorization=f"Bearer {TOKENS[1]}", **known)[0])
        self.assertEqual(200, self.request(server, body=listing, Authorization=f"Bearer {TOKENS[0]}", **known)[0])

    def test_host_and_origin(self):
        server = self.serve()
        here = f"127.0.0.1:{server.port}"
        for headers in ({}, {"Host": f"localhost:{server.port}"}, {"Origin": f"http://{here}"},
                        {"Origin": f"http://localhost:{server.port}"}):
            with self.subTest(headers=headers):
                self.assertEqual(200, self.initialize(server, **headers)[0])
        for headers in ({"Host": "evil.example.com"}, {"Host": f"evil.example.com:{server.port}"}, {"Host": here + ".evil.example"},
                        {"Origin": "http://evil.example.com"}, {"Origin": "null"}, {"Origin": f"https://{here}"},
                        {"Origin": f"http://{here}.evil.example"}):
            with self.subTest(headers=headers):
                self.assertEqual(403, self.initialize(server, **headers)[0])

    def test_sessions_of_mcp(self):
        server = self.serve()
        self.assertEqual(200, self.initialize(server)[0])
        name = self.head["Mcp-Session-Id"]
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        known = {"Mcp_Session_Id": name, "MCP_Protocol_Version": HANDSHAKE}
        self.assertEqual(200, self.request(server, body=listing, **known)[0])
        self.assertEqual(404, self.request(server, body=listing, **{**known, "Mcp_Session_Id": "0" * len(name)})[0])
        self.assertEqual(400, self.request(server, body=listing, MCP_Protocol_Version=HANDSHAKE)[0])
        self.assertIn(self.request(server, "DELETE", **known)[0], (200, 202, 204))
        self.assertEqual(404, self.request(server, body=listing, **known)[0])
        self.assertEqual(404, self.request(server, "DELETE", **known)[0])

    def test_what_is_no_message(self):
        server = self.serve()
        self.assertEqual(400, self.request(server, body=[])[0])
        self.assertEqual(400, self.request(server, body="text")[0])
        self.assertEqual(404, self.request(server, path="/other", body={})[0])
        self.assertEqual(405, self.request(server, "PUT", body={})[0])
        self.assertIn(self.request(server, body={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, Content_Type="text/plain")[0],
                      (400, 415))
        self.assertEqual(200, self.initialize(server)[0])



class Sdks(unittest.TestCase):
    @unittest.skipIf(MISSING, MISSING_REASON)
    def test_all_of_them_took_part(self):
        self.assertEqual(10, sum(1 for name in globals() if name.startswith(("Stdio", "Http")) and name.endswith(("1125", "0728"))))


if __name__ == "__main__":
    if not SDKS:
        print(MISSING_REASON)
        sys.exit(77)
    unittest.main()
