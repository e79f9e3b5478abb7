"""Host functions as Python functions."""
import builtins
import keyword
import sys

import _gloveport_native as native

from _gloveport import async_calls, tool_search


class ToolError(Exception):
    """A tool of the host failed; the text says why."""


class ToolTimeoutError(ToolError, TimeoutError):
    """A tool of the host did not answer within its time limit."""


for _class in (ToolError, ToolTimeoutError):
    _class.__module__ = "builtins"

_defined = {}


def names():
    return sorted(_defined)


def make_error(kind, message):
    """The exception for a tool's failure: of the built-in class of that name, else a ToolError."""
    cls = ToolTimeoutError if kind == "ToolTimeoutError" else getattr(builtins, kind, None)
    if not (isinstance(cls, type) and issubclass(cls, Exception)) or issubclass(cls, (UnicodeError, ExceptionGroup)):
        cls = ToolError
    return cls(message)


def define(specs):
    """Puts one function for each spec into __main__, in the place of those that were defined before."""
    namespace = sys.modules["__main__"].__dict__
    functions = {spec["name"]: make_function(spec) for spec in specs}
    for name, function in _defined.items():
        if namespace.get(name) is function:
            del namespace[name]
    _defined.clear()
    _defined.update(functions)
    namespace.update(functions)
    _offer_search()


def _offer_search():
    """In builtins, where a cell's own variable `tools` hides it and harms nothing."""
    if _defined:
        builtins.tools = tool_search.Tools(_defined)
    elif isinstance(getattr(builtins, "tools", None), tool_search.Tools):
        del builtins.tools


def make_function(spec):
    """A real function, so that binding, inspect, help and pickle work as for any other."""
    name = spec["name"]
    parameters = spec.get("parameters") or []
    for identifier in [name] + [parameter["name"] for parameter in parameters]:
        if not identifier.isidentifier() or keyword.iskeyword(identifier):
            raise ValueError(f"{identifier!r} cannot be the name of a tool or parameter: it is no Python identifier")
    given = [parameter["name"] for parameter in parameters]
    # The caller is reached by a default that no call can replace by accident: a tool may have any parameter names.
    hidden = "_"
    while hidden in given or hidden == name:
        hidden += "_"
    heads = [_head(parameter) for parameter in parameters]
    passed = [f"[*{name}]" if head.startswith("*") and not head.startswith("**") else name
              for name, head in zip(given, heads)]
    is_async = bool(spec.get("is_async"))
    is_stream = bool(spec.get("is_stream"))
    kind, result = ("async def", "return await") if is_async else ("def", "return")
    source = f"{kind} {name}({', '.join(heads)}):\n    {result} {hidden}({', '.join(passed)})\n"
    schemas = [(parameter["name"], parameter.get("schema")) for parameter in parameters]
    caller = native.make_caller(name, schemas, is_async)
    if is_async:
        caller = async_calls.awaitable(caller)
    if is_stream:
        caller = _streaming(caller, native.make_caller(name + ".next", [("stream", None)], False))
    space = {hidden: caller, "__name__": "__main__", "__builtins__": builtins}
    exec(compile(source, f"<gloveport/tool {name}>", "exec", dont_inherit=True), space)
    function = space[name]
    _set_defaults(function, parameters)
    function.__annotations__ = _annotations(spec, parameters)
    function.__doc__ = _documentation(spec, parameters)
    return function


def _streaming(first, following):
    """A generator of what the host gives in portions. It is closed without a word to the host: that may happen at any
    moment, also between two cells, when a call would have to wait for the next one."""
    def start(*arguments):
        return items(first(*arguments))

    def items(portion):
        while True:
            yield from portion["items"]
            if portion["id"] is None:
                return
            portion = following(portion["id"])
    return start


def _head(parameter):
    stars = {"variadic": "*", "keyword_variadic": "**"}.get(parameter.get("kind"), "")
    return f"{stars}{parameter['name']}" + ("=None" if parameter.get("has_default") else "")


def _set_defaults(function, parameters):
    """What stands behind a variadic parameter is given by keyword, and so has its default elsewhere."""
    positional, by_keyword = [], {}
    seen_variadic = False
    for parameter in parameters:
        seen_variadic = seen_variadic or parameter.get("kind") == "variadic"
        if not parameter.get("has_default"):
            continue
        if seen_variadic:
            by_keyword[parameter["name"]] = parameter["default"]
        else:
            positional.append(parameter["default"])
    function.__defaults__ = tuple(positional) or None
    function.__kwdefaults__ = by_keyword or None


# ---- annotations ----

_BUILTIN_TYPES = frozenset(
    "bool int float complex str bytes bytearray list tuple dict set frozenset range object".split())
_TYPING_NAMES = frozenset("Any Optional Union Literal Sequence Mapping Iterator".split())


def _annotations(spec, parameters):
    annotations = {}
    for parameter in parameters:
        _annotate(annotations, parameter["name"], parameter.get("annotation"))
    _annotate(annotations, "return", spec.get("returns"))
    return annotations


def _annotate(annotations, name, text):
    """`object` says nothing, so it is left out; what is no plain type expression stays text."""
    if not text or text == "object":
        return
    import ast
    try:
        annotations[name] = _type(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError):
        annotations[name] = text


def _type(node):
    """The object that a type expression stands for. Only names of types, subscripts, unions and literals: the text
    may come from far away."""
    import ast
    import typing
    match node:
        case ast.Name(id=name) if name in _BUILTIN_TYPES:
            return getattr(builtins, name)
        case ast.Name(id=name) if name in _TYPING_NAMES:
            return getattr(typing, name)
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _type(left) | _type(right)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=items)):
            return _type(value)[tuple(_type(item) for item in items)]
        case ast.Subscript(value=value, slice=item):
            return _type(value)[_type(item)]
        case ast.List(elts=items):
            return [_type(item) for item in items]
    raise ValueError("not a type expression")


def _documentation(spec, parameters):
    lines = [spec.get("description") or ""]
    described = [parameter for parameter in parameters if parameter.get("description")]
    if described:
        lines += ["", "Args:"] + [f"    {parameter['name']}: {parameter['description']}" for parameter in described]
    if spec.get("returns_description"):
        returns = spec.get("returns") or "object"
        head = "" if returns == "object" else f"{returns}: "
        lines += ["", "Returns:", f"    {head}{spec['returns_description']}"]
    return "\n".join(lines).strip()
