#!/usr/bin/python3
"""`gloveport serve --mcp`, driven by plain JSON-RPC over HTTP in both kinds of revision."""

import base64
import json
import socket
import threading
import unittest

from mcp_cases import CALCULATOR, ELICITATION, FOREVER, TOKENS, Cancelling, OverHttp, answer, patient
from mcp_peer import HANDSHAKE, PATIENCE, STATELESS, Http, Server, events, meta
from processes import descendants, wait_until_gone
from programs import OK, USAGE, Case, gloveport


class HttpHandshake(OverHttp, Cancelling, Case):
    def await_progress(self, client, reply):
        self.assertEqual("notifications/progress", next(events(reply.response))["method"])

    def cancel(self, client, reply):
        self.assertEqual(202, client.notify("notifications/cancelled", {"requestId": reply.id}).status)

    def assert_unanswered(self, client, reply):
        self.assertEqual([], list(events(reply.response)))

    def test_the_mcp_session_of_another_client_is_unknown(self):
        client = self.client()
        thief = Http(self.server.url, token=TOKENS[1])
        for method in ("POST", "GET", "DELETE"):
            with self.subTest(method=method):
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) if method == "POST" else None
                self.assertEqual(404, thief.send(method, body, Mcp_Session_Id=client.session).status)
        self.assertEqual("ok", client.python("1")["status"])

    def test_an_elicitation_is_answered_by_its_own_session_only(self):
        client = self.approving(lambda request: None)
        other = Http(self.server.url, token=TOKENS[1])
        reply = client.begin("tools/call", {"name": "execute_python", "arguments": {"code": "calculator('1')"}})
        stream = events(reply.response)
        asked = next(stream)
        self.assertEqual("elicitation/create", asked["method"])
        response = {"jsonrpc": "2.0", "id": asked["id"], "result": answer("allow")(None)}
        self.assertEqual(202, other.post(response).status)  # taken, and answers nothing there
        response["result"] = answer("deny")(None)
        self.assertEqual(202, client.post(response).status)
        self.assertEqual("PermissionError", next(stream)["result"]["structuredContent"]["error"]["type"])

    def test_a_session_that_was_given_back_is_gone(self):
        client = self.client()
        handle = client.python("1")["session"]
        self.assertEqual(204, client.close())
        self.assertEqual(404, client.post({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).status)
        client = Http(self.server.url, token=TOKENS[0])
        self.assertEqual("not_run", client.python("1", session=handle)["status"])

    def test_giving_a_session_back_ends_what_runs_in_it(self):
        client = self.client(*patient(self))
        reply = self.begin(client, "calculator('1')\n" + FOREVER, client.python("1")["session"])
        self.await_progress(client, reply)
        self.assertEqual(204, client.close())
        self.assertEqual([], list(events(reply.response)))

    def test_a_stream_of_the_servers_own(self):
        client = self.client()
        first = client.send("GET", Accept="text/event-stream")
        self.assertEqual([200, True], [first.status, first.stream])
        second = client.send("GET", Accept="text/event-stream")
        self.assertEqual([200, True], [second.status, second.stream])
        self.assertEqual([], list(events(first.response)), "the new one takes its place")
        self.assertEqual(406, client.send("GET", Accept="application/json").status)
        client.close()
        self.assertEqual([], list(events(second.response)), "it ends with the session")

    def test_a_question_on_a_stream_that_breaks_is_asked_on_the_other(self):
        client = self.approving(lambda request: None)
        own = client.send("GET", Accept="text/event-stream")
        reply = client.begin("tools/call", {"name": "execute_python", "arguments": {"code": "result = calculator('1')"}})
        asked = next(events(reply.response))
        reply.response.close()
        again = next(events(own.response))
        self.assertEqual([asked["id"], "elicitation/create"], [again["id"], again["method"]])
        client.post({"jsonrpc": "2.0", "id": again["id"], "result": answer("allow")(None)})

    def test_a_question_that_nobody_can_see_is_a_refusal_at_once(self):
        client = self.approving(lambda request: None)
        handle = client.python("1")["session"]
        reply = client.begin("tools/call", {"name": "execute_python", "arguments": {
            "code": "try:\n    calculator('1')\nexcept PermissionError as error:\n    seen = str(error)", "session": handle}})
        next(events(reply.response))
        reply.response.close()
        self.assertIn("does not read", client.python("seen", session=handle)["value"])

    def test_a_call_goes_on_when_its_stream_breaks(self):
        client = self.client(*CALCULATOR)
        handle = client.python("done = 0")["session"]
        reply = self.begin(client, "calculator('1')\nimport time\ntime.sleep(3)\ndone = 1", handle)
        next(events(reply.response))
        reply.response.close()
        self.assertEqual(1, client.python("done", session=handle)["value"])

    def test_mcp_sessions_that_nobody_uses_make_room(self):
        self.client()
        clients = [Http(self.server.url, token=TOKENS[0]) for _ in range(70)]  # 64 are kept
        self.assertEqual("ok", clients[-1].python("1")["status"])
        self.assertEqual(404, clients[0].post({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).status)


class HttpStateless(OverHttp, Case):
    revision = STATELESS

    def test_whoever_closes_the_stream_cancels(self):
        client = self.client(*patient(self))
        handle = client.python("done = 0")["session"]
        reply = client.begin("tools/call", {"name": "execute_python", "arguments": {
            "code": "calculator('1')\n" + FOREVER + "\ndone = 1", "session": handle}}, progress=True)
        self.assertEqual("notifications/progress", next(events(reply.response))["method"])
        reply.response.close()
        self.assertEqual(0, client.python("done", session=handle)["value"])

    def test_a_cancellation_by_message_means_nothing(self):
        client = self.client(*CALCULATOR)
        reply = client.begin("tools/call", {"name": "execute_python", "arguments": {
            "code": "calculator('1')\nimport time\ntime.sleep(2)\n7"}}, progress=True)
        stream = events(reply.response)
        next(stream)
        done = client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": reply.id}},
                           MCP_Protocol_Version=STATELESS)
        self.assertEqual(202, done.status)
        self.assertEqual(7, next(stream)["result"]["structuredContent"]["value"])

    def test_the_same_ids_at_the_same_time(self):
        client = self.client()
        replies, results = [], []

        def call(number):
            twin = Http(self.server.url, revision=STATELESS, token=TOKENS[0])
            results.append(twin.python(f"import time\ntime.sleep(1)\n{number}")["value"])

        threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([0, 1, 2, 3], sorted(results), replies)
        self.assertEqual("ok", client.python("1")["status"])

    def test_a_parked_call_is_its_owners_and_for_one_use(self):
        client = self.approving(answer("allow"))
        thief = Http(self.server.url, ELICITATION, STATELESS, token=TOKENS[1])
        params = {"name": "execute_python", "arguments": {"code": "calculator('6 * 7')"}}
        first = client.request("tools/call", params).result
        self.assertEqual("input_required", first["resultType"])
        self.assertEqual(["elicitation/create"], [request["method"] for request in first["inputRequests"].values()])
        again = {**params, "requestState": first["requestState"], "inputResponses": {
            key: answer("allow")(None) for key in first["inputRequests"]}}
        for stranger, changed in ((thief, again), (client, {**again, "requestState": "0" * 32}),
                                  (client, {**again, "arguments": {"code": "calculator('1')"}}),
                                  (client, {**again, "requestState": first["requestState"][:-1]})):
            with self.subTest(changed=changed):
                self.assertEqual(-32602, stranger.request("tools/call", changed).answer["error"]["code"])
        self.assertEqual(42, client.request("tools/call", again).result["structuredContent"]["value"])
        self.assertEqual(-32602, client.request("tools/call", again).answer["error"]["code"])

    def test_answers_that_are_missing_are_asked_for_again(self):
        client = self.approving(answer("allow"))
        params = {"name": "execute_python", "arguments": {"code": "calculator('6 * 7')"}}
        result = client.request("tools/call", params).result
        for responses in ({}, {"other": answer("allow")(None)}, None, 12345, []):
            with self.subTest(responses=responses):
                result = client.request("tools/call", {**params, "requestState": result["requestState"],
                                                       "inputResponses": responses}).result
                self.assertEqual("input_required", result["resultType"])
        key = next(iter(result["inputRequests"]))
        result = client.request("tools/call", {**params, "requestState": result["requestState"],
                                               "inputResponses": {key: answer("allow")(None)}}).result
        self.assertEqual(["complete", 42], [result["resultType"], result["structuredContent"]["value"]])

    def test_subscriptions_are_acknowledged_and_held(self):
        client = self.client()
        replies = [client.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}}) for _ in range(4)]
        for reply in replies:
            first = next(events(reply.response))
            self.assertEqual(["notifications/subscriptions/acknowledged", {}, reply.id],
                             [first["method"], first["params"]["notifications"],
                              first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]])
        full = client.request("subscriptions/listen", {"notifications": {}})
        self.assertEqual(-32603, full.answer["error"]["code"])


