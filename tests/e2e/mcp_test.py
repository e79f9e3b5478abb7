#!/usr/bin/python3
"""Tools of real MCP servers in cells: three of npm's, and one made with the official Python SDK.

MCP_SERVERS is a folder with node_modules, MCP_SDK a virtual environment with the package mcp; scripts/test makes both.
What is not there is skipped.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from http_program import HttpServer
from node import find_node
from processes import descendants, wait_until_gone
from programs import FAILED, GLOVEPORT, OK, USAGE, Case, environment, gloveport
from protocol_client import Client
from terminal import Terminal

NODE = find_node(os.environ.get("MCP_SDK", ""), least=18)
SERVERS = os.path.join(os.environ.get("MCP_SERVERS", ""), "node_modules", "@modelcontextprotocol")
SDK = os.path.join(os.environ.get("MCP_SDK", ""), "bin", "python")
SDK_SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sdk_server.py")

HAS_NODE = bool(NODE) and os.path.isdir(SERVERS)
HAS_SDK = os.access(SDK, os.X_OK) and subprocess.run([SDK, "-c", "import mcp"], check=False, capture_output=True).returncode == 0
NODE_REASON = "node is not installed" if not NODE else "the servers of npm are not installed; scripts/test does that"
SDK_REASON = "the Python package mcp is not installed; scripts/test does that"


def server(name, *arguments):
    """The command of one of npm's servers."""
    return " ".join([NODE or "node", os.path.join(SERVERS, f"server-{name}", "dist", "index.js"), *arguments])


def run_code(code, *flags, **options):
    done = gloveport("exec", "--json", *flags, "-c", code, **options)
    return json.loads(done.stdout) if done.stdout else {"failed": done.stderr, "exit": done.returncode}


@unittest.skipUnless(HAS_NODE, NODE_REASON)
class Everything(Case):
    """@modelcontextprotocol/server-everything, over either transport."""

    def flags(self):
        return ["--mcp", "every=" + server("everything")]

    def cell(self, code):
        result = run_code(code, *self.flags())
        self.assertEqual("ok", result.get("outcome"), result)
        return result

    def test_text_and_structured_results(self):
        result = self.cell("[echo('hi'), get_sum(2, 3), get_structured_content(location='Chicago')]")
        text, total, weather = result["value"]
        self.assertEqual("Echo: hi", text)
        self.assertIn("5", total)
        self.assertEqual({"temperature", "conditions", "humidity"}, set(weather))

    def test_signatures_check_arguments_before_the_server_is_asked(self):
        for code in ("get_sum('a', 2)", "get_sum(1)", "get_structured_content('Mars')"):
            with self.subTest(code=code):
                result = run_code(code, *self.flags())
                self.assertEqual("TypeError", result["error"]["type"])

    def test_images_are_shown_and_resources_are_values(self):
        result = self.cell("parts = get_tiny_image()\nprint([type(part).__name__ for part in parts])\ndisplay(parts[1])\n"
                           "len(parts[1])")
        self.assertEqual("['str', 'Image', 'str']\n", result["stdout"])
        self.assertIn("image/png", result["displays"][0])
        self.assertGreater(result["value"], 1000)
        result = self.cell("[part['type'] if isinstance(part, dict) else 'text' for part in get_resource_links(count=2)]")
        self.assertEqual(["text", "resource_link", "resource_link"], result["value"])

    def test_resources_are_listed_and_read(self):
        result = self.cell("first = every_list_resources()[0]\n[first['uri'], every_read_resource(first['uri'])[:20]]")
        self.assertTrue(result["value"][0].startswith("demo://"), result["value"])
        self.assertTrue(result["value"][1])

    def test_calls_run_beside_each_other(self):
        result = self.cell("from concurrent.futures import ThreadPoolExecutor\n"
                           "with ThreadPoolExecutor(4) as pool:\n"
                           "    done = list(pool.map(lambda n: get_sum(n, n), range(8)))\n"
                           "[text.split()[-1] for text in done]")
        self.assertEqual([f"{2 * n}." for n in range(8)], result["value"])

    def test_a_cell_that_runs_out_of_time_leaves_the_call(self):
        result = run_code("trigger_long_running_operation(duration=60, steps=60)", *self.flags(), "--timeout", "1")
        self.assertEqual("timeout", result["outcome"])
        self.assertLess(result["usage"]["wall_s"], 5)

    def test_code_finds_tools(self):
        result = self.cell("print(tools)\nhelp(get_sum)\ntools.search('environment variables', limit=1)")
        self.assertEqual(["get_env() -> object: Returns all environment variables, helpful for debugging MCP server"
                          " configuration"], [re.sub(r"\(\).*?:", "() -> object:", result["value"][0])])
        self.assertIn("Returns the sum of two numbers", result["stdout"])

    def test_a_policy_decides_about_tools(self):
        policy = self.write("policy.json", json.dumps({"extends": "default", "tools": {"rules": [
            {"tool": "get_env", "effect": "deny"}]}}))
        result = run_code("get_env()", *self.flags(), "--policy", policy)
        self.assertNotEqual("ok", result["outcome"])


