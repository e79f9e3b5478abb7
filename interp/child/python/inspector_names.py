"""Builtins and attributes that lead out of ordinary code, and what is said about them."""

# builtin -> (what it does, what to do instead)
FORBIDDEN_BUILTINS = {
    "eval": (
        "evaluates code given as text",
        "Write the expression itself in the cell; use int(), float() or json.loads() for data.",
    ),
    "exec": ("runs code given as text", "Write the statements themselves in the cell."),
    "compile": (
        "compiles code given as text",
        "Write the code itself in the cell; for patterns use re.compile().",
    ),
    "__import__": ("imports by computed name", "Use an import statement that names an allowed module."),
    "breakpoint": ("starts a debugger, and nobody is there to use it", "Use print() to look at values."),
    "__builtins__": (
        "is the table of all builtins",
        "Call the builtin function you need by its own name, for example len() or sorted().",
    ),
}
# Never taken for a name of the cell's own, bound or not.
ALWAYS_FORBIDDEN = frozenset(("__import__", "__builtins__"))
MODULE_INTERNALS = frozenset(("__loader__", "__spec__"))

_GLOBALS = "leads to the globals of foreign code"
_TREE = "leads to the class tree"
DUNDERS = {
    "__globals__": _GLOBALS,
    "__builtins__": "is the table of all builtins",
    "__import__": "imports by computed name",
    "__code__": "is the code object of a function",
    "__closure__": "leads to the variables of foreign functions",
    "__subclasses__": _TREE,
    "__bases__": _TREE,
    "__base__": _TREE,
    "__mro__": _TREE,
    "__self__": "leads to the object or module behind a function",
    "__loader__": "leads to the import system",
    "__spec__": "leads to the import system",
}
_FRAME = "leads to a frame of running code"
_CODE = "is a code object"
# Not among them: f_back and f_code. Code gives its own attributes such names, and no frame is had without the
# others.
FRAMES = {
    "gi_frame": _FRAME,
    "cr_frame": _FRAME,
    "ag_frame": _FRAME,
    "tb_frame": _FRAME,
    "f_globals": _GLOBALS,
    "f_locals": "leads to the variables of running code",
    "f_builtins": "is the table of all builtins",
    "gi_code": _CODE,
    "cr_code": _CODE,
    "ag_code": _CODE,
    "enable_load_extension": "lets a database load native code",
}
INTERNALS = {**DUNDERS, **FRAMES}

_INSTEAD = {
    "__code__": "Use inspect.signature(f) or inspect.getsource(f) to look at a function.",
    "__closure__": "Return the value from the function, or keep it in an object.",
    "__self__": "Keep a variable for the object whose method you use.",
    "__mro__": "Use isinstance() or issubclass(); for a class's name use type(x).__name__.",
    "enable_load_extension": "Use what sqlite3 has built in, or compute in Python.",
}
_INSTEAD.update(dict.fromkeys(("__bases__", "__base__", "__subclasses__"), _INSTEAD["__mro__"]))
_FRAME_INSTEAD = "Use the traceback module to show where an error happened, or pass the value as an argument."
REFUSED_BY_POLICY = "is an attribute that the policy refuses"


def rule_of(attribute):
    if attribute in ("__builtins__", "__import__"):
        return "builtin"
    return "dunder" if attribute.startswith("__") else "attribute"


def instead_of(attribute):
    if attribute in _INSTEAD:
        return _INSTEAD[attribute]
    if attribute in FRAMES:
        return _FRAME_INSTEAD
    if not attribute.startswith("_"):
        return f"Do without .{attribute}: the policy refuses it on any object."
    return "Use the object's public attributes and methods instead; for a type's name use type(x).__name__."


# The name of a builtin, a module or a table that is worth looking at when a cell reads it.
WATCHED_NAMES = frozenset(FORBIDDEN_BUILTINS) | MODULE_INTERNALS

_MEMBER_HINTS = {
    "gives modules by computed name": "Use an import statement that names the module.",
    "starts processes": "No process can be started here: use threads, or asyncio with coroutines.",
    "runs code given as text": "Write the code itself in the cell.",
    "unpickles, which can run code": "Read CSV, JSON or plain arrays instead.",
    "leads to the frames of running code": _FRAME_INSTEAD,
}


def member_hint(base, attribute, why):
    """What to do instead of a member of an allowed module that is refused for `why`."""
    return _MEMBER_HINTS.get(why, f"Do without {base}.{attribute}; the other members of {base} can be used.")
