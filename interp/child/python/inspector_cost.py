"""Which tools a cell calls, how often, and what that costs, as far as its text tells.

A call counts as often as the loops around it, and the functions it stands in, run; both branches of a
condition count, and nothing is taken off for a loop that may end early. What the text does not tell, a loop of
unknown length above all, counts once, and the estimate says so: it is a hint for a person or a reason to
refuse, not a limit. What holds is the policy's limit on tool calls, at run time.
"""

import ast
import json

from . import inspector_imports as imports
from . import inspector_values as values
from .inspector_sizes import Sizes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MOST = 10**15
_MAX_SHOWN = 3
_MAX_NOTES = 4


class Call:
    """A place where a tool is called. `count` is how often, per run of the cell; `exact` is false where that is
    the least that the text tells."""

    __slots__ = ("tool", "node", "count", "exact", "bytes", "context", "notes")

    def __init__(self, tool, size, part):
        self.tool = tool
        self.bytes = size
        self.node = part.node
        self.count = part.count
        self.exact = part.exact
        self.context = part.context
        self.notes = part.notes


class _Part:
    """A stretch of the tree that runs `count` times for each run of `context`, a function or the cell."""

    __slots__ = ("node", "count", "exact", "context", "notes")

    def __init__(self, node, count=1, exact=True, context=None, notes=()):
        self.node = node
        self.count = count
        self.exact = exact
        self.context = context
        self.notes = notes  # ((line, what the text does not tell), ...)

    def of(self, node, times=1, note=None):
        """A part of this one that runs `times` times; once, and `note` says why, where that is not told."""
        if times is not None:
            return _Part(node, min(self.count * times, _MOST), self.exact, self.context, self.notes)
        return _Part(node, self.count, False, self.context, _noted(self.notes, note))


def _noted(notes, note):
    return notes if note is None or note in notes or len(notes) >= _MAX_NOTES else (*notes, note)


class Estimate:
    """`calls`: every place where the cell calls a tool, in text order."""

    def __init__(self, judge, tree):
        self._judge = judge
        self._scopes = judge.calls()
        self._sizes = Sizes(judge, [tree, *ast.walk(tree)])
        self._methods = {}
        for (scope, name), nodes in judge.functions.items():
            if scope.kind == "class":
                self._methods.setdefault(name, []).extend(nodes)
        self._uses = {}  # function -> [(count, exact, context) of who calls it]
        self._runs = {}
        self.calls = []
        self._walk(tree)
        self._multiply()

    # The walk: notes calls of tools and of the cell's own functions, each relative to where it stands.

    def _walk(self, tree):
        stack = [_Part(tree)]
        while stack:
            part = stack.pop()
            stack.extend(reversed(self._children(part)))

    def _children(self, part):
        node = part.node
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return self._of_loop(part)
        if isinstance(node, ast.While):
            note = node.lineno, "a while loop"
            return [*(part.of(item, None, note) for item in [node.test, *node.body]), *map(part.of, node.orelse)]
        if isinstance(node, _COMPREHENSIONS):
            return self._of_comprehension(part)
        if isinstance(node, _FUNCTIONS):
            self._uses.setdefault(node, [])
            body = node.body if isinstance(node.body, list) else [node.body]
            outside = [node.args, *getattr(node, "decorator_list", ())]
            return [*map(part.of, outside), *(_Part(item, context=node) for item in body)]
        if isinstance(node, ast.Call):
            self._of_call(part)
        return [part.of(child) for child in ast.iter_child_nodes(node)]

    def _of_loop(self, part):
        node = part.node
        times = self._sizes.length(node.iter, self._judge.scopes[node])
        note = node.lineno, "a loop of unknown length"
        return [part.of(node.iter), *(part.of(item, times, note) for item in node.body),
                *map(part.of, node.orelse)]

    def _of_comprehension(self, part):
        node = part.node
        scope = self._judge.scopes[node]
        found = []
        for generator in node.generators:
            found.append(part.of(generator.iter))
            part = part.of(node, self._sizes.length(generator.iter, scope),
                           (node.lineno, "a comprehension of unknown length"))
            found.extend(map(part.of, generator.ifs))
        inner = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [*found, *map(part.of, inner)]

    def _of_call(self, part):
        node = part.node
        scope = self._scopes.get(node)
        if scope is None:
            return
        self._called(node.func, scope, part)
        times = self._times_mapped(node, scope)
        for item in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(item, (ast.Name, ast.Lambda, ast.Attribute)):
                note = node.lineno, "a call that is handed a function"
                self._called(item, scope, part.of(node, times, note), handed=True)

    def _times_mapped(self, node, scope):
        """How often a function among the arguments is called: once for each item with map, else not told."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if name in ("map", "filter", "starmap", "apply") and len(node.args) >= 2:
            return self._sizes.length(node.args[1], scope)
        return 1 if name in ("submit", "to_thread", "run_in_executor") else None

    def _called(self, function, scope, part, handed=False):
        """Notes that `function` is called, whatever it is."""
        for value in self._judge.values.of(function, scope):
            if value[0] == values.TOOL:
                size = None if handed else self._bytes(part.node, scope)
                self.calls.append(Call(value[1], size, part))
        for own in self._own_functions(function, scope, 0):
            self._uses.setdefault(own, []).append(part)

    def _own_functions(self, node, scope, depth):
        if isinstance(node, ast.Lambda):
            return [node]
        if isinstance(node, ast.Attribute):
            return self._methods.get(node.attr, ())
        if not isinstance(node, ast.Name) or depth > 8:
            return ()
        home = scope.find(node.id)
        if home is None:
            return ()
        found = list(self._judge.functions.get((home, node.id), ()))
        for kind, payload, where in home.bindings[node.id][:8]:
            if kind == "value" and isinstance(payload, (ast.Lambda, ast.Name)):
                found.extend(self._own_functions(payload, where, depth + 1))
        return found

    def _bytes(self, node, scope):
        found = [self._sizes.size(item, scope) for item in node.args if not isinstance(item, ast.Starred)]
        found += [self._sizes.size(item.value, scope) for item in node.keywords if item.arg is not None]
        return sum(size or 0 for size in found)

    # From "per run of its function" to "per run of the cell".

    def _multiply(self):
        for call in self.calls:
            runs, exact, notes = self._runs_of(call.context, 0)
            call.count = min(call.count * runs, _MOST)
            call.exact = call.exact and exact
            for note in notes:
                call.notes = _noted(call.notes, note)
        self.calls.sort(key=lambda call: (call.node.lineno, call.node.col_offset))

    def _runs_of(self, function, depth):
        if function is None:
            return 1, True, ()
        known = self._runs.get(function)
        if known is not None:
            return known
        uses = self._uses.get(function, ())
        if not uses or depth > 200:
            name = getattr(function, "name", "lambda")
            return 1, False, ((function.lineno, f"{name}, which this cell does not call"),)
        # What a function that calls itself gets:
        self._runs[function] = 0, False, ((function.lineno, "a function that calls itself"),)
        total, all_exact, all_notes = 0, True, ()
        for use in uses:
            runs, exact, notes = self._runs_of(use.context, depth + 1)
            total = min(total + use.count * runs, _MOST)
            all_exact = all_exact and use.exact and exact
            for note in (*use.notes, *notes):
                all_notes = _noted(all_notes, note)
        self._runs[function] = max(1, total), all_exact, all_notes
        return self._runs[function]


def _price(prices, tool):
    price = prices.get(tool)
    price = prices.get("*") if price is None else price
    return price if isinstance(price, dict) else {}


def amount_of(call, prices):
    """What one place costs."""
    price = _price(prices, call.tool)
    per_call = _number(price.get("per_call")) or 0
    return call.count * (per_call + (_number(price.get("per_kib")) or 0) * (call.bytes or 0) / 1024)


def _number(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def shown(number):
    """A number without needless digits."""
    return f"{number:.6g}" if number < 10**6 else f"{number:.0f}"


def check(judge, tree):
    """Adds a finding where the estimate is above what the policy's `cost` says."""
    cost = judge.rules.cost
    prices = cost.get("prices")
    deny, ask = _number(cost.get("deny_above")), _number(cost.get("escalate_above"))
    if not isinstance(prices, dict) or not prices or (deny is None and ask is None):
        return
    estimate = Estimate(judge, tree)
    amounts = [(amount_of(call, prices), call) for call in estimate.calls]
    total = sum(amount for amount, _ in amounts)
    effect, limit = (imports.DENY, deny) if deny is not None and total > deny else (imports.ASK, ask)
    if limit is None or total <= limit:
        return
    amounts.sort(key=lambda item: -item[0])
    worst = amounts[0][1]
    judge.add(worst.node, effect, "cost", _message(total, limit, amounts, estimate),
              f"Call {worst.tool}() less often: try it with a few inputs first, or hand over many at once if it "
              "takes a list.")


