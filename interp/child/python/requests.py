"""The host's requests: everything that is not the running of a cell."""
import sys


def _main():
    return sys.modules["__main__"].__dict__


def _define_tools(args):
    from . import tools
    tools.define(args["tools"])


def _set_variable(args):
    name = args["name"]
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{name!r} cannot be the name of a variable")
    _main()[name] = args["value"]


def _get_variable(args):
    if args["name"] not in _main():
        raise NameError(f"name {args['name']!r} is not defined")
    return _main()[args["name"]]


def _describe_runtime(args):
    """What a record of the session says of its interpreter: asked before any cell."""
    modules = {}
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        modules[name] = path if isinstance(path, str) else ""
    return {"version": sys.version, "executable": sys.executable or "", "modules": modules}


def _of_inspector(name):
    def call(args):
        from . import inspector  # not before the role is known: it is large, and brings jsonschema
        return getattr(inspector, name)(**args)
    return call


def _at_cursor(name):
    def call(args):
        from . import introspect
        return getattr(introspect, name)(args["code"], args.get("cursor", len(args["code"])))
    return call


def _is_complete(args):
    from . import introspect
    return introspect.is_complete(args["code"])


_HANDLERS = {
    "define_tools": _define_tools,
    "set_variable": _set_variable,
    "get_variable": _get_variable,
    "describe_runtime": _describe_runtime,
    "complete": _at_cursor("complete"),
    "inspect": _at_cursor("inspect_name"),
    "is_complete": _is_complete,
    "check": _of_inspector("check"),
    "explain": _of_inspector("explain"),
    "syntax": _of_inspector("syntax"),
    "validate": _of_inspector("validate"),
}


def handle(op, args):
    """Answers one request; an exception becomes a reply that is not ok."""
    if op not in _HANDLERS:
        raise ValueError(f"unknown operation {op!r}; known are {', '.join(_HANDLERS)}")
    return _HANDLERS[op](args)
