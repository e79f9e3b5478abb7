"""An MCP server made with the official Python SDK, which speaks the stateless revision and those before it.

sdk_server.py [PORT]: over stdio, or over streamable HTTP on a port of 127.0.0.1.
"""

import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("sdk")


class Sum(BaseModel):
    total: int
    parts: list[int]


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int = 2) -> Sum:
    """Adds two integers."""
    return Sum(total=a + b, parts=[a, b])


@server.tool()
def revision(ctx: Context) -> str:
    """The revision that this call was made in."""
    return ctx.protocol_version or "none"


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Reports its progress."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    return "done"


async def ask_name() -> Elicit[Name]:
    return Elicit("Who is it?", Name)


@server.tool()
def greet(who: Annotated[Name, Resolve(ask_name)]) -> str:
    """Asks for a name and greets."""
    return f"Hello {who.name}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool and tells of it."""
    server.add_tool(add, name="grown")
    await ctx.notify_tools_changed()
    return "grown"


if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
