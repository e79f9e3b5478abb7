"""Looks through a JSON Schema before it is used: no reference may lead out of it, every pattern must be
one."""

import re
from urllib.parse import unquote

MAX_DEPTH = 200

_ONE = frozenset(
    "additionalProperties unevaluatedProperties items unevaluatedItems contains propertyNames not if then "
    "else "
    "contentSchema".split()
)
_LISTS = frozenset("allOf anyOf oneOf prefixItems".split())
_MAPS = frozenset("properties patternProperties $defs definitions dependentSchemas".split())
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
# Known to every version of jsonschema without asking anyone.
_BUNDLED = re.compile(r"https?://json-schema\.org/draft(-0[3-7]|/20(19-09|20-12))/")


def pointer(parts):
    """JSON Pointer of a path: "" for the whole."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _subschemas(schema, path):
    for key, value in schema.items():
        if key in _ONE:
            yield value, (*path, key)
        elif key in _LISTS and isinstance(value, list):
            for index, item in enumerate(value):
                yield item, (*path, key, index)
        elif key in _MAPS and isinstance(value, dict):
            for name, item in value.items():
                yield item, (*path, key, name)


def _all(schema):
    todo = [(schema, ())]
    while todo:
        part, path = todo.pop()
        if len(path) > MAX_DEPTH:
            raise ValueError(f"the schema is nested more than {MAX_DEPTH} levels deep at "
                             f"{pointer(path[:8])}/...")
        if isinstance(part, dict):
            yield part, path
            todo.extend(_subschemas(part, path))


def _points_to(schema, fragment):
    """Whether the JSON Pointer `fragment`, still percent-encoded, leads to a part of `schema`."""
    part = schema
    for step in unquote(fragment).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict) and step in part:
            part = part[step]
        elif isinstance(part, list) and step.isdecimal() and int(step) < len(part):
            part = part[int(step)]
        else:
            return False
    return True


def _check_reference(schema, reference, path, identifiers):
    target, _, fragment = reference.partition("#")
    if not target and fragment.startswith("/") and not identifiers and not _points_to(schema, fragment):
        raise ValueError(f"the schema's reference {reference[:200]!r} at {pointer(path)} leads to nothing")
    if not target or _BUNDLED.match(target):
        return
    if any(name == target or name.endswith("/" + target) for name in identifiers):
        return
    raise ValueError(
        f"the schema's reference {reference[:200]!r} at {pointer(path)} leads out of the schema, and "
        f"nothing is "
        "fetched; put the definition under $defs and refer to it as '#/$defs/NAME'"
    )


def _check_pattern(pattern, path):
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the pattern {pattern[:200]!r} at {pointer(path)} is no regular expression: "
                         f"{error}") from None


def spell_out_refusals(schema):
    """Writes `false` for a property or a place in an array as {"not": {}}, in place: newer versions of
    jsonschema lose the path of the former."""
    for part, _ in _all(schema):
        for keyword in ("properties", "patternProperties"):
            if isinstance(part.get(keyword), dict):
                part[keyword] = {name: {"not": {}} if item is False else item for name,
                                 item in part[keyword].items()}
        if isinstance(part.get("prefixItems"), list):
            part["prefixItems"] = [{"not": {}} if item is False else item for item in part["prefixItems"]]


def check(schema):
    """ValueError, with the place, for a reference that leads out of `schema` and for a pattern that is
    none."""
    parts = list(_all(schema))
    identifiers = [str(part["$id"]).rstrip("#") for part, _ in parts if isinstance(part.get("$id"), str)]
    for part, path in parts:
        for keyword in _REFERENCES:
            if isinstance(part.get(keyword), str):
                _check_reference(schema, part[keyword], (*path, keyword), identifiers)
        if isinstance(part.get("pattern"), str):
            _check_pattern(part["pattern"], (*path, "pattern"))
        if isinstance(part.get("patternProperties"), dict):
            for name in part["patternProperties"]:
                _check_pattern(str(name), (*path, "patternProperties", name))
