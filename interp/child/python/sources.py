"""The texts of the cells: compiling them where that needs the syntax tree, and showing their lines to whoever asks
(tracebacks, inspect, linecache)."""
import __future__
import _ast as ast  # what is written in C; the rest takes its time to load

from . import imports

TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

texts = {}  # file name ("<cell 0>") -> text; filled in C++


def compile_cell(text, filename, futures):
    """(body, value, futures): code of the cell without its trailing expression, and of that expression; each may be
    None. `futures` are the flags of `from __future__` imports, of earlier cells and then of this one too."""
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SyntaxError("source code cannot contain null bytes", (filename, line, 1, None))
    flags = TOP_LEVEL_AWAIT | futures
    tree = compile(text, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    value = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        value = ast.Expression(tree.body.pop().value)
    body = compile(tree, filename, "exec", flags, dont_inherit=True) if tree.body else None
    if body is not None:
        futures |= body.co_flags & ALL_FUTURES
    if value is not None:
        value = compile(value, filename, "eval", flags | futures, dont_inherit=True)
    return body, value, futures


def _all_futures():
    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return flags & ~0x10  # nested_scopes shares its bit with CO_NESTED


ALL_FUTURES = _all_futures()


# ---- linecache ----

def _teach_linecache(linecache):
    update_from_file = linecache.updatecache

    def updatecache(filename, module_globals=None):
        """Lines of cells are made when they are asked for, and come back after linecache.clearcache()."""
        text = texts.get(filename)
        if text is None:
            return update_from_file(filename, module_globals)
        lines = [line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        if lines[-1] == "\n":
            lines.pop()
        linecache.cache[filename] = (len(text), None, lines, filename)  # no mtime: checkcache leaves it alone
        return lines

    linecache.updatecache = updatecache


# ---- inspect ----

def _teach_inspect(inspect):
    file_of = inspect.getfile

    def getfile(object):
        """A class of __main__ has no file of its own: it is in the cell that defines it."""
        if isinstance(object, type) and object.__module__ == "__main__":
            found = _cell_of_class(object)
            if found is not None:
                return found
        return file_of(object)

    inspect.getfile = getfile


def _cell_of_class(cls):
    import inspect
    import re
    for member in vars(cls).values():
        function = inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", member)))
        code = getattr(function, "__code__", None)
        if code is not None and code.co_filename in texts and code.co_qualname.startswith(cls.__qualname__ + "."):
            return code.co_filename
    pattern = re.compile(rf"^[ \t]*class[ \t]+{re.escape(cls.__name__)}\b", re.MULTILINE)
    return next((name for name in reversed(texts) if pattern.search(texts[name])), None)


def install():
    """In the template: linecache and inspect learn of the cells, now or as soon as they are imported."""
    imports.after_import("linecache", _teach_linecache)
    imports.after_import("inspect", _teach_inspect)
