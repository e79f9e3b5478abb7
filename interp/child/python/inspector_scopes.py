"""The first pass: one walk over the tree that notes who binds which name, and where something can be judged.

The walk keeps its own stack, so that no nesting the parser accepts can exhaust the interpreter's. It is blind
to the order of execution: a name stands for everything that is ever bound to it in its scope.
"""

import ast

# Kinds of binding; a binding is (kind, payload, scope).
MODULE = "module"    # payload: dotted path of a module, or of a member of one
VALUE = "value"      # payload: the expression bound
ELEMENT = "element"  # payload: an expression over whose items the name runs
OWN = "own"          # something of the cell's own: a function, a class, a parameter, a file ...

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SKIPPED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Scope:
    """The names of a module, function, class or comprehension."""

    __slots__ = ("kind", "parent", "bindings", "outer", "stars", "values")

    def __init__(self, kind, parent=None):
        self.kind = kind
        self.parent = parent
        self.bindings = {}
        self.outer = {}   # name -> scope that `global` or `nonlocal` sends it to
        self.stars = {}   # modules of `from m import *`
        self.values = {}  # the evaluator's memory: name -> values

    def bind(self, name, kind, payload=None, scope=None):
        home = self.outer.get(name, self)
        home.bindings.setdefault(name, []).append((kind, payload, scope or self))

    def find(self, name):
        """The scope in which `name`, read here, is bound; None if nowhere in the cell."""
        scope = self
        while scope is not None:
            home = scope.outer.get(name)
            if home is not None:
                return home if name in home.bindings else None
            if name in scope.bindings and (scope.kind != "class" or scope is self):
                return scope
            scope = scope.parent
        return None

    def root(self):
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def function_scope(self):
        """Where a `:=` or a `nonlocal` of this scope binds."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope


class Walk:
    """After `run`: `module` is the outermost scope, `sites` the nodes worth judging as (node, scope), in text
    order with parents before children, and `own_attributes` the attribute names the cell's classes give
    themselves."""

    def __init__(self, watched_names):
        self.module = Scope("module")
        self.sites = []
        self.own_attributes = set()
        self.scopes = {}     # loops, comprehensions and function bodies -> the scope their parts are read in
        self.functions = {}  # (scope, name) -> the functions of this name
        self._watched = watched_names

    def run(self, tree, scope=None):
        stack = [(tree, scope or self.module)]
        handlers = _HANDLERS
        while stack:
            node, here = stack.pop()
            handler = handlers.get(type(node))
            children = handler(self, node, here) if handler is not None else None
            if children is None:
                children = _children(node, here)
            children.reverse()
            stack.extend(children)
        return self

    def bind_target(self, target, kind, payload, scope, home=None):
        """Binds the names in an assignment target; pairs up `a, b = x, y` where both sides are spelled
        out."""
        todo = [(target, kind, payload)]
        while todo:
            node, kind, payload = todo.pop()
            if isinstance(node, ast.Name):
                (home or scope).bind(node.id, kind, payload, scope)
            elif isinstance(node, ast.Starred):
                todo.append((node.value, OWN, None))
            elif isinstance(node, (ast.Tuple, ast.List)):
                todo.extend(_paired(node.elts, kind, payload))
            elif isinstance(node, ast.Attribute) and isinstance(node.value,
                                                                ast.Name) and node.value.id == "self":
                self.own_attributes.add(node.attr)


def _paired(targets, kind, payload):
    spelled = kind == VALUE and isinstance(payload,
                                           (ast.Tuple, ast.List)) and len(payload.elts) == len(targets)
    if spelled and not any(isinstance(e, ast.Starred) for e in [*targets, *payload.elts]):
        return [(target, VALUE, value) for target, value in zip(targets, payload.elts)]
    return [(target, OWN, None) for target in targets]


def _children(node, scope):
    found = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            found.extend([(item, scope) for item in value if isinstance(item, ast.AST)])
        elif isinstance(value, ast.AST) and not isinstance(value, _SKIPPED):
            found.append((value, scope))
    return found


def _annotation(walk, node, scope):
    """An annotation; one that is a text with a call in it is a site: typing evaluates such texts."""
    if node is None:
        return []
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "(" in node.value:
        walk.sites.append((node, scope))
    return [(node, scope)]


def _arguments(walk, arguments, outer, inner):
    """Binds parameters; returns what is evaluated outside: defaults and annotations."""
    outside = []
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for parameter, default in [*zip(positional, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]:
        inner.bind(parameter.arg, OWN)
        if default is not None:
            inner.bind(parameter.arg, VALUE, default, outer)
            outside.append((default, outer))
        outside.extend(_annotation(walk, parameter.annotation, outer))
    for parameter in (arguments.vararg, arguments.kwarg):
        if parameter is not None:
            inner.bind(parameter.arg, OWN)
            outside.extend(_annotation(walk, parameter.annotation, outer))
    return outside


def _function(walk, node, scope):
    inner = walk.scopes[node] = Scope("function", scope)
    outside = _arguments(walk, node.args, scope, inner)
    if isinstance(node, ast.Lambda):
        return [*outside, (node.body, inner)]
    scope.bind(node.name, OWN)
    walk.functions.setdefault((scope, node.name), []).append(node)
    before = [(item, scope) for item in [*node.decorator_list, *getattr(node, "type_params", ())]]
    after = _annotation(walk, node.returns, scope)
    return [*before, *outside, *after, *((item, inner) for item in node.body)]


def _class(walk, node, scope):
    scope.bind(node.name, OWN, node)
    inner = Scope("class", scope)
    outside = [(item, scope)
               for item in [*node.decorator_list, *getattr(node, "type_params", ()), *node.bases,
                                          *node.keywords]]
    for item in node.body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            walk.own_attributes.update(t.id for t in targets if isinstance(t, ast.Name))
        elif isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            walk.own_attributes.add(item.name)
    return [*outside, *((item, inner) for item in node.body)]


def _comprehension(walk, node, scope):
    inner = walk.scopes[node] = Scope("comprehension", scope)
    for part in node.generators:
        walk.bind_target(part.target, ELEMENT, part.iter, inner)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return [(item, inner) for item in [*node.generators, *parts]]


def _assign(walk, node, scope):
    for target in node.targets:
        walk.bind_target(target, VALUE, node.value, scope)
        name = getattr(target, "id", None) or getattr(target, "attr", None)
        if name == "__annotations__" and isinstance(node.value, ast.Dict):
            for item in node.value.values:
                _annotation(walk, item, scope)


def _annotated_assign(walk, node, scope):
    _annotation(walk, node.annotation, scope)
    if node.value is not None:
        walk.bind_target(node.target, VALUE, node.value, scope)


def _augmented_assign(walk, node, scope):
    if isinstance(node.target, ast.Name):
        before = ast.Name(id=node.target.id, ctx=ast.Load())
        scope.bind(node.target.id, VALUE, ast.BinOp(left=before, op=node.op, right=node.value))


def _named(walk, node, scope):
    walk.bind_target(node.target, VALUE, node.value, scope, scope.function_scope())


def _for(walk, node, scope):
    walk.scopes[node] = scope
    walk.bind_target(node.target, ELEMENT, node.iter, scope)


def _with_item(walk, node, scope):
    if node.optional_vars is not None:
        walk.bind_target(node.optional_vars, OWN, None, scope)


def _import(walk, node, scope):
    walk.sites.append((node, scope))
    for alias in node.names:
        if alias.asname:
            scope.bind(alias.asname, MODULE, alias.name)
        else:
            root = alias.name.partition(".")[0]
            scope.bind(root, MODULE, root)
    return []


def _import_from(walk, node, scope):
    walk.sites.append((node, scope))
    if node.level:
        for alias in node.names:
            scope.bind(alias.asname or alias.name, OWN)
        return []
    for alias in node.names:
        if alias.name == "*":
            scope.root().stars[node.module] = None
        else:
            scope.bind(alias.asname or alias.name, MODULE, f"{node.module}.{alias.name}")
    return []


def _global(walk, node, scope):
    for name in node.names:
        scope.outer[name] = scope.root()
    return []


def _nonlocal(walk, node, scope):
    for name in node.names:
        home = scope.parent
        while home is not None and home.kind != "function":
            home = home.parent
        scope.outer[name] = home or scope.root()
    return []


def _own_name(walk, node, scope):
    if node.name:
        scope.bind(node.name, OWN)


def _match_mapping(walk, node, scope):
    if node.rest:
        scope.bind(node.rest, OWN)


def _site(walk, node, scope):
    walk.sites.append((node, scope))


def _name(walk, node, scope):
    if node.id in walk._watched:
        walk.sites.append((node, scope))
    return []


def _constant(walk, node, scope):
    return []


_HANDLERS = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _function,
    ast.ClassDef: _class,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated_assign,
    ast.AugAssign: _augmented_assign,
    ast.NamedExpr: _named,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.withitem: _with_item,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.ExceptHandler: _own_name,
    ast.MatchAs: _own_name,
    ast.MatchStar: _own_name,
    ast.MatchMapping: _match_mapping,
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _site,
    ast.Call: _site,
    ast.Subscript: _site,
    ast.Compare: _site,
    ast.MatchClass: _site,
    **{kind: _comprehension for kind in _COMPREHENSIONS},
}
