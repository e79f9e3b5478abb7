"""What an editor asks about code that is being written: completions, help on a name, whether a cell is complete."""
import builtins
import inspect
import keyword
import re
import sys

MAX_MATCHES = 500
MAX_DOC = 20_000

_TAIL = re.compile(r"((?:[^\W\d]\w*\s*\.\s*)*)((?:[^\W\d]\w*)?)$")


def _main():
    return sys.modules["__main__"].__dict__


class _Unknown(Exception):
    """A name that stands for nothing, or for what would have to be computed."""


def _resolve(names):
    """The object that a dotted name stands for. No property of a cell's class runs for it, a __getattr__ may."""
    namespace = _main()
    if not names:
        raise _Unknown
    if names[0] in namespace:
        found = namespace[names[0]]
    elif hasattr(builtins, names[0]):
        found = getattr(builtins, names[0])
    else:
        raise _Unknown
    for name in names[1:]:
        if isinstance(inspect.getattr_static(found, name, None), property):
            raise _Unknown
        try:
            found = getattr(found, name)
        except Exception:
            raise _Unknown from None
    return found


def _attributes(names):
    try:
        owner = _resolve(names)
    except _Unknown:
        return []
    try:
        return dir(owner)
    except Exception:
        return object.__dir__(owner)


def complete(code, cursor):
    """{"matches", "start", "end"}: what the name before the cursor may become; positions count characters."""
    head = code[:cursor]
    found = _TAIL.search(head)
    path, prefix = found[1], found[2]
    names = [name.strip() for name in path.split(".") if name.strip()]
    if path:
        candidates = _attributes(names)
    else:
        candidates = [*_main(), *dir(builtins), *keyword.kwlist]
    matches = sorted({name for name in candidates if isinstance(name, str) and name.startswith(prefix)
                      and (prefix.startswith("_") or not name.startswith("_"))})
    return {"matches": matches[:MAX_MATCHES], "start": cursor - len(prefix), "end": cursor}


def inspect_name(code, cursor):
    """What is known of the dotted name at the cursor: {"found": false}, or name, type, signature, doc and more."""
    end = cursor
    while end < len(code) and (code[end].isalnum() or code[end] == "_"):
        end += 1
    found = _TAIL.search(code[:end])
    names = [name.strip() for name in found[0].split(".") if name.strip()]
    name = ".".join(names)
    try:
        value = _resolve(names)
    except _Unknown:
        return {"found": False, "name": name}
    answer = {"found": True, "name": name, "type": type(value).__name__, "doc": _or_empty(inspect.getdoc, value)[:MAX_DOC]}
    if callable(value):
        signature = _or_empty(inspect.signature, value)
        if signature:
            answer["signature"] = names[-1] + signature
    if not callable(value) and not inspect.ismodule(value):
        import _gloveport_native as native
        answer["repr"] = native.shown_repr(value)[:2000]
    answer["file"] = _or_empty(inspect.getfile, value)
    return answer


def _or_empty(ask, value):
    """What is known of the value, as text; its class may answer with anything."""
    try:
        return str(ask(value) or "")
    except Exception:
        return ""


def is_complete(code):
    """{"status": "complete" | "incomplete" | "invalid", "indent"}: whether a cell can be run as it stands."""
    import codeop
    import warnings
    from . import sources
    compiler = codeop.Compile()
    compiler.flags |= sources.TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # "exec" takes any number of statements; an unfinished block shows itself by what would be missing.
            code_object = codeop._maybe_compile(compiler, code, "<input>", "exec")
    except (SyntaxError, OverflowError, ValueError, MemoryError, RecursionError):
        return {"status": "invalid", "indent": ""}
    if code_object is None or _in_open_block(code):
        return {"status": "incomplete", "indent": _next_indent(code)}
    return {"status": "complete", "indent": ""}


def _in_open_block(code):
    """An indented last line is the middle of a block until an empty line follows it."""
    lines = code.split("\n")
    if len(lines) < 2 or not lines[-1].strip():
        return False
    return lines[-1][:1] in " \t" and not _ends_in_bracket(code)


def _ends_in_bracket(code):
    from tokenize import TokenError, generate_tokens
    depth_at_line = {}
    depth = 0
    try:
        import io
        for token in generate_tokens(io.StringIO(code).readline):
            depth_at_line.setdefault(token.start[0], depth)
            if token.string in ("(", "[", "{"):
                depth += 1
            elif token.string in (")", "]", "}"):
                depth -= 1
    except (TokenError, SyntaxError):
        return False
    return depth_at_line.get(code.count("\n") + 1, 0) > 0


def _next_indent(code):
    last = code.rstrip().split("\n")[-1]
    indent = last[:len(last) - len(last.lstrip())]
    return indent + "    " if last.rstrip().endswith(":") else indent
