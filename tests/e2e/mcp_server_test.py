#!/usr/bin/python3
"""`gloveport mcp` and `gloveport serve --mcp`, driven by plain JSON-RPC in both kinds of revision."""

import base64
import http.client
import json
import os
import socket
import subprocess
import threading
import time
import unittest

from mcp_peer import HANDSHAKE, PATIENCE, STATELESS, Http, Server, Stdio, events, meta
from processes import descendants, wait_until_gone
from programs import FAILED, GLOVEPORT, OK, USAGE, Case, environment, gloveport

CALCULATOR = ("--builtin", '{"calculator": {}}')
ELICITATION = {"elicitation": {}}
TOKENS = ("first-client-0123456789", "second-client-0123456789")


def ask_policy(case, **more):
    return case.write("ask.json", json.dumps({"extends": "default", **more, "tools": {"rules": [
        {"tool": "calculator", "effect": "ask"}]}}))


def answer(decision):
    """What a client answers to each elicitation."""
    return lambda request: {"action": "accept", "content": {"decision": decision}}


# ---- what holds for every transport and revision ----

class Everywhere:
    """Mixed into a Case that says how a client is made."""

    def client(self, *flags, capabilities=None):
        raise NotImplementedError

    def second(self, client):
        """Another client of the same server, or of another one."""
        raise NotImplementedError

    def test_code_runs_and_what_it_brought_comes_in_two_forms(self):
        client = self.client()
        result = client.call("execute_python", {"code": "import sys\nprint('hello')\nprint('oops', file=sys.stderr)\n6 * 7"})
        self.assertIs(False, result["isError"])
        structured = result["structuredContent"]
        self.assertEqual(["ok", 42, "42", "int", "hello\n", "oops\n", None, "kept"],
                         [structured[key] for key in ("status", "value", "repr", "type", "stdout", "stderr", "error", "state")])
        self.assertGreater(structured["duration_s"], 0)
        text = result["content"][0]["text"]
        for part in ("| hello", "| oops", "| 42", structured["session"]):
            self.assertIn(part, text)

    def test_errors_name_type_message_and_line(self):
        client = self.client()
        result = client.call("execute_python", {"code": "x = 1\n1 / 0"})
        self.assertIs(True, result["isError"])
        error = result["structuredContent"]["error"]
        self.assertEqual(["ZeroDivisionError", "division by zero", 2], [error[key] for key in ("type", "message", "line")])
        refused = client.call("execute_python", {"code": "1\nimport socket"})["structuredContent"]
        self.assertEqual("denied", refused["status"])
        self.assertEqual([("import", 2)], [(finding["rule"], finding["line"]) for finding in refused["findings"]])

    def test_values_that_json_lacks_have_a_form_of_their_own(self):
        structured = self.client().python("{'a': b'hi', 'b': 2**70}")
        self.assertEqual({"a": {"$bytes": "aGk="}, "b": {"$int": str(2**70)}}, structured["value"])

    def test_what_is_too_large_is_told_by_its_repr(self):
        structured = self.client().python("'x' * 1_000_000")
        self.assertIsNone(structured["value"])
        self.assertIn("characters left out", structured["repr"])
        self.assertLess(len(structured["repr"]), 100_000)

    def test_images_are_content(self):
        png = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
        result = self.client().call("execute_python", {"code": f"""
import base64
class Picture:
    def __init__(self, data): self.data = data
    def _repr_png_(self): return self.data
display(Picture(base64.b64decode('{png}')))
display(Picture(b'no image'))"""})
        images = [item for item in result["content"] if item["type"] == "image"]
        self.assertEqual([("image/png", png)], [(image["mimeType"], image["data"]) for image in images], result)
        self.assertEqual(1, result["structuredContent"]["images"])

    def test_a_session_goes_on_by_its_handle(self):
        client = self.client()
        first = client.python("x = 41")["session"]
        self.assertEqual(42, client.python("x + 1", session=first)["value"])
        other = client.python("'x' in globals()")
        self.assertIs(False, other["value"])
        self.assertNotEqual(first, other["session"])

    def test_sessions_are_reset_and_ended(self):
        client = self.client()
        handle = client.python("x = 1\nopen('kept.txt', 'w').close()")["session"]
        reset = client.call("reset_session", {"session": handle})
        self.assertEqual({"session": handle, "open_sessions": 1}, reset["structuredContent"])
        self.assertEqual([], client.python(
            "import pathlib\n[str(p) for p in pathlib.Path().iterdir()] + [n for n in globals() if n == 'x']",
            session=handle)["value"])
        ended = client.call("reset_session", {"session": handle, "close": True})
        self.assertEqual({"session": None, "open_sessions": 0}, ended["structuredContent"])
        gone = client.call("execute_python", {"code": "1", "session": handle})
        self.assertIs(True, gone["isError"])
        self.assertEqual(["not_run", "SessionError"],
                         [gone["structuredContent"]["status"], gone["structuredContent"]["error"]["type"]])
        self.assertIs(True, client.call("reset_session", {"session": handle})["isError"])

    def test_room_for_sessions_is_limited_and_ending_one_makes_room(self):
        client = self.client("--max-sessions", "2")
        handles = [client.python("1")["session"] for _ in range(2)]
        full = client.python("1")
        self.assertEqual(["not_run", "LimitError"], [full["status"], full["error"]["type"]])
        self.assertIn("reset_session", full["error"]["message"])
        self.assertEqual(2, client.python("2", session=handles[0])["value"])
        client.call("reset_session", {"session": handles[1], "close": True})
        self.assertEqual("ok", client.python("1")["status"])

    def test_a_session_that_nobody_uses_ends(self):
        client = self.client("--idle-timeout", "0.2", "--max-sessions", "1")
        handle = client.python("1")["session"]
        end = time.monotonic() + PATIENCE
        while client.python("1", session=handle)["status"] == "ok" and time.monotonic() < end:
            time.sleep(1)  # for the time-out, whose length is what is tested
        self.assertEqual("SessionError", client.python("1", session=handle)["error"]["type"])
        self.assertEqual("ok", client.python("1")["status"], "it still takes the room of another")

    def test_sessions_of_another_client_are_out_of_reach(self):
        client = self.client()
        mine = client.python("secret = 'mine'")["session"]
        other = self.second(client)
        self.assertEqual("ok", other.python("1")["status"])
        for attempt in (other.call("execute_python", {"code": "secret", "session": mine}),
                        other.call("reset_session", {"session": mine, "close": True})):
            self.assertIs(True, attempt["isError"], attempt)
            self.assertNotIn("mine", json.dumps(attempt).replace(mine, ""))
        self.assertEqual("mine", client.python("secret", session=mine)["value"])

    def test_cells_of_different_sessions_run_beside_each_other(self):
        client = self.client()
        handles = [client.python("import time")["session"] for _ in range(2)]
        # Each waits until the other one runs, which the clock shows: side by side both see the end.
        code = "t = time.time()\ntime.sleep(1)\n[t, time.time()]"
        spans = {}

        def run(handle):
            spans[handle] = client.python(code, session=handle)["value"]

        threads = [threading.Thread(target=run, args=(handle,)) for handle in handles]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first, second = (spans[handle] for handle in handles)
        self.assertLess(max(first[0], second[0]), min(first[1], second[1]), spans)

    def test_tools_of_the_host_are_functions_and_are_listed(self):
        client = self.client(*CALCULATOR)
        self.assertEqual(42, client.python("calculator('6 * 7')")["value"])
        failed = client.python("try:\n    calculator('1 +')\nexcept ToolError as error:\n    print(error)")
        self.assertEqual([("calculator", False)], [(call["name"], call["ok"]) for call in failed["tool_calls"]])
        listed = client.call("list_tools")
        self.assertEqual(["calculator"], [tool["name"] for tool in listed["structuredContent"]["tools"]])
        self.assertIn("def calculator(expression: str) -> ", listed["structuredContent"]["stub"])
        self.assertIn("def calculator(", listed["content"][0]["text"])

    def test_tools_that_the_policy_hides_are_not_listed(self):
        policy = self.write("deny.json", json.dumps({"extends": "default", "tools": {"rules": [
            {"tool": "calculator", "effect": "deny"}]}}))
        client = self.client(*CALCULATOR, "--policy", policy)
        self.assertEqual([], client.call("list_tools")["structuredContent"]["tools"])
        self.assertEqual("error", client.python("calculator('1')")["status"])

    def test_tools_of_servers_behind_it_exist_inside_the_code(self):
        client = self.client("--mcp", f"inner={GLOVEPORT} mcp")
        structured = client.python("execute_python(code='6 * 7')")
        self.assertEqual(["ok", 42], [structured["status"], structured["value"]["value"]], structured)
        self.assertIn("execute_python", [tool["name"] for tool in client.call("list_tools")["structuredContent"]["tools"]])

    def test_progress_tells_of_each_call_of_a_tool(self):
        client = self.client(*CALCULATOR)
        params = {"name": "execute_python", "arguments": {"code": "[calculator(str(i)) for i in range(5)]"}}
        answers = client.request("tools/call", params, progress=True)
        self.assertEqual([1, 2, 3, 4, 5], [step["progress"] for step in answers.progress()])
        self.assertIn("calculator", answers.progress()[0]["message"])
        self.assertEqual([], client.request("tools/call", params).progress())

    def test_timeout_is_the_clients_within_the_policys(self):
        client = self.client()
        self.assertEqual("timeout", client.python("while True: pass", timeout_s=0.2)["status"])
        policy = self.write("short.json", json.dumps({"extends": "default", "limits": {"wall_s": 0.2}}))
        client = self.client("--policy", policy)
        self.assertEqual("timeout", client.python("while True: pass", timeout_s=100)["status"])

    def test_a_policy_is_none_of_the_clients_matters(self):
        client = self.client()
        result = client.call("execute_python", {"code": "1", "policy": "open"})
        self.assertEqual("ArgumentError", result["structuredContent"]["error"]["type"])
        self.assertIn("policy", result["content"][0]["text"])

    def test_wrong_arguments_are_told_to_the_model(self):
        client = self.client()
        for arguments in ({}, {"code": 1}, {"code": "1", "session": 5}, {"code": "1", "timeout_s": 0},
                          {"code": "1", "timeout_s": "soon"}, {"code": "1", "seesion": "x"}):
            with self.subTest(arguments=arguments):
                result = client.call("execute_python", arguments)
                self.assertIs(True, result["isError"])
                self.assertEqual("not_run", result["structuredContent"]["status"])
        for arguments in ({}, {"session": 1}, {"session": "x", "close": "yes"}, {"session": "x", "more": 1}):
            with self.subTest(arguments=arguments):
                self.assertIs(True, client.call("reset_session", arguments)["isError"])

    def test_secrets_that_the_policy_redacts_do_not_reach_the_model(self):
        policy = self.write("redact.json", json.dumps({"extends": "default", "redact": [
            {"name": "word", "pattern": "sesame"}]}))
        client = self.client("--policy", policy)
        result = client.call("execute_python", {"code": "print('open sesame')\n['sesame']"})
        self.assertNotIn("sesame", json.dumps(result))
        self.assertIn("[redacted:word]", result["content"][0]["text"])

    # ---- approval ----

    def approving(self, decision, *flags, **more):
        client = self.client(*CALCULATOR, "--policy", ask_policy(self, **more), *flags, capabilities=ELICITATION)
        self.asked = []

        def on_request(request):
            self.asked.append(request["params"])
            return decision(request) if callable(decision) else decision

        client.on_request = on_request
        return client

    def python_with_answers(self, client, code, session=None):
        """As client.python; in the stateless revision the call is repeated with the answers, as a client does."""
        params = {"name": "execute_python", "arguments": {"code": code, **({"session": session} if session else {})}}
        result = client.request("tools/call", params).result
        while result.get("resultType") == "input_required":
            responses = {key: client.on_request(request) for key, request in result["inputRequests"].items()}
            result = client.request("tools/call", {**params, "requestState": result["requestState"],
                                                   "inputResponses": responses}).result
        return result["structuredContent"]

    def test_what_is_allowed_goes_on_in_the_middle_of_the_code(self):
        client = self.approving(answer("allow"))
        structured = self.python_with_answers(client, "before = 1\nresult = calculator('6 * 7')\n[before, result]")
        self.assertEqual([1, 42], structured["value"], structured)
        self.assertEqual(1, len(self.asked))
        form = self.asked[0]
        self.assertIn("calculator(", form["message"])
        self.assertIn("6 * 7", form["message"])
        self.assertEqual("string", form["requestedSchema"]["properties"]["decision"]["type"])
        self.assertNotIn("default", form["requestedSchema"]["properties"]["decision"])

    def test_several_questions_of_one_cell(self):
        client = self.approving(answer("allow"))
        structured = self.python_with_answers(client, "[calculator('1'), calculator('2'), calculator('3')]")
        self.assertEqual([1, 2, 3], structured["value"])
        self.assertEqual(3, len(self.asked))

    def test_questions_of_threads_at_the_same_time(self):
        client = self.approving(answer("allow"))
        structured = self.python_with_answers(client, "from concurrent.futures import ThreadPoolExecutor\n"
                                              "with ThreadPoolExecutor(4) as pool:\n"
                                              "    done = list(pool.map(lambda n: calculator(str(n)), range(4)))\ndone")
        self.assertEqual([0, 1, 2, 3], structured["value"], structured)

    def test_always_is_not_asked_again(self):
        client = self.approving(answer("always"))
        structured = self.python_with_answers(client, "[calculator('1'), calculator('1')]")
        self.assertEqual([1, 1], structured["value"])
        self.assertEqual(1, len(self.asked))

    def test_what_is_no_consent_is_a_refusal_with_its_reason(self):
        code = "try:\n    calculator('1')\nexcept PermissionError as error:\n    print(error)"
        for result, reason in ((answer("deny")(None), "denied"), ({"action": "decline"}, "declined"),
                               ({"action": "cancel"}, "did not decide"), ({"action": "accept"}, "no valid decision"),
                               ({"action": "accept", "content": {"decision": True}}, "no valid decision"),
                               ({"action": "accept", "content": {"decision": "ALLOW"}}, "no valid decision"),
                               ({"action": 5}, "no valid answer")):
            with self.subTest(result=result):
                structured = self.python_with_answers(self.approving(result), code)
                self.assertIn(reason, structured["stdout"], structured)
                self.assertEqual([], structured["tool_calls"])

    def test_nobody_answers_in_time(self):
        client = self.approving(None, limits={"approval_s": 0.5})
        params = {"name": "execute_python", "arguments": {"code": "calculator('1')"}}
        result = client.request("tools/call", params).result
        while result.get("resultType") == "input_required":
            result = client.request("tools/call", {**params, "requestState": result["requestState"]}).result
        self.assertEqual("PermissionError", result["structuredContent"]["error"]["type"], result)

    def test_a_client_that_cannot_ask_is_refused_with_the_reason(self):
        client = self.client(*CALCULATOR, "--policy", ask_policy(self))
        structured = client.python("calculator('1')")
        self.assertEqual("error", structured["status"])
        self.assertIn("nobody could be asked", structured["error"]["message"])

    def test_a_cell_that_needs_approval_is_asked_about_as_a_whole(self):
        policy = self.write("import.json", json.dumps({"extends": "default", "imports": {"ask": ["sqlite3"]}}))
        client = self.client("--policy", policy, capabilities=ELICITATION)
        asked = []
        client.on_request = lambda request: (asked.append(request["params"]["message"]), answer("allow")(request))[1]
        structured = self.python_with_answers(client, "import sqlite3\nsqlite3.sqlite_version_info[0]")
        self.assertEqual(3, structured["value"], structured)
        self.assertIn("import sqlite3", asked[0])

    # ---- methods ----

    def test_the_three_tools_have_schemas_and_descriptions(self):
        tools = self.client().request("tools/list").result["tools"]
        self.assertEqual(["execute_python", "reset_session", "list_tools"], [tool["name"] for tool in tools])
        for tool in tools:
            self.assertGreater(len(tool["description"]), 80)
            for key in ("inputSchema", "outputSchema"):
                self.assertEqual("object", tool[key]["type"])
                self.assertEqual("https://json-schema.org/draft/2020-12/schema", tool[key]["$schema"])

    def test_structured_content_fits_the_schema(self):
        import jsonschema
        client = self.client(*CALCULATOR)
        schemas = {tool["name"]: tool["outputSchema"] for tool in client.request("tools/list").result["tools"]}
        handle = client.python("1")["session"]
        for name, arguments in (("execute_python", {"code": "print(1)\ncalculator('1')"}), ("execute_python", {"code": "1/0"}),
                                ("execute_python", {"code": "import socket"}), ("execute_python", {"code": "def"}),
                                ("execute_python", {"code": "final_answer({'a': 1}, 'so')"}), ("execute_python", {}),
                                ("execute_python", {"code": "float('nan')", "session": "x"}), ("list_tools", {}),
                                ("reset_session", {"session": handle}), ("reset_session", {"session": handle, "close": True})):
            with self.subTest(name=name, arguments=arguments):
                jsonschema.Draft202012Validator.check_schema(schemas[name])
                jsonschema.validate(client.call(name, arguments)["structuredContent"], schemas[name])

    def error_of(self, client, method, params=None):
        return client.request(method, params).answer["error"]["code"]

    def test_unknown_methods_tools_and_cursors(self):
        client = self.client()
        for method in ("nope", "resources/list", "prompts/list", "logging/setLevel", "sampling/createMessage", ""):
            with self.subTest(method=method):
                if method:
                    self.assertEqual(-32601, self.error_of(client, method))
        self.assertEqual(-32602, self.error_of(client, "tools/call", {"name": "nope"}))
        self.assertEqual(-32602, self.error_of(client, "tools/call", {"name": "execute_python", "arguments": [1]}))
        self.assertEqual(-32602, self.error_of(client, "tools/list", {"cursor": "x"}))


