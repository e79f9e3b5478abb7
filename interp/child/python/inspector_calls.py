"""Calls: attributes fetched by name, format strings, files and addresses, unpickling, code in text
arguments."""

import ast
import re
import string

from . import inspector_dynamic as dynamic
from . import inspector_hints as hints
from . import inspector_imports as imports
from . import inspector_names as names
from . import inspector_places as places
from . import inspector_values as values
from .inspector_findings import quoted

# Function -> position of the attribute name; the object is the first argument.
_FETCHERS = dict.fromkeys(
    ("builtins.getattr", "builtins.setattr", "builtins.delattr", "inspect.getattr_static",
     "builtins.object.__getattribute__", "builtins.type.__getattribute__", "builtins.object.__setattr__",
     "builtins.object.__delattr__"), 1)
_FETCHING_METHODS = frozenset(("__getattribute__", "__getattr__"))
_GETTERS = frozenset(("operator.attrgetter", "operator.methodcaller"))
_FORMAT_METHODS = frozenset(("format", "format_map", "vformat", "get_field"))
FORMATTERS = frozenset(("format", "format_map"))
_MAX_SPREAD = 16  # no function that is looked at takes more
_GETATTR = (values.MODULE, "builtins.getattr")
_NAMING = (values.TEXT, values.BYTES, values.PATH, values.PREFIX, values.STEM)  # what may name a file
_DOTTED = re.compile(r"\.\s*(\w+)|\[([^\]]*)\]?")


class Arguments:
    """The arguments of a call, with `*[...]` and `**{...}` that are spelled out taken apart."""

    def __init__(self, judge, node, scope):
        self._judge = judge
        self._scope = scope
        self.positional = []
        self.keywords = {}
        for item in node.args:
            if not isinstance(item, ast.Starred):
                self.positional.append((item, scope))
            elif not self._spread(item.value):
                break
        for item in node.keywords:
            if item.arg is not None:
                self.keywords[item.arg] = (item.value, scope)
            elif isinstance(item.value, ast.Dict):
                self._spread_keywords(item.value)

    def _spread(self, node):
        for value in self._judge.values.of(node, self._scope):
            if value[0] == values.ITEMS:
                self.positional.extend((item, value[2]) for item in value[1][:_MAX_SPREAD])
                return True
        return False

    def _spread_keywords(self, node):
        for key, value in zip(node.keys, node.values):
            if key is not None:
                for name in values.texts(self._judge.values.of(key, self._scope)):
                    self.keywords[name] = (value, self._scope)

    def get(self, position, keyword=None):
        """(values, node) of an argument; ((), None) when it is not there or cannot be told."""
        found = self.keywords.get(keyword)
        if found is None and position is not None and position < len(self.positional):
            found = self.positional[position]
        if found is None:
            return (), None
        return self._judge.values.of(*found), found[0]


def check(judge, node, scope):
    """Judges one call."""
    function = node.func
    paths = values.modules(judge.values.of(function, scope))
    method = function.attr if isinstance(function, ast.Attribute) else None
    if not paths and method is None and not isinstance(function, ast.Call):
        return
    arguments = Arguments(judge, node, scope)
    for path in paths:
        _check_function(judge, node, scope, path, arguments)
    if method is not None:
        _check_method(judge, node, scope, method, arguments, paths)
    elif isinstance(function, ast.Call):
        _check_getter_call(judge, node, scope, arguments)
    if any(isinstance(item, ast.Name) and _GETATTR in judge.values.of(item, scope) for item in node.args):
        _check_handed_getter(judge, node, arguments)
    if "allow_pickle" in arguments.keywords or "numpy.load" in paths:
        _check_pickle(judge, node, method, arguments, paths)


def _check_function(judge, node, scope, path, arguments):
    position = _FETCHERS.get(path)
    if position is not None:
        _check_fetch(judge, node, path.rpartition(".")[2], arguments.get(0)[0], *arguments.get(position))
    elif path in _GETTERS:
        _check_getter(judge, node, path, arguments)
    elif path in places.FUNCTIONS:
        _check_places(judge, path, places.FUNCTIONS[path], arguments)
    elif path == "importlib.import_module":
        _check_import_call(judge, node, arguments)
    elif path == "builtins.str.format":
        _check_format(judge, node, values.texts(arguments.get(0)[0]), "format")
    if path in dynamic.FUNCTIONS:
        dynamic.check(judge, node, path, arguments, scope)