class HttpRules(Case):
    """What HTTP itself asks for, and what comes before any message is looked at."""

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(Server())
        self.client = Http(self.server.url)
        self.body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})

    def status(self, method="POST", path=None, body=None, **headers):
        old, self.client.path = self.client.path, path or self.client.path
        try:
            return self.client.send(method, self.body if method == "POST" and body is None else body, **headers).status
        finally:
            self.client.path = old

    def test_paths_methods_and_media_types(self):
        self.assertEqual(200, self.status())
        self.assertEqual([404, 404], [self.status(path="/"), self.status(path="/mcp/")])
        self.assertEqual([405, 405, 405], [self.status(method) for method in ("PUT", "PATCH", "OPTIONS")])
        for accept, status in (("*/*", 200), (None, 200), ("application/json, text/event-stream;q=0.5", 200),
                               ("application/*, text/*", 200), ("application/json", 406), ("text/event-stream", 406),
                               ("text/html", 406)):
            with self.subTest(accept=accept):
                self.assertEqual(status, self.status(Accept=accept))
        for kind, status in (("application/json; charset=utf-8", 200), ("APPLICATION/JSON", 200), ("text/plain", 415),
                             ("application/x-www-form-urlencoded", 415), (None, 415)):
            with self.subTest(kind=kind):
                self.assertEqual(status, self.status(Content_Type=kind))

    def test_bodies(self):
        for body, code in (("", -32700), ("{", -32700), ("[]", -32600), (f"[{self.body}]", -32600), ("1", -32600),
                           ('{"jsonrpc": "2.0", "id": [], "method": "ping"}', -32600),
                           ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
                           ('{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32700),
                           ("[" * 100_000, -32600), ('{"a":' * 100_000, -32700), (b"\xff\xfe", -32700)):
            with self.subTest(body=body[:60]):
                reply = self.client.post(body)
                self.assertEqual([400, code, None], [reply.status, reply.json()["error"]["code"], reply.json()["id"]])
        for body in ('{"jsonrpc": "1.0", "id": "x", "method": "ping"}', '{"jsonrpc": "2.0", "id": "x"}',
                     '{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": 5}'):
            with self.subTest(body=body):
                reply = self.client.post(body)
                self.assertEqual([400, -32600, "x"], [reply.status, reply.json()["error"]["code"], reply.json()["id"]])
        self.assertEqual(413, self.client.post(" " * (17 << 20)).status)
        self.assertEqual(200, self.status())

    def test_revisions_in_headers(self):
        for revision, status in ((HANDSHAKE, 200), ("2024-11-05", 200), (None, 200), ("1999-01-01", 400), ("x", 400)):
            with self.subTest(revision=revision):
                self.assertEqual(status, self.status(MCP_Protocol_Version=revision))

    def test_sessions_have_to_be_named(self):
        self.assertEqual([400, 404], [self.status(Mcp_Session_Id=None), self.status(Mcp_Session_Id="0" * 32)])
        again = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": HANDSHAKE}}
        self.assertEqual(-32600, self.client.post(again).json()["error"]["code"])

    def test_mirrored_headers_have_to_fit(self):
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "list_tools", "_meta": meta()}}
        good = {"MCP_Protocol_Version": STATELESS, "Mcp_Method": "tools/call", "Mcp_Name": "list_tools", "Mcp_Session_Id": None}
        encoded = "=?base64?" + base64.b64encode(b"list_tools").decode() + "?="
        for changes, status in (({}, 200), ({"Mcp_Name": encoded}, 200), ({"Mcp_Name": "  list_tools "}, 200),
                                ({"Mcp_Name": "=?base64?%%?="}, 400), ({"Mcp_Name": None}, 400), ({"Mcp_Name": "other"}, 400),
                                ({"Mcp_Method": None}, 400), ({"Mcp_Method": "tools/list"}, 400),
                                ({"Mcp_Method": "TOOLS/CALL"}, 400), ({"MCP_Protocol_Version": None}, 400),
                                ({"MCP_Protocol_Version": HANDSHAKE}, 400)):
            with self.subTest(changes=changes):
                reply = self.client.post(call, **{**good, **changes})
                self.assertEqual(status, reply.status, reply.text)
                if status == 400:
                    self.assertEqual([-32020, 7], [reply.json()["error"]["code"], reply.json()["id"]])

    def test_what_each_stateless_request_has_to_say(self):
        def post(method, request_meta, **headers):
            params = {} if request_meta is None else {"_meta": request_meta}
            return self.client.post({"jsonrpc": "2.0", "id": 3, "method": method, "params": params}, **{
                "MCP_Protocol_Version": STATELESS, "Mcp_Method": method, "Mcp_Session_Id": None, **headers})

        without = lambda key: {name: value for name, value in meta().items() if not name.endswith(key)}
        self.assertEqual(200, post("server/discover", without("clientInfo")).status)
        for request_meta in (None, {}, without("protocolVersion"), without("clientCapabilities")):
            with self.subTest(meta=request_meta):
                reply = post("server/discover", request_meta)
                self.assertEqual([400, -32602, 3], [reply.status, reply.json()["error"]["code"], reply.json()["id"]])
        unknown = post("server/discover", meta(revision="1900-01-01"), MCP_Protocol_Version="1900-01-01").json()["error"]
        self.assertEqual([-32022, "1900-01-01"], [unknown["code"], unknown["data"]["requested"]])
        self.assertIn(STATELESS, unknown["data"]["supported"])
        for method in ("initialize", "ping", "logging/setLevel", "nope"):
            with self.subTest(method=method):
                reply = post(method, meta())
                self.assertEqual([404, -32601], [reply.status, reply.json()["error"]["code"]])
        self.assertEqual(405, self.client.send("GET", MCP_Protocol_Version=STATELESS).status)
        answer_to_nothing = {"jsonrpc": "2.0", "id": 1, "result": {}}
        self.assertEqual(400, self.client.post(answer_to_nothing, MCP_Protocol_Version=STATELESS).status)

    def test_discover(self):
        result = Http(self.server.url, revision=STATELESS).request("server/discover").result
        self.assertEqual(STATELESS, result["supportedVersions"][0])
        self.assertEqual(["complete", {"tools": {}}, "public"],
                         [result["resultType"], result["capabilities"], result["cacheScope"]])
        self.assertEqual("gloveport", result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"])

    def test_hosts_and_origins(self):
        port = self.client.host.split(":")[1]
        for host, status in ((f"localhost:{port}", 200), (f"127.0.0.1:{port}", 200), (f"evil.example.com:{port}", 403),
                             ("evil.example.com", 403)):
            with self.subTest(host=host):
                self.assertEqual(status, self.status(Host=host))
        for origin, status in ((f"http://localhost:{port}", 200), ("http://evil.example.com", 403), ("null", 403),
                               (f"https://localhost:{port}", 403)):
            with self.subTest(origin=origin):
                self.assertEqual(status, self.status(Origin=origin))
        self.assertEqual(403, self.client.send("GET", Origin="http://evil.example.com").status)

    def test_it_ends_in_order_when_told_to(self):
        reply = self.client.begin("tools/call", {"name": "execute_python", "arguments": {"code": FOREVER}})
        below = descendants(self.server.process.pid)
        self.assertEqual(OK, self.server.stop(), self.server.stderr)
        self.assertEqual(set(), wait_until_gone(below))
        reply.response.close()


class Tokens(Case):
    def test_a_token_is_needed_where_one_is_set(self):
        with Server(GLOVEPORT_MCP_TOKEN=TOKENS[0]) as server:
            anyone = Http(server.url, revision=STATELESS)
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
            for header, status in ((None, 401), ("Bearer " + TOKENS[1], 401), (TOKENS[0], 401), ("Basic " + TOKENS[0], 401),
                                   ("Bearer", 401), ("Bearer  ", 401), ("Bearer " + TOKENS[0][:-1], 401),
                                   ("Bearer " + TOKENS[0] + "x", 401), ("bearer " + TOKENS[0], 400), ("Bearer " + TOKENS[0], 400)):
                with self.subTest(header=header):
                    reply = anyone.send("POST", body, Authorization=header)
                    self.assertEqual(status, reply.status)
                    if status == 401:
                        self.assertEqual("Bearer", reply.headers["WWW-Authenticate"])
            for method in ("GET", "DELETE"):
                self.assertEqual(401, anyone.send(method).status)
            self.assertEqual("ok", Http(server.url, token=TOKENS[0]).python("1")["status"])

    def test_the_body_of_a_stranger_is_not_read(self):
        with Server(GLOVEPORT_MCP_TOKEN=TOKENS[0]) as server:
            host, port = Http(server.url, revision=STATELESS).host.split(":")
            with socket.create_connection((host, int(port)), PATIENCE) as connection:
                connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
                                   "Content-Length: 1000000\r\n\r\n".encode())
                self.assertIn(b" 401 ", connection.recv(1000))

    def test_secrets_are_in_no_message(self):
        with Server(GLOVEPORT_MCP_TOKEN=TOKENS[0]) as server:
            Http(server.url, token=TOKENS[0]).python("1")
            server.stop()
            self.assertNotIn(TOKENS[0], server.stderr)

    def test_what_is_reachable_from_elsewhere_is_refused(self):
        for listen in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"):
            with self.subTest(listen=listen):
                done = gloveport("serve", "--mcp", "--listen", listen, GLOVEPORT_MCP_TOKEN=TOKENS[0])
                self.assertExit(USAGE, done)
                self.assertIn("127.0.0.1", done.stderr)
        done = gloveport("serve", "--mcp", "--listen", "127.0.0.1:0", "--allow-host", "glove.example.org")
        self.assertExit(USAGE, done)
        self.assertIn("token", done.stderr)

    def test_a_further_host_is_served_with_a_token(self):
        with Server("--allow-host", "glove.example.org", "--allow-origin", "https://app.example.org",
                    GLOVEPORT_MCP_TOKEN=TOKENS[0]) as server:
            client = Http(server.url, token=TOKENS[0])
            self.assertEqual(200, client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Host="glove.example.org",
                                              Origin="https://app.example.org").status)

    def test_pages_of_an_allowed_origin_may_see_what_it_answers(self):
        page = "https://app.example.org"
        with Server("--allow-origin", page, GLOVEPORT_MCP_TOKEN=TOKENS[0]) as server:
            client = Http(server.url, token=TOKENS[0])
            preflight = client.send("OPTIONS", Origin=page, Authorization=None, Access_Control_Request_Method="POST")
            self.assertEqual([204, page], [preflight.status, preflight.headers["Access-Control-Allow-Origin"]])
            for name in ("authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"):
                self.assertIn(name, preflight.headers["Access-Control-Allow-Headers"].lower())
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            for reply, status in ((client.post(ping, Origin=page), 200), (client.post(ping, Origin=page, Authorization=None), 401)):
                self.assertEqual([status, page], [reply.status, reply.headers["Access-Control-Allow-Origin"]])
            own = client.post(ping, Origin=server.url.removesuffix("/mcp"))
            self.assertEqual([200, None], [own.status, own.headers["Access-Control-Allow-Origin"]])
            other = client.send("OPTIONS", Origin="https://evil.example.net", Access_Control_Request_Method="POST")
            self.assertEqual([403, None], [other.status, other.headers["Access-Control-Allow-Origin"]])

    def test_mistakes_of_usage(self):
        short = self.write("short", "secret\n")
        empty = self.write("empty", "\n")
        for flags, text in ((["--token-file", short], "16 or more"), (["--token-file", empty], "no token"),
                            (["--token-file", self.folder + "/none"], "--token-file"), (["--listen", "x"], "ADDRESS:PORT"),
                            (["--listen", "127.0.0.1:99999"], "ADDRESS:PORT"), (["--path", "mcp"], "path"),
                            (["--policy", "nope"], "--policy"), (["--tools", "nope"], "--tools")):
            with self.subTest(flags=flags):
                done = gloveport("serve", "--mcp", *([] if "--listen" in flags else ["--listen", "127.0.0.1:0"]), *flags)
                self.assertExit(USAGE, done)
                self.assertIn(text, done.stderr)
                self.assertNotIn("secret", done.stderr)
        self.assertExit(USAGE, gloveport("serve"))


if __name__ == "__main__":
    unittest.main()