class OverStdio(Everywhere):
    revision = HANDSHAKE

    def client(self, *flags, capabilities=None):
        self.flags = flags
        return self.enterContext(Stdio(*flags, capabilities=capabilities, revision=self.revision))

    def second(self, client):
        return self.client(*self.flags)


class OverHttp(Everywhere):
    revision = HANDSHAKE

    def client(self, *flags, capabilities=None):
        tokens = self.write("tokens", "\n".join(TOKENS) + "\n")
        self.server = self.enterContext(Server("--token-file", tokens, *flags))
        return Http(self.server.url, capabilities, self.revision, token=TOKENS[0])

    def second(self, client):
        return Http(self.server.url, revision=self.revision, token=TOKENS[1])


class Cancelling:
    """Of clients whose ids are their own."""

    def test_a_cancelled_call_is_interrupted_and_not_answered(self):
        client = self.client()
        handle = client.python("kept = 1")["session"]
        flag = os.path.join(self.folder, "flag")
        call = self.begin_long_call(client, handle, flag)
        self.cancel(client, call)
        # The session is free again long before the minute is over, with what it had.
        started = time.monotonic()
        self.assertEqual(1, client.python("kept", session=handle)["value"])
        self.assertLess(time.monotonic() - started, 50)
        self.assert_unanswered(client, call)

    def test_a_call_that_waits_for_its_turn_is_cancelled(self):
        client = self.client()
        handle = client.python("ran = False")["session"]
        first = self.begin_long_call(client, handle, None)
        second = self.begin(client, "ran = True", handle)
        self.cancel(client, second)
        self.cancel(client, first)
        self.assertIs(False, client.python("ran", session=handle)["value"])


