"""Tools of MCP servers in sessions of this process."""
import json
import os
import select
import sys

import pytest

import gloveport

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core", "mcp", "fake_server.py")


def command(*options):
    return f"fake={sys.executable} {SERVER} {' '.join(options)}"


def test_tools_of_a_server_are_functions_of_a_cell(runtime):
    tools = gloveport.mcp_tools(command(), runtime=runtime)
    with runtime.open(tools=[*tools, gloveport.tool(lambda n: n + 1, name="more")]) as session:
        assert session.eval("echo('a')") == "a"
        assert session.eval("add(more(1), 2)") == {"sum": 4}  # checked against its output schema
        assert session.run("echo(5)").error.type == "TypeError"
        failed = session.run("fail()").error
        assert failed.type == "ToolError"
    del tools, session


def test_configuration_of_other_clients(runtime, tmp_path):
    config = {"mcpServers": {"one": {"command": sys.executable, "args": [SERVER]},
                             "two": {"command": sys.executable, "args": [SERVER, "--stateless"]}}}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(config))
    for given in (config, file, str(file)):
        names = [gloveport._tools.name_of(tool) for tool in gloveport.mcp_tools(config=given, runtime=runtime)]
        assert "one_echo" in names and "two_echo" in names  # both have it


def test_policy_decides_about_calls(runtime):
    policy = {"extends": "default", "tools": {"rules": [{"tool": "echo", "effect": "deny"}]}}
    with runtime.open(policy, tools=gloveport.mcp_tools(command(), runtime=runtime)) as session:
        assert "echo" in session.run("echo('a')").error.message
        assert session.eval("add(1, 2)") == {"sum": 3}


def test_servers_that_cannot_be_had_say_why(runtime):
    for server, error, text in ((command("--dies-at-start"), gloveport.Error, "fake"), ("no equals sign", gloveport.InvalidArgument, "NAME="),
                                ("a=/no/such/program", gloveport.Error, "/no/such/program")):
        with pytest.raises(error, match=text):
            gloveport.mcp_tools(server, runtime=runtime)
    with pytest.raises(gloveport.InvalidArgument, match="mcpServers"):
        gloveport.mcp_tools(config={"servers": {}}, runtime=runtime)


def test_fork_leaves_the_servers_alone(runtime):
    tools = gloveport.mcp_tools(command(), runtime=runtime)
    child = os.fork()
    if child == 0:
        tools.clear()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with runtime.open(tools=tools) as session:
        assert session.eval("echo('still there')") == "still there"


def test_servers_end_with_their_tools(runtime):
    tools = gloveport.mcp_tools(command(), runtime=runtime)
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _is_ours(entry)]
    assert len(pids) == 1
    process = os.pidfd_open(pids[0])
    del tools
    assert select.select([process], [], [], 30)[0]
    os.close(process)


def _is_ours(entry):
    try:
        with open(f"/proc/{entry}/cmdline", encoding="utf-8") as file, open(f"/proc/{entry}/stat", encoding="utf-8") as stat:
            return SERVER in file.read() and stat.read().rpartition(")")[2].split()[1] == str(os.getpid())
    except OSError:
        return False
