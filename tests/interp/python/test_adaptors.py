"""Tools for LangChain and Pydantic AI that take code."""
import asyncio

import pytest

from gloveport.integrations._code_tool import CodeTool


def twice(n: int) -> int:
    """Doubles."""
    return 2 * n


def test_code_tool_tells_what_came_of_a_cell(runtime):
    code = CodeTool(tools=[twice], runtime=runtime)
    try:
        assert code.run("x = twice(4)\nprint('so far', x)\nx + 1") == "so far 8\n9"
        assert asyncio.run(code.run_async("x")) == "8"
        assert code.run("y = 1") == "(no output)"
        assert "ZeroDivisionError" in code.run("1 / 0")
        assert "not allowed" in code.run("import socket")
        assert "def twice(n: int) -> int    # Doubles." in code.description
        assert len(code.run("print('x' * 100_000)")) < 21_000
    finally:
        code.close()


def test_langchain(runtime):
    tools = pytest.importorskip("langchain_core.tools")
    from gloveport.integrations.langchain import python_tool

    @tools.tool
    def contact_cost(contacts: int, channel: str = "cellular") -> float:
        """Cost in EUR of contacting clients."""
        return contacts * (0.8 if channel == "cellular" else 1.2)

    made = python_tool(tools=[contact_cost, twice], runtime=runtime)
    try:
        assert made.invoke({"code": "contact_cost(twice(5)), contact_cost(10, channel='x')"}) == "(8.0, 12.0)"
        assert "int_parsing" in asyncio.run(made.ainvoke({"code": "contact_cost('many')"}))
        assert "def contact_cost(contacts: object, channel: object = 'cellular')" in made.description
    finally:
        made.metadata["gloveport"].close()


def test_pydantic_ai(runtime):
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from gloveport.integrations.pydantic_ai import python_tool
    made = python_tool(tools=[twice], runtime=runtime)
    seen = []

    def model(messages, info):
        seen.append(messages)
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("python", {"code_text": "twice(21)"})])
        return ModelResponse(parts=[TextPart(str(messages[-1].parts[0].content))])

    try:
        assert pydantic_ai.Agent(FunctionModel(model), tools=[made]).run_sync("What is twice 21?").output == "42"
    finally:
        made.metadata["gloveport"].close()
