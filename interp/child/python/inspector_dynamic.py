"""Code in text arguments: expressions for pandas, statements for timeit. The text is judged as a cell would be."""

import ast
import re

from . import inspector_scopes as scopes
from . import inspector_source as source
from . import inspector_values as values
from .inspector_findings import quoted

EXPRESSION, STATEMENTS = "expression", "statements"

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
    "query": (EXPRESSION, ((0, "expr"),)),
    "eval": (EXPRESSION, ((0, "expr"),)),
}
# In a pandas expression only names after @ are the cell's; the others are columns.
_LOCAL = re.compile(r"@\s*([^\W\d]\w*)")
_BACKTICKS = re.compile(r"`[^`\n]*`")
_PREFIX = "_local_"
_RULES = frozenset("import builtin dunder attribute dynamic-code pickle network".split())
_MAX_DEPTH = 3


def check(judge, node, name, arguments):
    kind, wanted = (FUNCTIONS.get(name) or METHODS[name])
    for position, keyword in wanted:
        for text in values.texts(arguments.get(position, keyword)[0]):
            _check_text(judge, node, name.rpartition(".")[2], kind, text)


def _check_text(judge, node, name, kind, text):
    if judge.depth >= _MAX_DEPTH or len(text) > source.MAX_CHARS // 8:
        return
    if kind == EXPRESSION:
        text = _LOCAL.sub(_PREFIX + r"\1", _BACKTICKS.sub("column", text)).strip()
    tree, problem = source.parse(text)
    if problem is not None:
        return  # not code, or code that fails where it would run
    columns = kind == EXPRESSION and name in METHODS
    if kind == EXPRESSION:
        _rename(tree, columns)
    for finding in judge.inner(tree, scopes.Scope("function", judge.module_scope)):
        if finding.rule in _RULES:
            judge.add(node, finding.effect, "dynamic-code",
                      f"{name}() with the code '{quoted(text.replace(_PREFIX, '@'))}': {finding.message}",
                      "Compute the value in the cell first, or write the expression with columns and plain @names only.")


def _rename(tree, columns):
    for item in ast.walk(tree):
        if isinstance(item, ast.Name):
            if item.id.startswith(_PREFIX):
                item.id = item.id[len(_PREFIX):]
            elif columns:
                item.id = f"column {item.id}"  # no name of the cell
