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


def capsule(name):
    """A capsule as another build's extension would make it; what is in it must not be touched."""
    import ctypes
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(1, name, None)


def name_of(made):
    import ctypes
    ask = ctypes.pythonapi.PyCapsule_GetName
    ask.restype, ask.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    return ask(made)


def test_tool_of_another_build_is_refused_unseen(runtime):
    own = name_of(native_tools.contact_cost())
    assert own == name_of(gloveport.builtin_tools({"calculator": {}})[0]) and gloveport.__version__.encode() in own
    names = [b"gloveport.tool", own.replace(gloveport.__version__.encode(), b"0.0.9")]
    for name in names:
        with pytest.raises(gloveport.InvalidArgument, match="another Gloveport or by another compiler") as caught:
            runtime.open(tools=[capsule(name)])
        assert name.decode() in str(caught.value) and own.decode() in str(caught.value)
        assert "build the extension module again" in caught.value.hint
        with pytest.raises(gloveport.InvalidArgument):
            gloveport._tools.spec_of(capsule(name))
    for name in (b"numpy.something", None):
        with pytest.raises(gloveport.InvalidArgument, match="is no tool"):
            runtime.open(tools=[capsule(name)])
