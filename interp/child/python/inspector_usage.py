"""What a cell uses that a policy has a word about: modules, builtins, attributes and tools, refused or not."""

import ast

from . import inspector_cost as cost
from . import inspector_names as names

_MOST_USES = 200


def listing(judge, tree, positions):
    """[{"kind": "import"|"builtin"|"attribute"|"tool", "name", "line", "column", ...}] in text order."""
    found = []
    for node, scope in judge.sites():
        found.extend(_uses_of(judge, node, scope, positions))
    prices = judge.rules.cost.get("prices")
    prices = prices if isinstance(prices, dict) else {}
    calls = cost.Estimate(judge, tree).calls
    found.extend(cost.described(call, prices, positions) for call in calls[:_MOST_USES])
    found.sort(key=lambda use: (use["line"], use["column"]))
    return found[:_MOST_USES]


def _uses_of(judge, node, scope, positions):
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield _use("import", alias.name, alias, positions)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        if judge.rules.is_parent(node.module):
            for alias in node.names:
                yield _use("import", f"{node.module}.{alias.name}", alias, positions)
        else:
            yield _use("import", node.module, node, positions)
    elif isinstance(node, ast.Name) and node.id in names.FORBIDDEN_BUILTINS and scope.find(node.id) is None:
        yield _use("builtin", node.id, node, positions)
    elif isinstance(node, ast.Attribute):
        if node.attr in judge.rules.attributes_allowed and node.attr in names.INTERNALS:
            yield _use("attribute", node.attr, node, positions)


def _use(kind, name, node, positions):
    return {"kind": kind, "name": name, "line": node.lineno,
            "column": positions.column(node.lineno, node.col_offset)}
