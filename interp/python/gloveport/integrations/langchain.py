"""A tool for LangChain and LangGraph that runs Python confined, with other tools as its functions.

    from gloveport.integrations.langchain import python_tool

    agent = create_agent(model, tools=[python_tool(policy="default", tools=[search, contact_cost])])
"""
from __future__ import annotations

from typing import Any, Iterable, Union

from langchain_core.tools import BaseTool, StructuredTool

from .. import tool
from .._policy import PolicyLike
from ._code_tool import CodeTool

__all__ = ["python_tool"]


def python_tool(policy: PolicyLike = "default", tools: Union[None, Iterable] = None, name: str = "python",
                **options: Any) -> StructuredTool:
    """A StructuredTool with one parameter, the code. ``tools`` are functions, Gloveport's tools, or tools of LangChain.

    Its session is opened with the first call; ``python_tool(...).metadata["gloveport"].close()`` ends it. ``options`` are
    those of Session.
    """
    code = CodeTool(policy, [_as_tool(found) for found in tools or ()], **options)
    return StructuredTool.from_function(func=code.run, coroutine=code.run_async, name=name, description=code.description,
                                        args_schema={"type": "object", "properties": {"code": {
                                            "type": "string", "description": "Python code"}}, "required": ["code"]},
                                        metadata={"gloveport": code})


def _as_tool(found: Any) -> Any:
    """A tool of LangChain with the schema that it shows to models; LangChain checks the arguments."""
    if not isinstance(found, BaseTool):
        return found
    given = found.get_input_jsonschema()
    required = given.get("required", ())

    made = tool(lambda: None, name=found.name, description=found.description)
    made.spec["parameters"] = [
        {"name": key, "description": schema.get("description", ""), "annotation": "object", "schema": {}, "kind": "plain",
         **({} if key in required else {"default": schema.get("default")})}
        for key, schema in sorted(given.get("properties", {}).items(), key=lambda item: item[0] not in required)]
    made.call_with = found.invoke  # type: ignore[method-assign]
    return made