class StdioHandshake(OverStdio, Cancelling, Case):
    def begin(self, client, code, handle):
        return client.begin("tools/call", {"name": "execute_python", "arguments": {"code": code, "session": handle}},
                            progress=True)

    def begin_long_call(self, client, handle, flag):
        # The progress of the first tool call says that the cell runs.
        number = self.begin(client, "calculator('1')\nimport time\ntime.sleep(60)", handle)
        self.assertEqual("notifications/progress", client._waiting[number].get(timeout=PATIENCE)["method"])
        return number

    def cancel(self, client, number):
        client.notify("notifications/cancelled", {"requestId": number, "reason": "not needed"})

    def assert_unanswered(self, client, number):
        client.request("ping") if client.revision != STATELESS else client.request("tools/list")
        self.assertTrue(client._waiting[number].empty())

    def client(self, *flags, capabilities=None):
        return super().client(*(flags if "--builtin" in flags else (*flags, *CALCULATOR)), capabilities=capabilities)


class StdioStateless(OverStdio, Cancelling, Case):
    revision = STATELESS
    begin = StdioHandshake.begin
    begin_long_call = StdioHandshake.begin_long_call
    cancel = StdioHandshake.cancel
    assert_unanswered = StdioHandshake.assert_unanswered

    def client(self, *flags, capabilities=None):
        return super().client(*(flags if "--builtin" in flags else (*flags, *CALCULATOR)), capabilities=capabilities)


