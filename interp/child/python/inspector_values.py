"""What an expression stands for, as far as the text tells: constants, modules and their members, file paths.

`Evaluator.of` computes with *descriptions* of values, never with the values: no attribute of a judged object
is read, nothing is called. A description is a tuple whose first item is one of the kinds below; an expression
has a tuple of them (all that it may stand for, at most MAX_VALUES), and () means that the text does not tell.
"""

import ast
import builtins as _builtins
import itertools
import posixpath

from . import inspector_folding as folding
from . import inspector_imports as imports
from . import inspector_scopes as scopes

TEXT = "text"        # (TEXT, str)
PREFIX = "prefix"    # (PREFIX, str): a text that begins so
BYTES = "bytes"      # (BYTES, bytes)
NUMBER = "number"    # (NUMBER, int or bool or None)
MODULE = "module"    # (MODULE, dotted path): a module or a member of one; builtins are "builtins.NAME"
PATH = "path"        # (PATH, str): a pathlib path
STEM = "stem"        # (STEM, str): a pathlib path below that folder
ITEMS = "items"      # (ITEMS, tuple of nodes, scope): a list, tuple or set that is spelled out
SPACE = "space"      # (SPACE, dotted path or ""): the namespace of a module, or some other namespace
CLASS = "class"      # (CLASS, ""): a class
TOOL = "tool"        # (TOOL, name): a tool of the host

MAX_VALUES = 8
MAX_DEPTH = 60
MAX_TEXT = 4096

# Names that cells use for modules which an earlier cell imported.
_USUAL_ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}
_BUILTINS = frozenset(dir(_builtins))
_PATH_CLASSES = frozenset(f"pathlib.{name}" for name in ("Path", "PosixPath", "PurePath", "PurePosixPath"))
_SAME_PATH = frozenset("expanduser resolve absolute".split())


def _merge(groups):
    merged = {}
    for group in groups:
        merged.update(dict.fromkeys(group))
        if len(merged) > MAX_VALUES:
            break
    return tuple(merged)[:MAX_VALUES]


def texts(values):
    return [value[1] for value in values if value[0] == TEXT]


def modules(values):
    return [value[1] for value in values if value[0] == MODULE]


