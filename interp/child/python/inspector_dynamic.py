"""Code in text arguments: expressions for pandas, statements for timeit. The text is judged as a cell would
be."""

import ast
import re

from . import inspector_scopes as scopes
from . import inspector_source as source
from . import inspector_values as values
from .inspector_findings import quoted

COLUMNS, EXPRESSION, STATEMENTS = "columns", "expression", "statements"  # COLUMNS: bare names are columns

# Function -> (what its text is, its arguments that hold code: (position, keyword)).
FUNCTIONS = {
    "pandas.eval": (EXPRESSION, ((0, "expr"),)),
    "numexpr.evaluate": (EXPRESSION, ((0, "ex"),)),
    "timeit.timeit": (STATEMENTS, ((0, "stmt"), (1, "setup"))),
    "timeit.repeat": (STATEMENTS, ((0, "stmt"), (1, "setup"))),
    "timeit.Timer": (STATEMENTS, ((0, "stmt"), (1, "setup"))),
    "typing.ForwardRef": (EXPRESSION, ((0, "arg"),)),
}
METHODS = {
    "query": (COLUMNS, ((0, "expr"),)),
    "eval": (COLUMNS, ((0, "expr"),)),
}
# In a pandas expression only names after @ are the cell's; the others are columns.
_LOCAL = re.compile(r"@\s*([^\W\d]\w*)")
_BACKTICKS = re.compile(r"`[^`\n]*`")
_PREFIX = "_local_"
_RULES = frozenset("import builtin dunder attribute dynamic-code pickle network".split())
_MAX_DEPTH = 3


def check(judge, node, name, arguments, scope):
    """Judges the texts that a call of `name` would run as code."""
    kind, wanted = (FUNCTIONS.get(name) or METHODS[name])
    for position, keyword in wanted:
        for text in values.texts(arguments.get(position, keyword)[0]):
            _check_text(judge, node, scope, name.rpartition(".")[2], kind, text)


def check_annotation(judge, node, scope):
    """A text as annotation, which typing.get_type_hints would evaluate."""
    _check_text(judge, node, scope, "annotation", EXPRESSION, node.value)


def _check_text(judge, node, scope, name, kind, text):
    if judge.depth >= _MAX_DEPTH or len(text) > source.MAX_CHARS // 8:
        return
    for effect, message in judge.once((kind, id(scope)), text, lambda: _found(judge, scope, kind, text)):
        judge.add(node, effect, "dynamic-code", f"{name}() with the code '{quoted(text)}': {message}",
                  "Compute the value in the cell first, or write the expression with columns and plain "
                  "@names only.")


def _found(judge, scope, kind, text):
    """(effect, message) of everything in `text` that a cell may not do either."""
    if kind != STATEMENTS:
        text = _LOCAL.sub(_PREFIX + r"\1", _BACKTICKS.sub("column", text)).strip()
    tree, problem = source.parse(text)
    if problem is not None:
        return []  # not code, or code that fails where it would run
    if kind != STATEMENTS:
        _rename(tree, kind == COLUMNS)
    found = judge.inner(tree, scopes.Scope("function", scope))
    return [(item.effect, item.message) for item in found if item.rule in _RULES]


def _rename(tree, columns):
    for item in ast.walk(tree):
        if isinstance(item, ast.Name):
            if item.id.startswith(_PREFIX):
                item.id = item.id[len(_PREFIX):]
            elif columns:
                item.id = f"column {item.id}"  # no name of the cell