class HttpHandshake(OverHttp, Cancelling, Case):
    def begin(self, client, code, handle):
        return client.begin("tools/call", {"name": "execute_python", "arguments": {"code": code, "session": handle}},
                            progress=True)

    def begin_long_call(self, client, handle, flag):
        reply = self.begin(client, "calculator('1')\nimport time\ntime.sleep(60)", handle)
        self.assertEqual("notifications/progress", next(events(reply.response))["method"])
        return reply

    def cancel(self, client, reply):
        self.assertEqual(202, client.notify("notifications/cancelled", {"requestId": reply.id}).status)

    def assert_unanswered(self, client, reply):
        self.assertEqual([], list(events(reply.response)))

    def client(self, *flags, capabilities=None):
        return super().client(*(flags if "--builtin" in flags else (*flags, *CALCULATOR)), capabilities=capabilities)

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
        client = self.client()
        before = descendants(self.server.process.pid)
        reply = self.begin_long_call(client, client.python("1")["session"], None)
        during = descendants(self.server.process.pid)
        self.assertEqual(204, client.close())
        self.assertEqual([], list(events(reply.response)))
        self.assertTrue(during >= before)

    def test_a_stream_of_the_servers_own(self):
        client = self.client()
        first = client.send("GET", Accept="text/event-stream")
        self.assertEqual([200, True], [first.status, first.stream])
        self.assertEqual(409, client.send("GET", Accept="text/event-stream").status)
        self.assertEqual(406, client.send("GET", Accept="application/json").status)
        client.close()
        self.assertEqual([], list(events(first.response)), "it ends with the session")

    def test_a_call_goes_on_when_its_stream_breaks(self):
        client = self.client()
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
        client = self.client(*CALCULATOR)
        handle = client.python("done = 0")["session"]
        reply = client.begin("tools/call", {"name": "execute_python", "arguments": {
            "code": "calculator('1')\nimport time\ntime.sleep(60)\ndone = 1", "session": handle}}, progress=True)
        self.assertEqual("notifications/progress", next(events(reply.response))["method"])
        reply.response.close()
        started = time.monotonic()
        self.assertEqual(0, client.python("done", session=handle)["value"])
        self.assertLess(time.monotonic() - started, 50)

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
        handle = self.client.python("1")["session"]
        reply = self.client.begin("tools/call", {"name": "execute_python", "arguments": {
            "code": "import time\ntime.sleep(60)", "session": handle}})
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
                self.assertNotEqual(OK, done.returncode)
                self.assertIn("127.0.0.1", done.stderr)
        done = gloveport("serve", "--mcp", "--listen", "127.0.0.1:0", "--allow-host", "glove.example.org")
        self.assertNotEqual(OK, done.returncode)
        self.assertIn("token", done.stderr)

    def test_a_further_host_is_served_with_a_token(self):
        with Server("--allow-host", "glove.example.org", "--allow-origin", "https://app.example.org",
                    GLOVEPORT_MCP_TOKEN=TOKENS[0]) as server:
            client = Http(server.url, token=TOKENS[0])
            self.assertEqual(200, client.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Host="glove.example.org",
                                              Origin="https://app.example.org").status)

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