@unittest.skipUnless(HAS_NODE, NODE_REASON)
class EverythingOverHttp(Everything):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(HttpServer(
            NODE, os.path.join(SERVERS, "server-everything", "dist", "index.js"), "streamableHttp"))

    def flags(self):
        return ["--mcp", f"every={self.server.url}"]

    def test_a_server_that_was_started_again_gets_a_new_session(self):
        with Client([GLOVEPORT, "session", *self.flags()], stderr=subprocess.DEVNULL) as client:
            client.call("open")
            for text in ("before", "after"):
                result = client.call("run", session="s1", code=f"echo({text!r})")["result"]
                self.assertEqual(f"Echo: {text}", result["value"], result)
                self.server.restart()


@unittest.skipUnless(HAS_NODE, NODE_REASON)
class Stdio(Case):
    def test_the_server_has_nothing_of_our_environment(self):
        result = run_code("import json\nsorted(json.loads(get_env()))", "--mcp", "every=" + server("everything"),
                          OUR_SECRET="x")
        self.assertIn("PATH", result["value"])
        self.assertNotIn("OUR_SECRET", result["value"])

    def test_configuration_file_names_servers_and_variables(self):
        config = self.write("mcp.json", json.dumps({"mcpServers": {"every": {
            "command": NODE, "args": [os.path.join(SERVERS, "server-everything", "dist", "index.js")],
            "env": {"GIVEN": "${OUR_SECRET}"}}}}))
        result = run_code("import json\njson.loads(get_env())['GIVEN']", "--mcp-config", config, OUR_SECRET="handed over")
        self.assertEqual("handed over", result["value"])

    def test_they_stand_beside_the_tools_that_come_along(self):
        result = run_code("[calculator('6 * 7'), echo('x')]", "--builtin", '{"calculator": {}}',
                          "--mcp", "every=" + server("everything"))
        self.assertEqual([42, "Echo: x"], result["value"])

    def test_file_system_server(self):
        self.write("a.txt", "content of a")
        flags = ["--mcp", "files=" + server("filesystem", self.folder)]
        result = run_code(f"[list_directory({self.folder!r})['content'], read_text_file({self.folder + '/a.txt'!r})['content']]",
                          *flags)
        self.assertEqual(["[FILE] a.txt", "content of a"], result["value"])
        result = run_code("try:\n    read_text_file('/etc/passwd')\nexcept ToolError as error:\n    print(error)", *flags)
        self.assertIn("Access denied", result["stdout"])

    def test_memory_server_keeps_what_it_was_told(self):
        memory = self.write("memory.json", json.dumps({"mcpServers": {"memory": {
            "command": NODE, "args": [os.path.join(SERVERS, "server-memory", "dist", "index.js")],
            "env": {"MEMORY_FILE_PATH": os.path.join(self.folder, "memory.jsonl")}}}}))
        run_code("create_entities([{'name': 'Ada', 'entityType': 'person', 'observations': ['wrote programs']}])",
                 "--mcp-config", memory)
        result = run_code("search_nodes('programs')['entities'][0]['name']", "--mcp-config", memory)
        self.assertEqual("Ada", result["value"])

    def test_a_call_may_have_a_time_of_its_own(self):
        config = self.write("mcp.json", json.dumps({"mcpServers": {"every": {
            "command": NODE, "args": [os.path.join(SERVERS, "server-everything", "dist", "index.js")], "timeout_s": 0.5}}}))
        result = run_code("try:\n    trigger_long_running_operation(duration=20)\nexcept ToolTimeoutError:\n    print('late')\n"
                          "echo('x')", "--mcp-config", config)
        self.assertEqual(["late\n", "Echo: x"], [result["stdout"], result["value"]])

    def test_two_servers_of_one_kind(self):
        result = run_code("[a_echo('1'), b_echo('2')]", "--mcp", "a=" + server("everything"), "--mcp", "b=" + server("everything"))
        self.assertEqual(["Echo: 1", "Echo: 2"], result["value"])

    def test_tools_lists_signatures(self):
        done = gloveport("tools", "--mcp", "every=" + server("everything"))
        self.assertExit(OK, done)
        self.assertIn("def get_sum(a: float, b: float) -> object:\n", done.stdout)
        self.assertIn("revision 2025-11-25", done.stderr)
        listed = json.loads(gloveport("tools", "--json", "--mcp", "every=" + server("everything")).stdout)
        self.assertIn("echo", [tool["name"] for tool in listed])

    def test_sessions_of_the_protocol_have_them_too(self):
        with Client([GLOVEPORT, "session", "--mcp", "every=" + server("everything")], stderr=subprocess.DEVNULL) as client:
            client.call("open", tools=[{"name": "echo", "parameters": []}])
            self.assertEqual("Echo: x", self.value(client, "s1", "every_echo('x')"))
            copied = client.call("branch", session="s1", count=1)["sessions"][0]
            self.assertEqual("Echo: y", self.value(client, copied, "every_echo('y')"))

    def value(self, client, session, code):
        return client.call("run", session=session, code=code)["result"]["value"]

    def test_an_agent_uses_them(self):
        script = self.write("script.jsonl", json.dumps({"content": "Thought: I add.\n```python\nfinal_answer(get_sum(40, 2))\n```"}))
        done = gloveport("run", "Add", "--model", "scripted:" + script, "--mcp", "every=" + server("everything"))
        self.assertExit(OK, done)
        self.assertIn("42", done.stdout)
        self.assertIn("every: mcp-servers/everything", done.stderr)

    def test_servers_end_with_the_command_however_it_ends(self):
        process = subprocess.Popen([GLOVEPORT, "session", "--mcp", "every=" + server("everything")], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        process.stdin.write(b'{"id":1,"op":"open"}\n')
        process.stdin.flush()
        process.stdout.readline()
        started = descendants(process.pid)
        self.assertTrue(started)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(set(), wait_until_gone(started))


@unittest.skipUnless(HAS_SDK, SDK_REASON)
class Sdk(Case):
    """The official SDK speaks the stateless revision."""

    def flags(self):
        return ["--mcp", f"sdk={SDK} {SDK_SERVER}"]

    def test_stateless_revision(self):
        result = run_code("[revision()['result'], add(1), slow(2)['result']]", *self.flags())
        self.assertEqual(["2026-07-28", {"total": 3, "parts": [1, 2]}, "done"], result["value"])

    def test_an_earlier_revision_where_the_configuration_says_so(self):
        config = self.write("mcp.json", json.dumps({"mcpServers": {"sdk": {
            **({"url": self.flags()[1].partition("=")[2]} if "http" in self.flags()[1] else
               {"command": SDK, "args": [SDK_SERVER]}), "revision": "2025-06-18"}}}))
        result = run_code("revision()['result']", "--mcp-config", config)
        self.assertEqual("2025-06-18", result["value"])

    def test_a_list_that_grows_is_seen_by_the_next_session(self):
        with Client([GLOVEPORT, "session", *self.flags()], stderr=subprocess.DEVNULL) as client:
            client.call("open")
            self.assertEqual("ok", client.call("run", session="s1", code="grow()")["result"]["outcome"])
            end = time.monotonic() + 20
            while time.monotonic() < end:  # the notification comes on its own
                name = client.call("open")["session"]
                seen = client.call("run", session=name, code="'grown' in tools")["result"]["value"]
                client.call("close", session=name)
                if seen:
                    return
            self.fail("the new tool was not seen")

    def test_without_a_terminal_nobody_is_asked(self):
        result = run_code("greet()", *self.flags())
        self.assertEqual("ToolError", result["error"]["type"])

    def test_a_question_is_answered_on_the_terminal(self):
        editor = self.write("editor.sh", "#!/bin/sh\nprintf '{\"name\": \"Ada\"}' > \"$1\"\n")
        os.chmod(editor, 0o755)
        terminal = Terminal(GLOVEPORT, "exec", *self.flags(), "-c", "greet()['result']", EDITOR=editor, VISUAL="")
        at = terminal.wait_for("MCP server sdk asks you: Who is it")
        at = terminal.wait_for(r"\[e\]dit", at)
        self.assertRegex(terminal.text, r"\[a\]lways in this run: what greet asks: MCP server sdk asks you: Who is it\?\n  \[n\]o")
        terminal.type("e\n")
        self.assertEqual(OK, terminal.finish(), terminal.text)
        self.assertIn("Hello Ada", terminal.text)

    def test_a_question_that_is_declined(self):
        terminal = Terminal(GLOVEPORT, "exec", *self.flags(), "-c", "greet()")
        terminal.wait_for(r"\[e\]dit")
        terminal.type("n\n\n")
        self.assertEqual(FAILED, terminal.finish(), terminal.text)
        self.assertIn("ToolError", terminal.text)


@unittest.skipUnless(HAS_SDK, SDK_REASON)
class SdkOverHttp(Sdk):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(HttpServer(SDK, SDK_SERVER, "PORT"))

    def flags(self):
        return ["--mcp", f"sdk={self.server.url}"]


class Mistakes(Case):
    def test_what_is_named_wrongly_is_a_matter_of_usage(self):
        config = self.write("mcp.json", '{"mcpServers": {"a": {"command": "x", "args": "y"}}}')
        for flags, text in ((["--mcp", "npx"], "NAME=COMMAND"), (["--mcp", "a=no-such-program-anywhere"], "MCP server a"),
                            (["--mcp-config", config], '"args" must be a list'),
                            (["--mcp-config", self.folder + "/none"], "--mcp-config")):
            with self.subTest(flags=flags):
                done = gloveport("exec", *flags, "-c", "1")
                self.assertExit(USAGE, done)
                self.assertIn(text, done.stderr)

    def test_a_server_that_ends_at_once_is_told_with_its_last_words(self):
        done = gloveport("exec", "--mcp", "a=/bin/sh -c 'echo no database >&2; exit 7'", "-c", "1")
        self.assertExit(FAILED, done)
        self.assertIn("MCP server a: ", done.stderr)
        self.assertIn("exit code 7", done.stderr)
        self.assertIn("no database", done.stderr)

    def test_without_servers_there_are_no_tools(self):
        self.assertEqual("", gloveport("tools").stdout)


if __name__ == "__main__":
    if not HAS_NODE and not HAS_SDK:
        print(f"{NODE_REASON}; {SDK_REASON}")
        sys.exit(77)
    unittest.main()