class Evaluator:
    """Answers `of(node, scope)`; remembers every answer, so that all questions together cost one pass."""

    def __init__(self, rules, module_scope):
        self._rules = rules
        self._module = module_scope
        self._depth = 0

    def of(self, node, scope):
        known = getattr(node, "_values", None)
        if known is not None:
            return known
        handler = _HANDLERS.get(type(node))
        if handler is None or self._depth >= MAX_DEPTH:
            return ()
        node._values = ()  # what a question about itself gets
        self._depth += 1
        try:
            node._values = handler(self, node, scope)
        finally:
            self._depth -= 1
        return node._values

    def name(self, name, scope):
        home = scope.find(name)
        if home is None:
            return self._free(name, scope)
        known = home.values.get(name)
        if known is None:
            home.values[name] = ()
            for binding in home.bindings[name][: 4 * MAX_VALUES]:
                home.values[name] = _merge([home.values[name], self._bound(binding)])
            known = home.values[name]
        return known

    def _bound(self, binding):
        kind, payload, scope = binding
        if kind == scopes.MODULE:
            return self._imported(payload)
        if kind == scopes.VALUE:
            return self.of(payload, scope)
        if kind == scopes.ELEMENT:
            return self.items(payload, scope)
        return ((CLASS, ""),) if payload is not None else ()

    def _imported(self, path):
        base, _, member = path.rpartition(".")
        if not base:
            return ((MODULE, path),)
        return self.member(base, member)

    def _free(self, name, scope):
        if name in self._rules.tools:
            return ((TOOL, name),)
        found = [(MODULE, f"{module}.{name}") for module in itertools.islice(scope.root().stars, MAX_VALUES)]
        if name in _BUILTINS:
            found.append((MODULE, f"builtins.{name}"))
        elif name in _USUAL_ALIASES:
            found.append((MODULE, _USUAL_ALIASES[name]))
        elif name in imports.STDLIB and self._rules.effect(name) == imports.ALLOW:
            found.append((MODULE, name))
        return tuple(found[:MAX_VALUES])

    def member(self, base, attribute):
        """The values of `base.attribute` where base is a module or a member of one."""
        if attribute == "__dict__":
            return ((SPACE, base),)
        if imports.judge_member(self._rules, base, attribute) is not None:
            return ()
        module = imports.module_named(attribute, base)
        return ((MODULE, module or f"{base}.{attribute}"),)

    def items(self, node, scope):
        """The values that iterating over `node` may give."""
        found = []
        for value in self.of(node, scope):
            if value[0] == ITEMS:
                found.extend(self.of(item, value[2]) for item in value[1][: 4 * MAX_VALUES])
        return _merge(found)

    def _of_name(self, node, scope):
        return self.name(node.id, scope)

    def _of_constant(self, node, scope):
        value = node.value
        if isinstance(value, str):
            return ((TEXT, value),)
        if isinstance(value, bytes):
            return ((BYTES, value),)
        return ((NUMBER, value),) if value is None or isinstance(value, int) else ()

    def _of_items(self, node, scope):
        return ((ITEMS, tuple(node.elts), scope),)

    def _of_choice(self, node, scope):
        return _merge(self.of(item, scope) for item in (node.body, node.orelse))

    def _of_bool(self, node, scope):
        return _merge(self.of(item, scope) for item in node.values)

    def _of_unary(self, node, scope):
        value = folding.number(self.of(node.operand, scope)) if isinstance(node.op, ast.USub) else None
        return ((NUMBER, -value),) if value is not None else ()

    def _of_named(self, node, scope):
        return self.of(node.value, scope)

    def _of_fstring(self, node, scope):
        parts = [((TEXT, ""),)]
        for item in node.values:
            if not isinstance(item, ast.FormattedValue):
                parts.append(self.of(item, scope))
            elif item.conversion in (-1, ord("s")) and item.format_spec is None:
                parts.append(self.of(item.value, scope))
            else:
                parts.append(())
            if not parts[-1]:
                break
        return folding.concatenated(parts)

    def _of_binary(self, node, scope):
        left, right = self.of(node.left, scope), self.of(node.right, scope)
        if isinstance(node.op, ast.Add):
            return folding.concatenated([left, right])
        if isinstance(node.op, ast.Div):
            return folding.joined_paths(left, [right])
        if isinstance(node.op, ast.Mult):
            return folding.repeated(left, right)
        if isinstance(node.op, ast.Mod):
            arguments = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return folding.interpolated(left, [self.of(item, scope) for item in arguments])
        return ()

    def _of_attribute(self, node, scope):
        found = []
        for value in self.of(node.value, scope):
            if value[0] == MODULE:
                found.append(self.member(value[1], node.attr))
            elif value[0] == PATH and node.attr == "parent":
                found.append(((PATH, posixpath.dirname(value[1])),))
        if node.attr == "__dict__" and not found:
            return ((SPACE, ""),)
        return ((CLASS, ""),) if node.attr == "__class__" and not found else _merge(found)

    def _of_subscript(self, node, scope):
        base = self.of(node.value, scope)
        if not base:
            return ()
        if isinstance(node.slice, ast.Slice):
            bounds = [0 if part is None else folding.number(self.of(part, scope))
                      for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            given = [part is not None for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            return folding.sliced(base, bounds, given)
        return self.item(base, self.of(node.slice, scope))

    def item(self, base, keys):
        """The values of `base[key]`."""
        found = []
        for value in base:
            for key in keys:
                if value == (MODULE, "sys.modules") and key[0] == TEXT:
                    found.append(((MODULE, key[1]),))
                elif value[0] == SPACE and value[1] and key[0] == TEXT:
                    found.append(self.member(value[1], key[1]))
                elif value[0] == ITEMS and key[0] == NUMBER and isinstance(key[1], int):
                    nodes = value[1]
                    if -len(nodes) <= key[1] < len(nodes):
                        found.append(self.of(nodes[key[1]], value[2]))
                elif value[0] == TEXT:
                    found.append(folding.character(value[1], key))
        return _merge(found)

    def _of_call(self, node, scope):
        if isinstance(node.func, ast.Attribute):
            found = self._of_method(node, scope)
            if found:
                return found
        return _merge(self._of_function(path, node, scope) for path in modules(self.of(node.func, scope)))

    def _of_function(self, path, node, scope):
        arguments = [self.of(item, scope) for item in node.args[:MAX_VALUES]]
        if path in _PATH_CLASSES:
            return folding.joined_paths(((PATH, ""),), arguments) if arguments else ((PATH, "."),)
        if path in ("pathlib.Path.home", "pathlib.Path.cwd"):
            return ((PATH, "~" if path.endswith("home") else "."),)
        if path in ("os.path.join", "posixpath.join"):
            return folding.joined_texts(arguments)
        if path == "builtins.getattr" and len(arguments) >= 2:
            return self.attribute(arguments[0], arguments[1])
        if path == "builtins.vars" or path in ("builtins.globals", "builtins.locals"):
            spaces = [((SPACE, module),) for module in modules(arguments[0])] if arguments else []
            return _merge(spaces) or ((SPACE, ""),)
        if path == "builtins.type" and len(arguments) == 1:
            return ((CLASS, ""),)
        if path == "importlib.import_module" and arguments:
            return tuple((MODULE, text) for text in texts(arguments[0]))
        return folding.called(path, arguments)

    def attribute(self, objects, names):
        """What getattr gives for modules and constant names."""
        return _merge(self.member(module, name) for module in modules(objects) for name in texts(names))

    def _of_method(self, node, scope):
        base = self.of(node.func.value, scope)
        name = node.func.attr
        if not base:
            return ()
        arguments = [self.of(item, scope) for item in node.args[:MAX_VALUES]]
        if name == "join" and len(node.args) == 1:
            return folding.joined(base, self._item_values(node.args[0], scope))
        if name == "joinpath":
            return folding.joined_paths(base, arguments)
        if name in _SAME_PATH and not node.args:
            return tuple(value for value in base if value[0] == PATH)
        if name == "get" and arguments:
            return self.item(base, arguments[0])
        return folding.method(name, base, arguments)

    def _item_values(self, node, scope):
        """One tuple of values per item of a sequence that is spelled out; None if it is not."""
        if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
            if (MODULE, "builtins.map") in self.of(node.func, scope):
                items = self._item_values(node.args[1], scope)
                paths = modules(self.of(node.args[0], scope))
                if items is not None and len(paths) == 1:
                    return [folding.called(paths[0], [item]) for item in items]
                return None
        for value in self.of(node, scope):
            if value[0] == ITEMS:
                return [self.of(item, value[2]) for item in value[1][:256]]
            if value[0] == TEXT:
                return [((TEXT, character),) for character in value[1][:256]]
        return None


_HANDLERS = {
    ast.Name: Evaluator._of_name,
    ast.Constant: Evaluator._of_constant,
    ast.List: Evaluator._of_items,
    ast.Tuple: Evaluator._of_items,
    ast.Set: Evaluator._of_items,
    ast.IfExp: Evaluator._of_choice,
    ast.BoolOp: Evaluator._of_bool,
    ast.NamedExpr: Evaluator._of_named,
    ast.JoinedStr: Evaluator._of_fstring,
    ast.BinOp: Evaluator._of_binary,
    ast.UnaryOp: Evaluator._of_unary,
    ast.Attribute: Evaluator._of_attribute,
    ast.Subscript: Evaluator._of_subscript,
    ast.Call: Evaluator._of_call,
}
