"""What holds for the MCP server over every transport and in every revision, mixed into cases of each."""

import json
import time

import jsonschema

from mcp_peer import HANDSHAKE, PATIENCE, Http, Server, Stdio
from programs import GLOVEPORT

CALCULATOR = ("--builtin", '{"calculator": {}}')
ELICITATION = {"elicitation": {}}
TOKENS = ("first-client-0123456789", "second-client-0123456789")


FOREVER = "import time\ntime.sleep(900)"  # longer than any test waits


def patient(case):
    """Flags: a policy under which that is not stopped before, and a tool whose call tells that a cell runs."""
    return (*CALCULATOR, "--policy", case.write("patient.json", json.dumps({"extends": "default", "limits": {"wall_s": 1000}})))


def ask_policy(case, **more):
    return case.write("ask.json", json.dumps({"extends": "default", **more, "tools": {"rules": [
        {"tool": "calculator", "effect": "ask"}]}}))


def answer(decision):
    """What a client answers to each elicitation."""
    return lambda request: {"action": "accept", "content": {"decision": decision}}


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

    def test_the_session_that_was_idle_for_longest_makes_room(self):
        client = self.client("--max-sessions", "2")
        first, second = (client.python("x = 1")["session"] for _ in range(2))
        self.assertEqual(1, client.python("x", session=first)["value"])
        client.python("1")
        gone = client.python("x", session=second)
        self.assertEqual("not_run", gone["status"])
        self.assertIn("to make room", gone["error"]["message"])
        self.assertEqual(1, client.python("x", session=first)["value"])

    def test_where_code_runs_in_all_sessions_another_one_is_refused(self):
        client = self.client("--max-sessions", "1", *patient(self))
        handle = client.python("1")["session"]
        call = client.begin("tools/call", {"name": "execute_python", "arguments": {"code": FOREVER, "session": handle}})
        full = client.python("1")
        self.assertEqual(["not_run", "LimitError"], [full["status"], full["error"]["type"]])
        self.assertIn("reset_session", full["error"]["message"])
        client.call("reset_session", {"session": handle, "close": True})
        ended = client.finish(call).result["structuredContent"]
        self.assertEqual([None, "lost" if ended["status"] != "not_run" else "kept"], [ended["session"], ended["state"]])
        self.assertEqual("ok", client.python("1")["status"])

    def test_calls_of_one_session_run_in_the_order_in_which_they_came(self):
        client = self.client()
        handle = client.python("seen = []")["session"]
        calls = [client.begin("tools/call", {"name": "execute_python", "arguments": {
            "code": f"seen.append({number})", "session": handle}}) for number in range(8)]
        for call in calls:
            client.finish(call)
        self.assertEqual(list(range(8)), client.python("seen", session=handle)["value"])

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
        client = self.client(*patient(self))
        busy, free = (client.python("1")["session"] for _ in range(2))
        call = client.begin("tools/call", {"name": "execute_python", "arguments": {"code": FOREVER, "session": busy}})
        self.assertEqual(2, client.python("2", session=free)["value"])
        client.call("reset_session", {"session": busy, "close": True})
        self.assertNotEqual("ok", client.finish(call).result["structuredContent"]["status"])

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
        self.assertIn('call calculator with:\n| expression = "6 * 7"\n', form["message"])
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
    """Of cases that can cancel: the end of a wait is the proof, for nothing else would end it in time."""

    def begin(self, client, code, handle):
        return client.begin("tools/call", {"name": "execute_python", "arguments": {"code": code, "session": handle}},
                            progress=True)

    def test_a_cancelled_call_is_interrupted_and_not_answered(self):
        client = self.client(*patient(self))
        handle = client.python("kept = 1")["session"]
        call = self.begin(client, "calculator('1')\n" + FOREVER, handle)
        self.await_progress(client, call)
        self.cancel(client, call)
        self.assertEqual(1, client.python("kept", session=handle)["value"])
        self.assert_unanswered(client, call)

    def test_a_call_that_waits_for_its_turn_is_cancelled(self):
        client = self.client(*patient(self))
        handle = client.python("ran = False")["session"]
        first = self.begin(client, "calculator('1')\n" + FOREVER, handle)
        self.await_progress(client, first)
        second = self.begin(client, "ran = True", handle)
        self.cancel(client, second)
        self.cancel(client, first)
        self.assertIs(False, client.python("ran", session=handle)["value"])
