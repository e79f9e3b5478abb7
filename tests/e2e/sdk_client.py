"""A client of an MCP server, made with the official Python SDK and led by lines of JSON on standard input (sdk_clients.py has
the other end).
"""

import json
import sys

import anyio
import anyio.to_thread
from mcp import types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def filled(schema):
    """What a person who agrees to all of it would put into a form."""
    content = {}
    for name, field in schema.get("properties", {}).items():
        choices = field.get("enum") or [choice["const"] for choice in field.get("oneOf", [])]
        content[name] = field.get("default", choices[0] if choices else {"boolean": True, "string": "x"}.get(field.get("type"), 1))
    return content


class Led:
    def __init__(self, command):
        self.answer = command.get("answer")
        self.questions = []
        target = command["target"]
        if "url" in target:
            self.server = streamable_http_client(target["url"], http_client=create_mcp_http_client(headers=target.get("headers")))
        else:
            program, *arguments = target["command"]
            self.server = StdioServerParameters(command=program, args=arguments, env=target.get("env"))
        # "auto": the server is asked which revisions it has, and must have the newest.
        self.mode = "auto" if command["revision"] >= "2026" else "legacy"

    def client(self):
        return Client(self.server, mode=self.mode, elicitation_callback=self.elicit if self.answer else None)

    async def elicit(self, _, params):
        schema = getattr(params, "requested_schema", None) or {}
        self.questions.append({"message": params.message, "schema": schema})
        if self.answer == "accept":
            return types.ElicitResult(action="accept", content=filled(schema))
        return types.ElicitResult(action=self.answer)

    async def call(self, client, command):
        progress, self.questions = [], []
        with anyio.CancelScope() as scope:
            async def on_progress(value, total, message):
                progress.append({"progress": value, "total": total, "message": message})
                if command.get("cancel"):
                    scope.cancel()
            try:
                result = await client.call_tool(command["name"], command["arguments"], progress_callback=on_progress)
                said = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is told
                said = {"error": f"{type(error).__name__}: {error}"}
        if scope.cancelled_caught:
            said = {"error": "cancelled"}
        return {**said, "progress": progress, "questions": self.questions}


async def next_command():
    line = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    return json.loads(line) if line else {"op": "close"}


def reasons(error):
    return [text for part in getattr(error, "exceptions", []) for text in reasons(part)] or [f"{type(error).__name__}: {error}"]


def say(**message):
    print(json.dumps(message), flush=True)


async def main():
    led = Led(await next_command())
    async with led.client() as client:
        say(revision=client.protocol_version, server=client.server_info.name if client.server_info else None)
        while True:
            command = await next_command()
            if command["op"] == "close":
                break
            if command["op"] == "tools":
                listed = await client.list_tools()
                say(tools=[tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools])
            else:
                say(**await led.call(client, command))
    say(closed=True)


try:
    anyio.run(main)
except BaseException as error:  # noqa: B036 - groups of errors too
    say(error="; ".join(reasons(error)))