def _message(total, limit, amounts, estimate):
    places = "; ".join(
        f"{call.tool}() in line {call.node.lineno}: {'' if call.exact else 'at least '}{call.count} "
        f"call{'' if call.count == 1 else 's'}, {shown(amount)}" for amount, call in amounts[:_MAX_SHOWN])
    more = f"; and {len(amounts) - _MAX_SHOWN} more places" if len(amounts) > _MAX_SHOWN else ""
    certain = all(call.exact for _, call in amounts)
    return (f"the cell is estimated to cost {'' if certain else 'at least '}{shown(total)}, more than "
            f"{shown(limit)} ({places}{more}){_unknown(estimate)}")


def _unknown(estimate):
    found = dict.fromkeys(note for call in estimate.calls for note in call.notes)
    notes = [f"{what} in line {line}" for line, what in found][:_MAX_SHOWN]
    return f"; counted once, as the text does not tell how often: {', '.join(notes)}" if notes else ""


def described(call, prices, positions):
    """A call of a tool for `explain`: the place, what is known of the arguments, how often, what it costs."""
    node = call.node
    return {
        "kind": "tool", "name": call.tool, "line": node.lineno,
        "column": positions.column(node.lineno, node.col_offset), "count": call.count, "exact": call.exact,
        "amount": float(amount_of(call, prices)), "arguments": _arguments(node),
        "notes": [f"{what} in line {line}" for line, what in call.notes],
    }


def _arguments(node):
    """[{"position" or "name", "json" if the text tells the value}] of a call."""
    found = []
    for position, item in enumerate(node.args):
        if isinstance(item, ast.Starred):
            found.append({"name": "*"})
            break
        found.append({"position": position, **_literal(item)})
    found.extend({"name": item.arg or "**", **(_literal(item.value) if item.arg else {})} for item in node.keywords)
    return found[:64]


def _literal(node):
    try:
        text = json.dumps(ast.literal_eval(node), allow_nan=False)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {}
    return {"json": text} if len(text) <= 4096 else {}
