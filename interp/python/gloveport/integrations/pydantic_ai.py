"""A tool for Pydantic AI that runs Python confined, with other functions as its tools.

    from gloveport.integrations.pydantic_ai import python_tool

    agent = Agent(model, tools=[python_tool(policy="default", tools=[search, contact_cost])])

The code mode of pydantic-ai-harness has Monty as its sandbox and no place for another; this is a tool of its own beside it.
"""
from __future__ import annotations

from typing import Any, Iterable, Union

import pydantic_ai

from .._policy import PolicyLike
from ._code_tool import CodeTool

__all__ = ["python_tool"]


def python_tool(policy: PolicyLike = "default", tools: Union[None, Iterable, dict] = None, name: str = "python",
                **options: Any) -> pydantic_ai.Tool:
    """A Tool with one parameter, the code. ``tools`` are functions or Gloveport's tools; ``options`` those of Session.

    Its session is opened with the first call; ``python_tool(...).metadata["gloveport"].close()`` ends it.
    """
    code = CodeTool(policy, tools, **options)

    async def run(code_text: str) -> str:
        return await code.run_async(code_text)

    schema = {"type": "object", "properties": {"code_text": {"type": "string", "description": "Python code"}},
              "required": ["code_text"], "additionalProperties": False}
    made = pydantic_ai.Tool.from_schema(run, name=name, description=code.description, json_schema=schema)
    made.metadata = {"gloveport": code}
    return made
