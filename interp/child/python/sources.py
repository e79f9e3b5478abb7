"""The texts of the cells: compiling them, and showing their lines to whoever asks (tracebacks, inspect)."""
import ast
import linecache

TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_future_flags = 0


def register(filename, text):
    """Makes the lines of a cell known to linecache; no mtime, so that checkcache leaves them alone."""
    lines = [line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    if lines[-1] == "\n":
        lines.pop()
    linecache.cache[filename] = (len(text), None, lines, filename)


def compile_cell(text, filename):
    """(body, value): code of the cell without its trailing expression, and of that expression; each may be None."""
    global _future_flags
    register(filename, text)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SyntaxError("source code cannot contain null bytes", (filename, line, 1, None))
    flags = TOP_LEVEL_AWAIT | _future_flags
    tree = compile(text, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    value = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        value = ast.Expression(tree.body.pop().value)
    body = compile(tree, filename, "exec", flags, dont_inherit=True) if tree.body else None
    if body is not None:
        _future_flags |= body.co_flags & _ALL_FUTURES
        flags |= _future_flags
    if value is not None:
        value = compile(value, filename, "eval", flags, dont_inherit=True)
    return body, value


def _all_futures():
    import __future__
    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return flags & ~0x10  # nested_scopes shares its bit with CO_NESTED


_ALL_FUTURES = _all_futures()
