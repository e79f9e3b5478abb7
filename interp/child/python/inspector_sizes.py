"""How long a sequence is, how large a text, what a number is, as far as a cell spells it out; None: not told.

Nothing is computed with values of the cell: only constants of the tree are added up and multiplied.
"""

import ast

from . import inspector_scopes as scopes
from . import inspector_values as values

_MAX_DEPTH = 40
_MOST = 10**15
_MUTATORS = frozenset("append extend insert add update setdefault pop remove clear popitem discard".split())
_SAME_LENGTH = frozenset("builtins.list builtins.tuple builtins.sorted builtins.reversed builtins.enumerate "
                         "builtins.iter builtins.set builtins.frozenset builtins.dict".split())
_VIEWS = frozenset(("items", "keys", "values", "copy"))


class Sizes:
    """Answers about the expressions of one cell; `judge` has its scopes and values."""

    def __init__(self, judge, nodes):
        self._judge = judge
        self._changed = _changed_names(nodes)
        self._depth = 0
        self._asked = set()

    def number(self, node, scope):
        """The whole number that `node` stands for, or None."""
        return self._ask(node, scope, self._number)

    def length(self, node, scope):
        """How many items iterating over `node` gives, at most; None: not told."""
        return self._ask(node, scope, self._length)

    def size(self, node, scope):
        """Bytes of the texts that `node` spells out, or None. Numbers count as nothing."""
        return self._ask(node, scope, self._size)

    def _ask(self, node, scope, answer):
        key = (answer.__name__, id(node))
        if key in self._asked or self._depth >= _MAX_DEPTH:
            return None  # a question about itself, or one too deep
        self._asked.add(key)
        self._depth += 1
        try:
            found = answer(node, scope)
        finally:
            self._depth -= 1
            self._asked.discard(key)
        return found if found is None or -_MOST <= found <= _MOST else None

    def _bound(self, node, scope, answer):
        """The largest of what a name may be bound to; None where one of these is not told."""
        home = scope.find(node.id)
        if home is None:
            return None
        found = []
        for kind, payload, where in home.bindings[node.id]:
            told = answer(payload, where) if kind == scopes.VALUE else None
            if told is None:
                return None
            found.append(told)
        return max(found)

    def _number(self, node, scope):
        if isinstance(node, ast.Constant):
            return int(node.value) if type(node.value) in (int, float) and abs(node.value) <= _MOST else None
        if isinstance(node, ast.Name):
            return self._bound(node, scope, self.number)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self.number(node.operand, scope)
            return None if found is None else -found
        if isinstance(node, ast.BinOp):
            return _arithmetic(node.op, self.number(node.left, scope), self.number(node.right, scope))
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            paths = self._paths(node, scope)
            if "builtins.len" in paths:
                return self.length(node.args[0], scope)
            if "builtins.int" in paths:
                return self.number(node.args[0], scope)
        return None

    def _paths(self, node, scope):
        return values.modules(self._judge.values.of(node.func, scope))

    def _length(self, node, scope):
        handler = _LENGTHS.get(type(node))
        return handler(self, node, scope) if handler is not None else None

    def _of_constant(self, node, scope):
        return len(node.value) if isinstance(node.value, (str, bytes)) else None

    def _of_items(self, node, scope):
        return _total(self.length(item.value, scope) if isinstance(item, ast.Starred) else 1
                      for item in node.elts)

    def _of_dict(self, node, scope):
        return None if None in node.keys else len(node.keys)

    def _of_name(self, node, scope):
        return None if node.id in self._changed else self._bound(node, scope, self.length)

    def _of_comprehension(self, node, scope):
        inner = self._judge.scopes.get(node, scope)
        return _product(self.length(part.iter, inner) for part in node.generators)

    def _of_binary(self, node, scope):
        if isinstance(node.op, ast.Add):
            return _total([self.length(node.left, scope), self.length(node.right, scope)])
        if isinstance(node.op, ast.Mult):
            for sequence, times in ((node.left, node.right), (node.right, node.left)):
                length = self.length(sequence, scope)
                if length is not None:
                    return _product([length, self.number(times, scope)])
        return None

    def _of_slice(self, node, scope):
        if not isinstance(node.slice, ast.Slice):
            return None
        whole = self.length(node.value, scope)
        upper = self.number(node.slice.upper, scope) if node.slice.upper is not None else None
        known = [n for n in (whole, upper) if n is not None and n >= 0]
        return min(known) if known else None

    def _of_call(self, node, scope):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args:
            return self.length(node.func.value, scope)
        for path in self._paths(node, scope):
            found = self._of_function(path, node, scope)
            if found is not None:
                return found
        return None

    def _of_function(self, path, node, scope):
        arguments = node.args
        if any(isinstance(item, ast.Starred) for item in arguments) or not arguments:
            return None
        if path == "builtins.range":
            return _range([self.number(item, scope) for item in arguments])
        if path in _SAME_LENGTH:
            return self.length(arguments[0], scope)
        lengths = [self.length(item, scope) for item in arguments]
        if path == "builtins.zip":
            return min((n for n in lengths if n is not None), default=None)
        if path in ("builtins.map", "builtins.filter") and len(arguments) > 1:
            return lengths[1]
        if path in ("itertools.repeat", "itertools.islice") and len(arguments) == 2:
            return self.number(arguments[1], scope)
        return _product(lengths) if path == "itertools.product" and not node.keywords else None

    def _size(self, node, scope):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return len(node.value.encode("utf-8", "replace"))
            return len(node.value) if isinstance(node.value, bytes) else 0
        if isinstance(node, ast.Name):
            return None if node.id in self._changed else self._bound(node, scope, self.size)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return _total(self.size(item, scope) for item in node.elts)
        if isinstance(node, ast.Dict):
            return _total(self.size(item, scope) for item in [*node.keys, *node.values])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return _total([self.size(node.left, scope), self.size(node.right, scope)])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for text, times in ((node.left, node.right), (node.right, node.left)):
                if self.number(times, scope) is not None:
                    return _product([self.size(text, scope), max(0, self.number(times, scope))])
        return 0 if self.number(node, scope) is not None else None


