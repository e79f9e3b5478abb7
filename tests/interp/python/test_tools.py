"""Functions of this process as tools of sessions."""
import asyncio
import dataclasses
import enum
import threading
from typing import Annotated, Any, Dict, List, Literal, Optional, Union

import pytest

import gloveport
from gloveport import tool


@tool
def contact_cost(contacts: int, channel: str = "cellular") -> float:
    """Cost in EUR of contacting clients.

    Args:
        contacts: number of contacts,
            without those that failed
        channel (str): how

    Returns:
        the sum
    """
    return contacts * (0.8 if channel == "cellular" else 1.2)


def parameters(function):
    return {parameter["name"]: parameter for parameter in tool(function).spec["parameters"]}


def test_declaration_comes_from_annotations_and_docstring():
    spec = contact_cost.spec
    assert spec["description"] == "Cost in EUR of contacting clients."
    assert spec["parameters"] == [
        {"name": "contacts", "description": "number of contacts, without those that failed", "annotation": "int",
         "schema": {"type": "integer"}, "kind": "plain"},
        {"name": "channel", "description": "how", "annotation": "str", "schema": {"type": "string"}, "kind": "plain",
         "default": "cellular"}]
    assert (spec["returns"], spec["returns_description"], spec["async"]) == ("float", "the sum", False)


