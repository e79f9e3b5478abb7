#!/usr/bin/python3
"""The client that the conformance suite starts: a gloveport command for each scenario.

client.py URL. The suite names the scenario in MCP_CONFORMANCE_SCENARIO, and says in MCP_CONFORMANCE_CONTEXT what some of
them shall send. What a scenario asks for happens in a cell; questions of the server are answered at a terminal.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "e2e"))
from programs import GLOVEPORT, run  # noqa: E402
from terminal import Terminal  # noqa: E402

# Scenario: a cell. All others connect and list the tools.
CELLS = {
    "tools_call": "add_numbers(5, 3)",
    "sse-retry": "test_reconnection()",
    "http-standard-headers": "[test_headers(), my_hyphenated_tool(), [s_read_resource(one['uri']) for one in s_list_resources()]]",
    "http-invalid-tool-headers": "valid_tool('us-west1')",
    "json-schema-ref-no-deref": "lookup_user('1', profile={})",
    "elicitation-sep1034-client-defaults": "test_client_elicitation_defaults()",
    "sep-2322-client-request-state":
        "[test_mrtr_echo_state(), test_mrtr_unrelated(), test_mrtr_no_state(), test_mrtr_no_result_type()]",
}
# How often a person is asked; they take what is proposed.
QUESTIONS = {"elicitation-sep1034-client-defaults": 1, "sep-2322-client-request-state": 2}


def cell_of(scenario):
    calls = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}").get("toolCalls")
    if calls:
        return "\n".join(f"{call['name']}(**{call['arguments']!r})" for call in calls)
    return CELLS.get(scenario)


def at_terminal(command, questions):
    terminal = Terminal(*command)
    at = 0
    for _ in range(questions):
        at = terminal.wait_for(r"\[e\]dit", at, timeout=120)
        terminal.type("y\n")
    code = terminal.finish(120)
    print(terminal.text)
    return code


def main():
    scenario, url = os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[1]
    cell = cell_of(scenario)
    flags = ["--mcp", f"s={url}"]
    command = [GLOVEPORT, "tools", *flags] if cell is None else [GLOVEPORT, "exec", "--timeout", "120", *flags, "-c", cell]
    if scenario in QUESTIONS:
        return at_terminal(command, QUESTIONS[scenario])
    done = run(*command, timeout=240)
    print(done.stdout)
    print(done.stderr, file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