def check_unbound_format(judge, node, scope):
    """`text.format` that is not called where it stands: it may be, anywhere."""
    _check_format(judge, node, values.texts(judge.values.of(node.value, scope)), node.attr)


def _check_method(judge, node, scope, method, arguments, paths):
    base = judge.values.of(node.func.value, scope)
    if method in _FORMAT_METHODS:
        known = values.texts(base)
        _check_format(judge, node, known or values.texts(arguments.get(0)[0]), method)
    elif method in _FETCHING_METHODS and not _FETCHERS.keys() & set(paths):
        for position in (0, 1):
            _check_fetch(judge, node, method, (), *arguments.get(position))
    elif method in places.METHODS and not _is_pattern(method, arguments):
        _check_places(judge, method, places.METHODS[method], arguments)
    elif method in places.PATH_METHODS and base:
        _check_path_method(judge, node, method, base, arguments)
    elif method in dynamic.METHODS and not paths:
        dynamic.check(judge, node, method, arguments, scope)
    elif method == "mro" and "__mro__" in judge.rules.internals and any(value[0] == values.CLASS or value[0] == values.MODULE and
                                 value[1].startswith("builtins.") for value in base):
        judge.add_attribute(node.func, names.DUNDERS["__mro__"], "mro", "dunder")


def _is_pattern(method, arguments):
    """Whether this is pandas' `str.extractall`, whose patterns have a group, not the archives' method."""
    return method == "extractall" and any("(" in text for text in values.texts(arguments.get(0)[0]))


def _check_fetch(judge, node, name, objects, wanted, spelling):
    """getattr and its kin with a name that the text tells; `spelling` is the expression it stands in. Whoever
    puts `__class__` together from pieces is after more than the class."""
    for text in values.texts(wanted):
        if text in judge.rules.internals or text == "__class__" and not isinstance(spelling, ast.Constant):
            why = judge.rules.internals.get(text, "leads to the class tree")
            judge.add(node, imports.DENY, names.rule_of(text), f"{name}(..., '{text}'): {text} {why}",
                      names.instead_of(text))
        for module in values.modules(objects):
            judge.member(node, module, text, f"{name}({module}, '{quoted(text)}')")


def _check_handed_getter(judge, node, arguments):
    """getattr handed to map, reduce or partial: every text beside it may be the name it fetches."""
    for item, scope in arguments.positional:
        beside = judge.values.of(item, scope)
        _check_fetch(judge, node, "getattr", (), (*beside, *judge.values.items(item, scope)), item)


def _check_getter(judge, node, path, arguments):
    """operator.attrgetter('a.b') and operator.methodcaller('a')."""
    name = path.rpartition(".")[2]
    wanted = arguments.positional[:1] if name == "methodcaller" else arguments.positional
    for argument in wanted:
        for text in values.texts(judge.values.of(*argument)):
            parts = text.split(".")
            inner = next((part for part in parts if part in judge.rules.internals), None)
            if inner is None and parts[-1] == "__class__":
                inner = "__class__"
            if inner is not None:
                why = judge.rules.internals.get(inner, "leads to the class tree")
                judge.add(node, imports.DENY, names.rule_of(inner),
                          f"{name}('{quoted(text)}'): {inner} {why}",
                          names.instead_of(inner))
            if name == "methodcaller" and text in _FETCHING_METHODS and len(arguments.positional) > 1:
                item = arguments.positional[1]
                _check_fetch(judge, node, f"methodcaller('{text}')", (), judge.values.of(*item), item[0])


