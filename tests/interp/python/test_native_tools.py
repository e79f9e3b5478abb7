"""Tools of a C++ extension module beside those of Python."""
import pytest

import gloveport

native_tools = pytest.importorskip("native_tools", reason="the examples are not built")


def test_cell_calls_native_tools_beside_python_ones(runtime):
    tools = [native_tools.contact_cost(), gloveport.tool(lambda n: n + 1, name="more")]
    with runtime.open(tools=tools) as session:
        assert session.eval("contact_cost(more(9))") == 8.0
        assert "Cost in EUR of calling people" in session.eval("contact_cost.__doc__")
        assert session.run("contact_cost('x')").error.type == "TypeError"


def test_tool_outlives_its_capsule(runtime):
    with runtime.open(tools=[native_tools.contact_cost()]) as session:
        import gc
        gc.collect()
        assert session.eval("contact_cost(10, 'telephone')") == 12.0


def test_name_that_is_taken_is_refused(runtime):
    with pytest.raises(gloveport.InvalidArgument):
        runtime.open(tools=[native_tools.contact_cost(), native_tools.contact_cost()])
