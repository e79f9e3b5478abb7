"""Host functions as Python functions."""
import builtins
import sys

import _gloveport_native as native


class ToolError(Exception):
    """A tool of the host failed; the text says why."""

    __module__ = "builtins"


def make_error(kind, message):
    """The exception for a tool's failure: of the built-in class of that name, else a ToolError."""
    cls = getattr(builtins, kind, None)
    if not (isinstance(cls, type) and issubclass(cls, Exception)) or issubclass(cls, (UnicodeError, ExceptionGroup)):
        cls = ToolError
    return cls(message)


def define(specs):
    """Puts one function for each spec into __main__."""
    namespace = sys.modules["__main__"].__dict__
    for spec in specs:
        namespace[spec["name"]] = make_function(spec)


def make_function(spec):
    """A real function, so that binding, inspect, help and pickle work as for any other."""
    name = spec["name"]
    parameters = spec.get("parameters", ())
    for identifier in [name] + [parameter["name"] for parameter in parameters]:
        if not identifier.isidentifier():
            raise ValueError(f"{identifier!r} is no Python identifier")
    heads = []
    defaults = []
    for parameter in parameters:
        if parameter.get("has_default"):
            defaults.append(parameter["default"])
            heads.append(f"{parameter['name']}=None")
        else:
            heads.append(parameter["name"])
    pairs = ", ".join(f"{parameter['name']!r}: {parameter['name']}" for parameter in parameters)
    source = f"def {name}({', '.join(heads)}):\n    return __call__({name!r}, {{{pairs}}})\n"
    space = {"__call__": native.call_tool, "__name__": "__main__", "__builtins__": builtins}
    exec(compile(source, f"<gloveport/tool {name}>", "exec", dont_inherit=True), space)
    function = space[name]
    function.__defaults__ = tuple(defaults) or None
    function.__doc__ = spec.get("description", "")
    return function