def _changed_names(nodes):
    """Names whose sequence the cell lets grow or shrink in place."""
    changed = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _MUTATORS and isinstance(node.value, ast.Name):
            changed.add(node.value.id)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name):
                changed.add(node.value.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.add(node.target.id)
    return changed


def _total(parts):
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _product(parts):
    product = 1
    for part in parts:
        if part is None:
            return None
        product = min(product * part, _MOST)
    return product


def _arithmetic(operation, left, right):
    if left is None or right is None:
        return None
    if isinstance(operation, ast.Add):
        return left + right
    if isinstance(operation, ast.Sub):
        return left - right
    if isinstance(operation, ast.Mult):
        return left * right
    if isinstance(operation, (ast.FloorDiv, ast.Div)) and right:
        return left // right
    if isinstance(operation, ast.Pow) and 0 <= right <= 50 and abs(left) <= 1000:
        return left**right
    return None


def _range(numbers):
    if None in numbers or len(numbers) > 3 or (len(numbers) == 3 and numbers[2] == 0):
        return None
    return len(range(*numbers))


_LENGTHS = {
    ast.Constant: Sizes._of_constant,
    ast.List: Sizes._of_items,
    ast.Tuple: Sizes._of_items,
    ast.Set: Sizes._of_items,
    ast.Dict: Sizes._of_dict,
    ast.Name: Sizes._of_name,
    ast.ListComp: Sizes._of_comprehension,
    ast.SetComp: Sizes._of_comprehension,
    ast.DictComp: Sizes._of_comprehension,
    ast.GeneratorExp: Sizes._of_comprehension,
    ast.BinOp: Sizes._of_binary,
    ast.Subscript: Sizes._of_slice,
    ast.Call: Sizes._of_call,
}
