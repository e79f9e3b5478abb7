"""The host's requests: everything that is not the running of a cell."""
import sys

from . import tools


def _define_tools(args):
    tools.define(args["tools"])


def _set_variable(args):
    sys.modules["__main__"].__dict__[args["name"]] = args["value"]


def _get_variable(args):
    namespace = sys.modules["__main__"].__dict__
    if args["name"] not in namespace:
        raise NameError(f"name {args['name']!r} is not defined")
    return namespace[args["name"]]


def _inspector(name):
    def call(args):
        from . import inspector
        return getattr(inspector, name)(**args)
    return call


_HANDLERS = {
    "define_tools": _define_tools,
    "set_variable": _set_variable,
    "get_variable": _get_variable,
    "check": _inspector("check"),
    "syntax": _inspector("syntax"),
    "validate": _inspector("validate"),
}


def handle(op, args):
    """Answers one request; an exception becomes a reply that is not ok."""
    if op not in _HANDLERS:
        raise ValueError(f"unknown operation {op!r}; known are {', '.join(_HANDLERS)}")
    return _HANDLERS[op](args)