def test_other_styles_of_docstrings():
    def numpy_style(a, b):
        """Sum.

        Parameters
        ----------
        a : int
            the first
        b
            the second

        Returns
        -------
        the sum
        """

    def sphinx_style(a, b):
        """Sum.

        :param a: the first
        :param int b: the second
        :returns: the sum
        """

    for function in (numpy_style, sphinx_style):
        found = parameters(function)
        assert (found["a"]["description"], found["b"]["description"]) == ("the first", "the second")
        assert tool(function).spec["description"] == "Sum."
        assert "the sum" in tool(function).spec["returns_description"]


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize("hint, annotation, schema", [
    (int, "int", {"type": "integer"}), (Any, "object", {}), (List[int], "list[int]", {"type": "array", "items": {"type": "integer"}}),
    (Dict[str, float], "dict[str, float]", {"type": "object", "additionalProperties": {"type": "number"}}),
    (Optional[str], "str | None", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    (Union[int, str], "int | str", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    (Literal["a", 2], "Literal['a', 2]", {"enum": ["a", 2]}), (Colour, "test_tools.Colour", {"enum": ["red"]}),
    (Point, "test_tools.Point", {"type": "object", "properties": {"x": {"type": "integer"}}}),
    (bytes, "bytes", {}), (Annotated[int, "how many"], "int", {"type": "integer"})])
def test_types(hint, annotation, schema):
    def function(x):
        """Does."""
    function.__annotations__ = {"x": hint}
    found = parameters(function)["x"]
    assert (found["annotation"], found["schema"]) == (annotation, schema)
    if hint is Annotated[int, "how many"]:
        assert found["description"] == "how many"


def test_cell_calls_a_tool(runtime):
    with runtime.open(tools=[contact_cost]) as session:
        assert session.eval("[contact_cost(10), contact_cost(10, 'telephone'), contact_cost(channel='x', contacts=1)]") == [
            8.0, 12.0, 1.2]
        assert "number of contacts" in session.eval("contact_cost.__doc__")
        result = session.run("contact_cost('many')")
        assert result.error.type == "TypeError"
        call = session.run("contact_cost(5)").tool_calls[0]
        assert (call.name, call.args, call.ok, call.value) == ("contact_cost", {"contacts": 5, "channel": "cellular"}, True, 4.0)


def test_parameters_of_every_kind(runtime):
    def all_kinds(a, /, b, *rest, c, d=4, **more):
        return [a, b, list(rest), c, d, more]

    def by_keyword(a=1, *, b):
        return [a, b]

    with runtime.open(tools=[all_kinds, by_keyword]) as session:
        assert session.eval("all_kinds(1, 2, 3, c=5, e=6)") == [1, 2, [3], 5, 4, {"e": 6}]
        assert session.eval("by_keyword(b=2)") == [1, 2]


def test_closures_methods_and_lambdas(runtime):
    seen = []

    class Shop:
        def price(self, name: str):
            return {"tea": 3}[name]

    with runtime.open(tools={"note": seen.append and (lambda text: seen.append(text)), "price": Shop().price}) as session:
        session.run("note('a'); note('b')")
        assert seen == ["a", "b"]
        assert session.eval("price('tea')") == 3


def test_errors_of_tools_reach_the_cell(runtime):
    def fails(how):
        if how == "value":
            raise ValueError("bad value")
        if how == "tool":
            raise gloveport.ToolError("for the model")
        if how == "object":
            return object()
        raise KeyError("k")

    with runtime.open(tools=[fails]) as session:
        assert session.run("fails('value')").error.message == "ValueError: bad value"
        tool_error = session.run("fails('tool')").error
        assert (tool_error.type, tool_error.message) == ("ToolError", "for the model")
        assert "KeyError" in session.run("fails('key')").error.message
        assert "cannot cross" in session.run("fails('object')").error.message
        assert session.run("try:\n    fails('tool')\nexcept ToolError as e:\n    x = str(e)\nx").value == "for the model"


def test_coroutine_tools_are_awaited_and_run_together(runtime):
    together = []
    running = 0

    async def wait_for_others(n: int):
        nonlocal running
        running += 1
        together.append(running)
        while running < 3:
            await asyncio.sleep(0.001)
        return n

    with runtime.open(tools=[wait_for_others]) as session:
        code = "import asyncio\nawait asyncio.gather(*[wait_for_others(i) for i in range(3)])"
        assert session.eval(code) == [0, 1, 2]
    assert max(together) == 3


def test_coroutine_tools_run_on_the_loop_of_run_async(runtime):
    async def main():
        loops = []

        async def which():
            loops.append(asyncio.get_running_loop())

        with runtime.open(tools=[which]) as session:
            await session.eval_async("await which()")
        return loops == [asyncio.get_running_loop()]

    assert asyncio.run(main())


def test_timeout_of_a_call_and_stopped(runtime):
    stopped = threading.Event()

    @tool(timeout_s=0.2)
    def slow():
        call = gloveport.current_call()
        assert call.session == session.id and call.seconds_left < 1
        while not call.stopped:
            stopped.wait(0.01)
        stopped.set()

    with runtime.open(tools=[slow]) as session:
        assert session.run("slow()").error.type == "ToolTimeoutError"
        assert stopped.wait(20)
    with pytest.raises(RuntimeError):
        gloveport.current_call()


def test_coroutine_is_cancelled_when_nobody_waits(runtime):
    cancelled = threading.Event()

    @tool(timeout_s=0.2)
    async def slow():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with runtime.open(tools=[slow]) as session:
        assert session.run("await slow()").error.type == "ToolTimeoutError"
    assert cancelled.wait(20)


def test_approval(runtime):
    asked = []
    policy = {"extends": "default", "tools": {"rules": [{"tool": "send", "effect": "ask"}]}}

    def send(to: str):
        return f"sent to {to}"

    def decide(request):
        asked.append(request)
        if request.args["to"] == "edit":
            return gloveport.ApprovalDecision(True, args={"to": "other"})
        if request.args["to"] == "bad":
            raise RuntimeError("no")
        return request.args["to"] == "good"

    async def decide_async(request):
        return gloveport.ApprovalDecision(False, reason="not today")

    with runtime.open(policy, tools=[send], approve=decide) as session:
        assert session.run("send('good')").value == "sent to good"
        assert session.run("send('edit')").value == "sent to other"
        assert session.run("send('other')").error.type == "PermissionError"
        assert asked[0].kind == "tool_call" and asked[0].tool == "send"
    with runtime.open(policy, tools=[send], approve=decide_async) as session:
        assert "not today" in session.run("send('good')").error.message
    with runtime.open(policy, tools=[send]) as session:
        assert session.run("send('good')").error.type == "PermissionError"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_approver_that_fails_is_a_denial(runtime):
    def decide(request):
        raise RuntimeError("no")

    policy = {"extends": "default", "tools": {"default": "ask"}}
    with runtime.open(policy, tools={"f": lambda: 1}, approve=decide) as session:
        assert session.run("f()").error.type == "PermissionError"


def test_bad_declarations_are_refused(runtime):
    for tools in ({"not a name": len}, {"class": lambda: 1}, [contact_cost, contact_cost]):
        with pytest.raises(gloveport.InvalidArgument):
            runtime.open(tools=tools)
    with pytest.raises(TypeError):
        runtime.open(tools={"f": lambda x=object(): 1})


def test_branches_have_the_tools(runtime):
    with runtime.open(tools=[contact_cost]) as session:
        branch, = session.branch()
        with branch:
            assert branch.eval("contact_cost(10)") == 8.0


def test_tool_can_be_called_here():
    assert contact_cost(10) == 8.0 and contact_cost.name == "contact_cost"


def test_coroutine_tools_of_a_blocking_run_after_run_async(runtime):
    async def main():
        with runtime.open(tools=[answer]) as session:
            before = await session.eval_async("await answer()")
            return before, session.run("await answer()", timeout=20).value  # this loop stands still meanwhile

    async def answer():
        return 42

    assert asyncio.run(main()) == (42, 42)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_decision_of_a_wrong_type_is_a_denial(runtime):
    policy = {"extends": "default", "tools": {"default": "ask"}}
    with runtime.open(policy, tools={"f": lambda: 1},
                      approve=lambda request: gloveport.ApprovalDecision(True, reason=5)) as session:
        assert session.run("f()", timeout=20).error.type == "PermissionError"


def test_call_tells_progress_shows_and_asks(runtime):
    def copy(n: int):
        call = gloveport.current_call()
        for i in range(n):
            call.progress(i + 1, n, f"file {i}")
        call.progress(5)
        call.display({"text/html": "<b>done</b>", "image/png": b"\x89PNG"})
        kept.append(call)
        return call.ask("go on?", {"files": n})

    async def copy_async(n: int):
        return await asyncio.to_thread(copy, n)

    kept, heard, asked = [], [], []

    def decide(request):
        asked.append((request.tool, request.reason, request.args))
        return gloveport.ApprovalDecision(False, "enough")

    with runtime.open(tools=[copy, copy_async], approve=decide) as session:
        for code in ("copy(2)", "await copy_async(2)"):
            heard.clear()
            result = session.run(code, on_event=lambda kind, data: heard.append((kind, data)))
            told = [(data["done"], data["total"], data["message"]) for kind, data in heard if kind == "tool_progress"]
            assert told == [(1.0, 2.0, "file 0"), (2.0, 2.0, "file 1"), (5.0, None, "")]
            assert {"text/html": "<b>done</b>"} in result.displays and {"image/png": b"\x89PNG"} in result.displays
            assert result.value == (False, "enough")
            assert "go on?" in str(asked.pop())
    kept[0].progress(1)  # of a call that has ended: nothing
    kept[0].display({"text/plain": "late"})
    assert kept[0].ask("late?") == (False, "the call has ended")


def test_question_that_needs_no_answer_is_withdrawn(runtime):
    withdrawn = threading.Event()

    def decide(request):
        if request.withdrawn.wait(30):
            withdrawn.set()
        return True

    policy = {"extends": "default", "tools": {"default": "ask"}, "limits": {"approval_s": 0.2}}
    with runtime.open(policy, tools={"f": lambda: 1}, approve=decide) as session:
        assert session.run("f()").error.type == "PermissionError"
        assert withdrawn.wait(30)