def _check_getter_call(judge, node, scope, arguments):
    """attrgetter('a.b')(module), and partial(getattr, x)('a')."""
    inner = node.func
    if "functools.partial" in values.modules(judge.values.of(inner.func, scope)):
        given = Arguments(judge, inner, scope)
        if _GETATTR in given.get(0)[0]:
            both = [*given.positional[1:], *arguments.positional]
            if len(both) > 1:
                _check_fetch(judge, node, "getattr", judge.values.of(*both[0]), judge.values.of(*both[1]),
                             both[1][0])
    if "operator.attrgetter" not in values.modules(judge.values.of(inner.func, scope)):
        return
    wanted = Arguments(judge, inner, scope)
    for module in values.modules(arguments.get(0)[0]):
        for text in values.texts(wanted.get(0)[0]):
            base = module
            for part in text.split("."):
                if judge.member(node, base, part, f"attrgetter('{quoted(text)}')({module})"):
                    break
                base = f"{base}.{part}"


def _fields(text, depth=0):
    """The replacement fields of a format string, those inside format specs included."""
    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError:
        return
    for _, field, spec, _ in parsed:
        if field:
            yield field
        if spec and depth < 2:
            yield from _fields(spec, depth + 1)


def _check_format(judge, node, formats, method):
    for text in formats:
        if "." in text or "[" in text:
            found = judge.once(("format", method), text,
                               lambda text=text: list(_inner_fields(judge.rules.internals, text, method)))
            for field, inner in found:
                judge.add(node, imports.DENY, names.rule_of(inner),
                          f"the format string field '{{{quoted(field)}}}': {inner} {judge.rules.internals[inner]}",
                          "Format plain values: pass what you want to show as an argument of format().")


def _inner_fields(internals, text, method):
    """The fields of a format string that reach internals, each with the first of these."""
    for field in [text] if method == "get_field" else _fields(text):
        parts = [a or b for a, b in _DOTTED.findall(field)]
        inner = next((part for part in parts if part in internals), None)
        if inner is not None:
            yield field, inner


def _check_places(judge, name, table, arguments):
    for purpose, position, keyword in table:
        found, node = arguments.get(position, keyword)
        if node is None:
            continue
        if purpose == "mode":
            given = arguments.get(position + 1 if position is not None else None, "mode")[0]
            purpose = places.purpose_of_mode(values.texts(given))
        _check_place(judge, node, name, found, purpose)


def _check_path_method(judge, node, method, base, arguments):
    purpose = places.PATH_METHODS[method]
    if purpose == "mode":
        purpose = places.purpose_of_mode(values.texts(arguments.get(0, "mode")[0]))
    found = [value for value in base if value[0] in (values.PATH, values.STEM)]
    _check_place(judge, node.func.value, method, found, purpose)


def _check_place(judge, node, name, found, purpose):
    if judge.moves and all(value[1][:1] not in ("/", "~") for value in found if value[0] == values.TEXT):
        return  # the cell changes its folder: what a relative path means is not known
    shown = name.removeprefix("builtins.")
    for value in found:
        if value[0] not in _NAMING:
            continue
        text = value[1].decode("utf-8", "replace") if value[0] == values.BYTES else value[1]
        whole = value[0] not in (values.PREFIX, values.STEM)
        place = places.judge(judge.rules, text, whole, purpose)
        if place is not None:
            dots = "" if whole else "..."
            hint = hints.network(judge.rules) if place.rule == "network" else hints.place(judge.rules,
                                                                                          place.why)
            judge.add(node, imports.DENY, place.rule, f"{shown}('{quoted(text)}{dots}') is {place.why}", hint)
            return


def _check_import_call(judge, node, arguments):
    for text in values.texts(arguments.get(0, "name")[0]):
        judge.module(node, text, f"import_module('{quoted(text)}')")


def _is_true(found):
    return any(value[0] == values.NUMBER and bool(value[1]) for value in found)


def _check_pickle(judge, node, method, arguments, paths):
    position = 2 if "numpy.load" in paths else None
    found = arguments.get(position, "allow_pickle")[0]
    writes = (method or "").startswith("save") or any(path.rpartition(".")[2].startswith("save")
                                                      for path in paths)
    if writes or not _is_true(found):
        return
    effect = judge.rules.effect("pickle")
    if effect != imports.ALLOW:
        judge.add(node, effect, "pickle",
                  "allow_pickle=True unpickles what is in the file, which can run code",
                  "Leave allow_pickle out; store numbers and texts as plain arrays, or use CSV or JSON.")
