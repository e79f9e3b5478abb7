#!/usr/bin/python3
"""The tools that come with Gloveport, as cells use them: exec, session and run with --builtin."""

import json
import os
import sqlite3
import time
import unittest

from loopback_server import Handler, LoopbackServer
from programs import FAILED, GLOVEPORT, OK, USAGE, Case, environment, gloveport
from protocol_client import Client
from terminal import Terminal

SECRET = "s3cr3t-of-the-host"


class Echo(LoopbackServer):
    """A server that answers with the headers of the request."""

    def __init__(self):
        self.headers = []
        headers = self.headers

        class Echoing(Handler):
            def do_GET(self):  # noqa: N802 - the name that http.server calls
                headers.append(dict(self.headers))
                body = json.dumps(headers[-1]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        super().__init__(Echoing)


class Builtin(Case):
    def exec(self, config, code, *arguments, **changes):
        config = config if isinstance(config, str) else json.dumps(config)
        return gloveport("exec", "--builtin", config, *arguments, "-c", code, **changes)

    def test_files_and_databases_of_a_configuration_beside_them(self):
        os.mkdir(os.path.join(self.folder, "reports"))
        self.write("reports/may.log", "fine\nERROR disk\n")
        with sqlite3.connect(os.path.join(self.folder, "sales.db")) as database:
            database.execute("CREATE TABLE sales (month TEXT, amount REAL)")
            database.executemany("INSERT INTO sales VALUES (?, ?)", [("may", 1.5), ("june", 2.5)])
        database.close()
        config = self.write("tools.json", """{
            "files": {"folders": {"reports": "reports"}},  // beside this file
            "sql": {"databases": {"main": "sales.db"}}
        }""")
        done = self.exec(config, "import json\n"
                         "print(json.dumps([read_text('reports/may.log', 2), search_files('ERROR')['matches'],\n"
                         "    list_files('reports'), sql_query('SELECT amount FROM sales WHERE month = :m', {'m': 'may'})['rows'],\n"
                         "    sql_query('SELECT sum(amount) AS total FROM sales')['columns']]))")
        self.assertExit(OK, done)
        self.assertEqual(["ERROR disk\n", [{"path": "reports/may.log", "line": 2, "text": "ERROR disk"}],
                          [{"path": "reports/may.log", "size_bytes": 16}], [[1.5]], ["total"]], json.loads(done.stdout))
        refused = self.exec(config, "sql_query('DELETE FROM sales')")
        self.assertExit(FAILED, refused)
        self.assertIn("ToolError: sql_query() reads only", refused.stderr)
        self.assertIn("leads out of the folder", self.exec(config, "read_text('reports/../sales.db')").stderr)

    def test_memory_outlives_the_session(self):
        config = {"memory": {"file": os.path.join(self.folder, "memory.json")}}
        self.assertExit(OK, self.exec(config, "import datetime\nremember('seen', (1, datetime.date(2026, 5, 1)))"))
        done = self.exec(config, "recall('seen'), recall_keys(), recall('none', 7)")
        self.assertEqual("((1, datetime.date(2026, 5, 1)), ['seen'], 7)\n", done.stdout)

    def test_a_secret_reaches_the_server_and_nothing_else(self):
        log = os.path.join(self.folder, "audit.jsonl")
        with Echo() as echo:
            config = {"http": {"hosts": [echo.host],
                               "secrets": {echo.host: {"header": "Authorization", "prefix": "Bearer ", "env": "TOKEN"}}}}
            done = self.exec(config, f"http_get('http://{echo.host}/')", "--json", "--audit", log, TOKEN=SECRET)
        self.assertExit(OK, done)
        self.assertEqual("Bearer " + SECRET, echo.headers[0]["Authorization"])
        self.assertIn("Bearer [secret]", json.loads(done.stdout)["value"]["text"])
        with open(log, encoding="utf-8") as file:
            recorded = file.read()
        self.assertIn("http_get", recorded)
        for text in (done.stdout, done.stderr, recorded):
            self.assertNotIn(SECRET, text)

    def test_an_address_of_this_machine_needs_to_be_listed(self):
        with Echo() as echo:
            port = echo.host.rpartition(":")[2]
            config = {"http": {"hosts": [f"localhost:{port}"]}}
            self.assertIn("not public", self.exec(config, f"http_get('http://localhost:{port}/')").stderr)
            self.assertEqual([], echo.headers)
            config["http"]["private_networks"] = ["127.0.0.0/8", "::1"]
            self.assertExit(OK, self.exec(config, f"http_get('http://localhost:{port}/')"))

    def test_policy_rules_hold_for_these_tools_too(self):
        policy = self.write("policy.json", json.dumps(
            {"extends": "default", "tools": {"rules": [
                {"tool": "calculator", "effect": "deny", "where": {"expression": {"matches": "\\*\\*"}}}]}}))
        self.assertEqual("6\n", self.exec({"calculator": {}}, "calculator('2 * 3')", "-p", policy).stdout)
        self.assertIn("PermissionError", self.exec({"calculator": {}}, "calculator('2 ** 3')", "-p", policy).stderr)

    def test_what_is_wrong_with_the_configuration_is_a_matter_of_usage(self):
        for config, message in (({"htp": {}}, "htp: unknown key"), ({"http": {"hosts": []}}, "no hosts"),
                                ("none.json", "none.json"), ("{", "line 1"),
                                ({"http": {"hosts": ["a.example"], "secrets": {"a.example": {"env": "ABSENT_X"}}}},
                                 "ABSENT_X is not set")):
            with self.subTest(config=config):
                done = self.exec(config, "1")
                self.assertExit(USAGE, done)
                self.assertIn(message, done.stderr)

    def test_sessions_of_the_protocol_have_them_besides_their_own(self):
        client = Client([GLOVEPORT, "session", "--builtin", '{"calculator": {}}'], env=environment())
        self.addCleanup(client.close)
        double = {"name": "double", "description": "", "parameters": [{"name": "x"}]}
        session = client.open("default", [double], {"double": lambda args: 2 * args["x"]})
        self.assertEqual(12, session.run("double(calculator('2 * 3'))")["value"])
        branch = client.call("branch", session=session.name)["sessions"][0]
        self.assertEqual(7, client.call("run", session=branch, code="calculator('3 + 4')")["result"]["value"])
        with self.assertRaisesRegex(Exception, "already a tool 'calculator'"):
            client.open("default", [{**double, "name": "calculator"}], {})

    def test_a_check_of_the_protocol_knows_them(self):
        client = Client([GLOVEPORT, "session", "--builtin", '{"calculator": {}}'], env=environment())
        self.addCleanup(client.close)
        policy = {"extends": "default", "cost": {"deny_above": 5, "prices": {"calculator": 1, "double": 2}}}
        double = {"name": "double", "parameters": [{"name": "x"}]}

        def decision(code):
            return client.call("check", policy=policy, code=code, tools=[double, "other"])["verdict"]["decision"]

        self.assertEqual("allow", decision("[calculator('1') for i in range(5)]"))
        self.assertEqual("deny", decision("[calculator('1') for i in range(6)]"))
        self.assertEqual("deny", decision("[double(1) for i in range(3)]"))
        with self.assertRaisesRegex(Exception, "already a tool 'calculator'"):
            client.call("check", code="1", tools=[{**double, "name": "calculator"}])

    def test_tools_lists_them(self):
        done = gloveport("tools", "--builtin", '{"calculator": {}, "regex": {}}', "--brief")
        self.assertExit(OK, done)
        self.assertIn("calculator(expression)", done.stdout)
        self.assertIn("regex_search(", done.stdout)
        self.assertExit(USAGE, gloveport("tools", "--builtin", '{"calculators": {}}'))

    def test_a_replay_may_call_them_again(self):
        log = os.path.join(self.folder, "log.jsonl")
        memory = '{"memory": {"file": "' + os.path.join(self.folder, "memory.json") + '"}}'
        self.exec(memory, "remember('a', 1)")
        recorded = self.exec(memory, "recall('a')", "--audit", log)
        self.assertExit(OK, recorded)
        self.exec(memory, "remember('a', 2)")
        self.assertExit(OK, gloveport("replay", log))
        self.assertExit(OK, gloveport("replay", log, "--builtin", memory))  # the record has the answer
        live = gloveport("replay", log, "--against", "live", "--builtin", memory)
        self.assertEqual(1, live.returncode, live.stdout + live.stderr)
        self.assertIn("recorded", live.stdout)

    def test_run_grants_them_to_the_model(self):
        script = self.write("script.jsonl", json.dumps(
            {"content": "Thought: sum.\n```python\nfinal_answer(calculator('0.1 + 0.2'), 'sum')\n```"}) + "\n")
        done = gloveport("run", "add", "--model", f"scripted:{script}", "--builtin", '{"calculator": {}}')
        self.assertExit(OK, done)
        self.assertEqual("0.3\n", done.stdout)
        self.assertIn("calculator(expression: str)", done.stderr)


class AskUser(unittest.TestCase):
    def start(self, code, *arguments):
        return Terminal(GLOVEPORT, "exec", "--builtin", '{"ask_user": {}}', *arguments, "-c", code)

    def test_a_person_answers_and_the_clock_of_the_cell_stands_still(self):
        terminal = self.start("print('got', ask_user('Which \\x1b[31mmonth?'), ask_user('Sure?', ['yes', 'no']))", "--timeout", "1")
        asked = terminal.wait_for(r"\| Which \\x1b\[31mmonth\?")
        terminal.wait_for("Your answer", asked)
        time.sleep(1.5)  # there is no event to wait for: the cell has less time than this
        terminal.type("may\n")
        terminal.wait_for("2\\) no", asked)
        terminal.type("7\n")
        terminal.wait_for("(?s)Number.*Number", asked)
        terminal.type("2\n")
        terminal.wait_for("got may no")
        self.assertEqual(OK, terminal.finish())

    def test_a_client_of_the_protocol_is_asked(self):
        client = Client([GLOVEPORT, "session", "--builtin", '{"ask_user": {"timeout_s": 60}}'], env=environment())
        self.addCleanup(client.close)
        session = client.open("default", [], {}).name
        asked = []

        def answer(message):
            if message["event"] != "question":
                return
            asked.append(message)
            number = message["question"]
            if message.get("choices"):
                client.send_raw(json.dumps({"id": "bad", "op": "answer", "question": number, "answer": "maybe"}))
                client.send_raw(json.dumps({"id": "worse", "op": "answer", "question": number, "answer": 7}))
            client.send_raw(json.dumps({"op": "answer", "question": number, "answer": "no"}))
            client.send_raw(json.dumps({"id": "late", "op": "answer", "question": number, "answer": "yes"}))

        code = "[ask_user('Which?'), ask_user('Sure?', ['yes', 'no'])]"
        result = client.call("run", answer, session=session, code=code, timeout_s=30)["result"]
        self.assertEqual(["no", "no"], result["value"], result)
        self.assertEqual([("Which?", None, session), ("Sure?", ["yes", "no"], session)],
                         [(event["text"], event.get("choices"), event["session"]) for event in asked])
        client.call("list_files", session=session)  # behind the replies to what was sent above
        codes = [(reply["id"], reply["error"]["code"]) for reply in client.unsolicited]
        self.assertEqual([("late", "not_found"), ("bad", "invalid_argument"), ("worse", "invalid_argument"),
                          ("late", "not_found")], codes)

    def test_a_client_that_does_not_answer_is_waited_for_no_longer_than_it_may(self):
        client = Client([GLOVEPORT, "session", "--builtin", '{"ask_user": {"timeout_s": 0.2}}'], env=environment())
        self.addCleanup(client.close)
        session = client.open("default", [], {}).name
        events = []
        code = "try: ask_user('Which?')\nexcept ToolError as error: print(error)"
        result = client.call("run", events.append, session=session, code=code)["result"]
        self.assertIn("nobody answered in time", result["stdout"])
        self.assertEqual(["question", "question_withdrawn"], [event["event"] for event in events][:2])
        refused = []

        def refuse(message):
            if message["event"] == "question":
                refused.append(message)
                client.send_raw(json.dumps({"op": "answer", "question": message["question"], "answer": None}))

        branch = client.call("branch", session=session)["sessions"][0]
        code = "try: ask_user('Which?')\nexcept ToolError as error: print(error)"
        result = client.call("run", refuse, session=branch, code=code)["result"]
        self.assertTrue(refused)
        self.assertEqual(branch, refused[0]["session"])

    def test_a_client_that_closes_its_input_answers_nothing(self):
        client = Client([GLOVEPORT, "session", "--builtin", '{"ask_user": {}}'], env=environment())
        session = client.open("default", [], {}).name
        code = "try: ask_user('Which?')\nexcept ToolError as error: print(error)"
        exchange = client.start("run", session=session, code=code)
        result = client.finish(exchange, lambda message: message["event"] == "question" and client.discard_input())["result"]
        self.assertIn("did not want to answer", result["stdout"])
        self.assertEqual(0, client.close())

    def test_no_answer_is_an_error_that_code_can_deal_with(self):
        terminal = self.start("try: ask_user('Which?')\nexcept ToolError as error: print('no:', error)")
        terminal.wait_for("Your answer")
        terminal.type("\n")
        terminal.wait_for("no: .*did not want to answer")
        self.assertEqual(OK, terminal.finish())


if __name__ == "__main__":
    unittest.main()
