"""The second pass: judges every site that the first pass noted."""

import ast
import itertools

from . import inspector_calls as calls
from . import inspector_dynamic as dynamic
from . import inspector_hints as hints
from . import inspector_imports as imports
from . import inspector_names as names
from . import inspector_scopes as scopes
from . import inspector_values as values
from .inspector_findings import Findings, quoted

_WATCHED = names.WATCHED_NAMES | imports.CAPABILITIES | {"chdir"}
_MODULES = "gives modules by computed name"
_HARMLESS_KEYS = frozenset(("keys", "get", "__contains__", "__len__"))
_COUNTING = frozenset(f"builtins.{name}" for name in ("list", "sorted", "set", "len", "tuple", "frozenset"))


class Judge:
    """Judges a tree under rules; `findings` grows. One per cell; a text argument is judged by an inner
    one."""

    def __init__(self, rules, tree, scope=None, outer=None):
        self.rules = rules
        self.findings = Findings()
        self.depth = outer.depth + 1 if outer is not None else 0
        walk = scopes.Walk(_WATCHED)
        self._sites = walk.run(tree, scope).sites
        self.scopes, self.functions = walk.scopes, walk.functions
        self._own_attributes = walk.own_attributes
        self.module_scope = scope.root() if scope is not None else walk.module
        self.values = outer.values if outer is not None else values.Evaluator(rules, self.module_scope)
        self._top = tree.body if scope is None else []
        self._firm = None
        self._excused = set()
        self._called = set()
        self._answers = outer._answers if outer is not None else {}
        self.moves = any(isinstance(node, (ast.Attribute, ast.Name)) and
                         (getattr(node, "attr", None) or getattr(node, "id", None)) == "chdir"
                         for node, _ in self._sites)

    def run(self):
        for node, scope in self._sites:
            _SITES[type(node)](self, node, scope)
        return self.findings

    def calls(self):
        """The calls of the cell with the scope that each stands in."""
        return {node: scope for node, scope in self._sites if isinstance(node, ast.Call)}

    def sites(self):
        return self._sites

    def inner(self, tree, scope):
        return Judge(self.rules, tree, scope, self).run()

    def once(self, kind, subject, answer):
        """answer(), computed once per kind and subject, however often the cell repeats it."""
        key = (kind, subject)
        if key not in self._answers:
            self._answers[key] = answer()
        return self._answers[key]

    # What the rules call to report; a hint is a text, or a function that makes it when it is needed.

    def add(self, node, effect, rule, message, hint):
        self.findings.add(node.lineno, node.col_offset, effect, rule, message, hint)

    def add_attribute(self, node, why, shown, rule):
        line, offset = _attribute_place(node)
        self.findings.add(line, offset, imports.DENY, rule, f".{shown} {why}", names.instead_of(shown))

    def member(self, node, base, attribute, shown, rule=None):
        """Reports a member of a module that may not be used; whether it did. `rule` is that for re-exported
        modules."""
        found = imports.judge_member(self.rules, base, attribute)
        if found is None:
            if (base, attribute) != ("sys", "modules"):
                return False
            found = imports.DENY, "attribute", _MODULES
        effect, found_rule, why = found
        known = f"{base}.{attribute}" in imports.MEMBERS
        if rule is None or known or imports.module_named(attribute, base) is None:
            rule = found_rule
        line, offset = _attribute_place(node) if isinstance(node, ast.Attribute) else (node.lineno,
                                                                                       node.col_offset)
        self.findings.add(line, offset, effect, rule, f"{quoted(shown)}: {why}",
                          lambda: self._member_hint(base, attribute, rule, why))
        return True

    def _member_hint(self, base, attribute, rule, why):
        if rule == "network":
            return hints.network(self.rules)
        if f"{base}.{attribute}" in imports.MEMBERS or why == _MODULES:
            return names.member_hint(base, attribute, why)
        return hints.module(self.rules, imports.module_named(attribute, base) or attribute)

    def module(self, node, name, shown, imported=(), rule="import"):
        """Reports a module that may not be imported; whether it did."""
        effect = self.rules.effect(name)
        if effect == imports.ALLOW:
            return False
        if name.partition(".")[0] in imports.PICKLERS:
            rule = "pickle"
        asks = "needs a person's consent" if effect == imports.ASK else "is not allowed"
        self.add(node, effect, rule, f"{quoted(shown)}: the module {quoted(name)} {asks}",
                 lambda: hints.module(self.rules, name, imported))
        return True

    # Sites.

    def _import(self, node, scope):
        for alias in node.names:
            at = alias if hasattr(alias, "lineno") else node
            self.module(at, alias.name, f"import {alias.name}")

    def _import_from(self, node, scope):
        if node.level:
            self._relative_import(node, scope)
            return
        base = node.module
        imported = [alias.name for alias in node.names]
        if self.rules.is_parent(base) and "*" not in imported:
            for alias in node.names:
                name = f"{base}.{alias.name}"
                if name not in self.rules.parents:
                    self.module(alias, name, f"from {base} import {alias.name}", imported)
            return
        if self.module(node, base, f"from {base} import {', '.join(imported)}", imported):
            return
        for alias in node.names:
            if alias.name != "*":
                self._member_import(alias, base)

    def _relative_import(self, node, scope):
        """A cell is in no package, so Python refuses this itself, unless the cell says that it is in one."""
        if scope.find("__package__") is not None:
            shown = "." * node.level + (node.module or "")
            self.add(node, imports.DENY, "import",
                     f"from {shown} import ...: relative to a changed __package__",
                     "Import modules by their full name, and leave __package__ alone.")

    def _member_import(self, alias, base):
        shown = f"from {base} import {alias.name}"
        if not self.member(alias, base, alias.name, shown, "import"):
            self._internal_text(alias, alias.name, shown)

    def _internal_text(self, node, attribute, shown):
        if attribute in self.rules.internals:
            self.add(node, imports.DENY, names.rule_of(attribute), f"{shown}: {self.rules.internals[attribute]}",
                     names.instead_of(attribute))

    def _name(self, node, scope):
        name = node.id
        if name in names.MODULE_INTERNALS:
            if name in self.rules.internals and scope.find(name) is None:
                self.add(node, imports.DENY, "dunder", f"{name} {names.DUNDERS[name]}",
                         names.instead_of(name))
        elif name in names.FORBIDDEN_BUILTINS:
            if name not in self.rules.builtins:
                self._builtin(node, scope)
        elif self.module_scope.stars and scope.find(name) is None and name not in self.rules.tools:
            for module in itertools.islice(self.module_scope.stars, values.MAX_VALUES):
                self.member(node, module, name, f"{name} from {module} import *")

    def _builtin(self, node, scope):
        name = node.id
        effect = imports.DENY
        if name not in names.ALWAYS_FORBIDDEN:
            if not isinstance(node.ctx, ast.Load) or name in self.rules.tools:
                return
            home = scope.find(name)
            if home is not None:
                if home.kind in ("function", "comprehension") or self._is_firm(name, node):
                    return
                effect = imports.ASK
        what, instead = names.FORBIDDEN_BUILTINS[name]
        self.add(node, effect, "builtin", f"{name} {what}", instead)

    def _is_firm(self, name, node):
        """Whether a statement of the cell surely binds `name` before `node` runs, and nothing deletes it."""
        if self._firm is None:
            self._firm = _firm_bindings(self._top)
        line = self._firm.get(name)
        return line is not None and line <= node.lineno

    def _attribute(self, node, scope):
        attribute = node.attr
        if attribute in calls.FORMATTERS and id(node) not in self._called:
            calls.check_unbound_format(self, node, scope)
        if attribute in self.rules.internals:
            if (attribute in names.DUNDERS or attribute in self.rules.attributes_denied
                    or attribute not in self._own_attributes):
                self.add_attribute(node, self.rules.internals[attribute], attribute, names.rule_of(attribute))
            return
        for base in values.modules(self.values.of(node.value, scope)):
            path = f"{base}.{attribute}"
            if path == "sys.modules":
                self._table(node)
            elif attribute != "__dict__":
                self.member(node, base, attribute, path)

    def _table(self, node):
        """sys.modules other than by a constant key, for its keys, or after `in`."""
        if id(node) not in self._excused:
            line, offset = _attribute_place(node)
            self.findings.add(line, offset, imports.DENY, "attribute", f"sys.modules {_MODULES}",
                              names.member_hint("sys", "modules", _MODULES))

    def _call(self, node, scope):
        function = node.func
        self._called.add(id(function))
        if isinstance(function, ast.Attribute) and function.attr in _HARMLESS_KEYS:
            self._lookup(function.value, node.args[0] if node.args else None, node, scope)
        elif node.args and _COUNTING.intersection(values.modules(self.values.of(function, scope))):
            self._excused.add(id(node.args[0]))
        calls.check(self, node, scope)

    def _subscript(self, node, scope):
        self._lookup(node.value, node.slice, node, scope)

    def _lookup(self, table, key, node, scope):
        """`table[key]` or `table.get(key)` where table is sys.modules or some namespace."""
        keys = values.texts(self.values.of(key, scope)) if key is not None else []
        for value in self.values.of(table, scope):
            if value == (values.MODULE, "sys.modules"):
                if keys or key is None or _is_own_name(key):
                    self._excused.add(id(table))
                for name in keys:
                    self.module(node, name, f"sys.modules['{name}']", (), "attribute")
            elif value[0] == values.SPACE:
                for name in keys:
                    self._space_key(node, value[1], name)

    def _space_key(self, node, module, name):
        if name in self.rules.internals or name in names.ALWAYS_FORBIDDEN:
            self.add(node, imports.DENY, names.rule_of(name),
                     f"['{name}'] in a namespace: {name} "
                     f"{self.rules.internals.get(name, 'leads out of ordinary code')}",
                     names.instead_of(name))
        elif module:
            self.member(node, module, name, f"vars({module})['{quoted(name)}']")

    def _compare(self, node, scope):
        for operation, right in zip(node.ops, node.comparators):
            if isinstance(operation, (ast.In, ast.NotIn)):
                self._excused.add(id(right))

    def _annotation(self, node, scope):
        dynamic.check_annotation(self, node, scope)

    def _match_class(self, node, scope):
        for attribute in node.kwd_attrs:
            self._internal_text(node, attribute, f"case ...({attribute}=...)")


def _attribute_place(node):
    """Where the attribute's own name stands, not the start of the expression before it."""
    if node.end_lineno is None:
        return node.lineno, node.col_offset
    return node.end_lineno, max(0, node.end_col_offset - len(node.attr.encode("utf-8", "replace")))


def _is_own_name(node):
    return isinstance(node, ast.Name) and node.id == "__name__"


def _firm_bindings(statements):
    firm = {}
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound = [statement.name]
        elif isinstance(statement, ast.Assign):
            bound = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            bound = [alias.asname or alias.name for alias in statement.names]
        else:
            continue
        for name in bound:
            firm.setdefault(name, statement.lineno)
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Delete):
                for target in node.targets:
                    firm.pop(getattr(target, "id", None), None)
    return firm


_SITES = {
    ast.Constant: Judge._annotation,
    ast.Import: Judge._import,
    ast.ImportFrom: Judge._import_from,
    ast.Name: Judge._name,
    ast.Attribute: Judge._attribute,
    ast.Call: Judge._call,
    ast.Subscript: Judge._subscript,
    ast.Compare: Judge._compare,
    ast.MatchClass: Judge._match_class,
}
