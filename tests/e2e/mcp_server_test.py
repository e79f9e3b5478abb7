#!/usr/bin/python3
"""`gloveport mcp`, driven by plain JSON-RPC in both kinds of revision, and what README.md shows of it."""

import json
import os
import re
import shutil
import subprocess
import unittest

from mcp_cases import CALCULATOR, ELICITATION, FOREVER, Cancelling, OverStdio, answer, ask_policy, patient
from mcp_peer import PATIENCE, STATELESS, Server, Stdio, meta
from processes import descendants, wait_until_gone
from programs import GLOVEPORT, OK, SOURCE, Case, environment, gloveport, run


class StdioHandshake(OverStdio, Cancelling, Case):
    def await_progress(self, client, number):
        self.assertEqual("notifications/progress", client.next_of(number)["method"])

    def cancel(self, client, number):
        client.notify("notifications/cancelled", {"requestId": number, "reason": "not needed"})

    def assert_unanswered(self, client, number):
        client.request("tools/list")  # what came before its answer has been read
        self.assertFalse(client.has_more_of(number))


class StdioStateless(StdioHandshake):
    revision = STATELESS


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

    def test_an_answer_that_is_none_is_a_refusal_and_is_not_answered(self):
        for wrong in ({"result": "x"}, {"error": 5}, {"error": {"code": -32601, "message": "no"}}):
            with self.subTest(wrong=wrong), Stdio(*CALCULATOR, "--policy", ask_policy(self), capabilities=ELICITATION) as client:
                def on_request(request, client=client, wrong=wrong):
                    client.send({"jsonrpc": "2.0", "id": request["id"], **wrong})

                client.on_request = on_request
                self.assertIn("no valid answer", client.python("calculator('1')")["error"]["message"])
                self.assertTrue(client.others.empty())

    def test_large_answers_at_the_same_time(self):
        with Stdio() as client:
            code = ("class Picture:\n    def _repr_png_(self):\n        return (b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\x0dIHDR'"
                    " + b'\\0\\0\\0\\x01' * 2 + bytes(8_000_000))\ndisplay(Picture())")
            calls = [client.begin("tools/call", {"name": "execute_python", "arguments": {"code": code}}) for _ in range(8)]
            for call in calls:
                self.assertEqual(1, client.finish(call).result["structuredContent"]["images"])

    def test_an_id_in_use_is_refused(self):
        with Stdio(*patient(self)) as client:
            number = client.begin("tools/call", {"name": "execute_python", "arguments": {
                "code": "calculator('1')\n" + FOREVER}}, progress=True)
            client.next_of(number)
            client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
                "name": "execute_python", "arguments": {"code": "1"}}})
            self.assertEqual(-32600, client.next_of(number)["error"]["code"])
            client.notify("notifications/cancelled", {"requestId": number})

    def test_too_many_calls_at_once_are_refused(self):
        with Stdio(*patient(self)) as client:
            handle = client.python("1")["session"]
            calls = [client.begin("tools/call", {"name": "execute_python", "arguments": {
                "code": FOREVER, "session": handle}}) for _ in range(20)]
            refused = [client.finish(call).result["structuredContent"] for call in calls[16:]]
            self.assertEqual([("not_run", "LimitError")] * 4, [(one["status"], one["error"]["type"]) for one in refused])
            client.call("reset_session", {"session": handle, "close": True})
            ended = [client.finish(call).result["structuredContent"]["status"] for call in calls[:16]]
            self.assertNotIn("ok", ended)
            self.assertEqual("ok", client.python("1")["status"])

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


class Readme(Case):
    """What README.md shows, as a new user would try it."""

    def setUp(self):
        super().setUp()
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as page:
            self.section = page.read().split("\n## For MCP clients\n")[1].split("\n## ")[0]

    def test_configuration_of_a_client(self):
        shown = json.loads(re.search(r"```json\n(.*?)```", self.section, re.DOTALL).group(1))["mcpServers"]["python"]
        self.assertEqual(["gloveport", "mcp"], [shown["command"], shown["args"][0]])
        config = self.write("mcp.json", json.dumps({"mcpServers": {"python": {**shown, "command": GLOVEPORT}}}))
        done = gloveport("exec", "--json", "--mcp-config", config, "-c", "execute_python(code='calculator(\"6 * 7\")')['value']")
        self.assertEqual(42, json.loads(done.stdout)["value"], done.stdout)

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed")
    def test_a_request_by_hand(self):
        command = re.search(r"```\n(curl .*?)```", self.section, re.DOTALL).group(1)
        with Server() as server:
            done = run("/bin/sh", "-c", command.replace("http://127.0.0.1:8931/mcp", server.url))
        self.assertExit(OK, done)
        result = json.loads(done.stdout[done.stdout.index("{"):])["result"]
        self.assertEqual([42, "hello\n"], [result["structuredContent"][key] for key in ("value", "stdout")])


if __name__ == "__main__":
    unittest.main()