class Connection(Case):
    """`gloveport mcp` as a process."""

    def test_revisions_are_negotiated(self):
        for asked, agreed in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
                              ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
            with self.subTest(asked=asked), Stdio(revision=asked) as client:
                result = client.initialized.result
                self.assertEqual([agreed, "gloveport", {"tools": {}}],
                                 [result["protocolVersion"], result["serverInfo"]["name"], result["capabilities"]])
                self.assertIn("execute_python", result["instructions"])
                self.assertEqual(-32600, client.request("initialize", {"protocolVersion": asked}).answer["error"]["code"])
                self.assertEqual({}, client.request("ping").result)

    def test_nothing_but_ping_before_the_handshake(self):
        with Stdio(revision=STATELESS) as client:
            for method, code in (("tools/list", -32600), ("server/discover", -32600), ("ping", None)):
                client._waiting["x"] = client.others
                client.send({"jsonrpc": "2.0", "id": "x", "method": method})
                self.assertEqual(code, client.others.get(timeout=PATIENCE).get("error", {}).get("code"))

    def test_both_kinds_of_revision_on_one_connection(self):
        with Stdio() as client:
            handle = client.python("x = 1")["session"]
            params = {"name": "execute_python", "arguments": {"code": "x", "session": handle}, "_meta": meta()}
            result = client.request("tools/call", params).result
            self.assertEqual(["complete", 1], [result["resultType"], result["structuredContent"]["value"]])
            self.assertNotIn("resultType", client.call("list_tools"))

    def test_what_is_no_message_is_answered_and_does_no_harm(self):
        with Stdio() as client:
            for text, code in (("{", -32700), ("[]", -32600), ("5", -32600), ('{"jsonrpc": "2.0"}', -32600),
                               ("[" * 100_000, -32600), ('{"a":' * 50_000, -32700), ('"\\ud800"', -32700),
                               ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600), ("x" * (17 << 20), -32600)):
                with self.subTest(text=text[:60]):
                    client.send_text(text)
                    reply = client.others.get(timeout=PATIENCE)
                    self.assertEqual(code, reply["error"]["code"], reply)
            for answer_to_nothing in ({"id": 99, "result": {}}, {"id": "x", "result": {}}, {"id": 99, "error": {"code": 1}}):
                client.send({"jsonrpc": "2.0", **answer_to_nothing})
            client.notify("notifications/cancelled", {"requestId": 12345})
            client.notify("notifications/cancelled", {"requestId": {"a": [1]}})
            client.notify("notifications/nope")
            self.assertEqual("ok", client.python("1")["status"])

    def test_an_id_in_use_is_refused(self):
        with Stdio(*CALCULATOR) as client:
            number = client.begin("tools/call", {"name": "execute_python", "arguments": {
                "code": "calculator('1')\nimport time\ntime.sleep(2)"}}, progress=True)
            client._waiting[number].get(timeout=PATIENCE)
            client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
                "name": "execute_python", "arguments": {"code": "1"}}})
            self.assertEqual(-32600, client._waiting[number].get(timeout=PATIENCE)["error"]["code"])
            self.assertIn("result", client._waiting[number].get(timeout=PATIENCE))

    def test_too_many_calls_at_once_are_refused(self):
        with Stdio("--max-sessions", "1") as client:
            handle = client.python("import time")["session"]
            calls = [client.begin("tools/call", {"name": "execute_python", "arguments": {
                "code": "time.sleep(0.2)", "session": handle}}) for _ in range(40)]
            kinds = [client.finish(call).result["structuredContent"]["status"] for call in calls]
            self.assertGreaterEqual(kinds.count("ok"), 16)
            self.assertGreater(kinds.count("not_run"), 0)
            self.assertEqual(40, kinds.count("ok") + kinds.count("not_run"))
            self.assertEqual("ok", client.python("1", session=handle)["status"])

    def test_end_of_input_ends_sessions_and_process(self):
        client = Stdio()
        handle = client.python("1")["session"]
        client.begin("tools/call", {"name": "execute_python", "arguments": {"code": "while True: pass", "session": handle}})
        below = descendants(client.process.pid)
        self.assertEqual(OK, client.close(), client.stderr)
        self.assertEqual(set(), wait_until_gone(below))

    def test_calls_that_were_sent_are_answered_after_the_end_of_input(self):
        lines = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}},
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_tools", "_meta": meta()}}]
        done = gloveport("mcp", stdin="".join(json.dumps(line) + "\n" for line in lines))
        self.assertExit(OK, done)
        self.assertEqual({1, 2}, {json.loads(line)["id"] for line in done.stdout.splitlines()})

    def test_a_reader_that_goes_ends_it(self):
        process = subprocess.Popen([GLOVEPORT, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        self.addCleanup(process.stdin.close)
        ask = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "execute_python", "arguments": {"code": "1"}, "_meta": meta()}}).encode() + b"\n"
        process.stdin.write(ask)
        process.stdin.flush()
        process.stdout.readline()
        below = descendants(process.pid)
        self.assertTrue(below)
        process.stdout.close()
        process.stdin.write(ask)
        process.stdin.flush()
        self.assertEqual(OK, process.wait(PATIENCE))
        self.assertEqual(set(), wait_until_gone(below))

    def test_termination_is_an_end_in_order(self):
        client = Stdio("--audit", os.path.join(self.folder, "log"))
        client.python("1")
        client.process.terminate()
        self.assertEqual(OK, client.process.wait(PATIENCE))
        self.assertExit(OK, gloveport("audit", "verify", os.path.join(self.folder, "log")))
        client.close()

    def test_all_of_it_is_in_the_audit_log(self):
        log = os.path.join(self.folder, "log")
        with Stdio("--audit", log, *CALCULATOR, "--policy", ask_policy(self), capabilities=ELICITATION) as client:
            client.on_request = answer("allow")
            self.assertEqual(42, client.python("calculator('6 * 7')")["value"])
        self.assertExit(OK, gloveport("audit", "verify", log))
        records = gloveport("audit", "show", "--json", log).stdout
        self.assertIn("elicitation of the MCP client peer", records)
        self.assertIn("calculator('6 * 7')", records)

    def test_a_hook_has_its_say(self):
        hook = self.write("hook.sh", "#!/bin/sh\ncat > /dev/null\necho '{\"decision\": \"deny\", \"reason\": \"not today\"}'\n")
        os.chmod(hook, 0o755)
        with Stdio("--hook", hook) as client:
            structured = client.python("1")
            self.assertEqual("denied", structured["status"])
            self.assertIn("not today", json.dumps(structured))

    def test_gloveports_own_client_goes_through(self):
        inner = f"inner={GLOVEPORT} mcp --builtin '{CALCULATOR[1]}' --policy {ask_policy(self)}"
        code = "first = execute_python(code='x = 1')\nexecute_python(code='x + 1', session=first['session'])['value']"
        self.assertEqual(2, json.loads(gloveport("exec", "--json", "--mcp", inner, "-c", code).stdout)["value"])
        # Nobody sits there: the question of the inner policy comes back as declined.
        refused = gloveport("exec", "--json", "--mcp", inner, "-c", "execute_python(code='calculator(\"1\")')")
        self.assertIn("needs a person's approval", json.loads(refused.stdout)["error"]["message"])
        self.assertIn("def execute_python(", gloveport("exec", "--mcp", inner, "--tools-pyi").stdout)


if __name__ == "__main__":
    unittest.main()
