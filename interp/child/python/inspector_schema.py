"""JSON Schema 2020-12 for final answers and tool arguments, with messages that a language model can act on.

Works with jsonschema 4.10 and later. Nothing is ever fetched: inspector_references refuses a reference that
leads out of the schema before validation starts, and the resolver behind it refuses again. What counts as an
array, a number or a text among values that JSON does not know is in inspector_plain; the formats in
inspector_formats.
"""

import heapq
import itertools
from fractions import Fraction

import jsonschema
from jsonschema import exceptions

from . import inspector_formats as formats
from . import inspector_references as references
from .inspector_plain import NotJson, plain, shown, type_name

MAX_ERRORS = 20
_MAX_LOOKED_AT = 10_000
_MAX_MESSAGE = 300

_COMPARISONS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} properties",
    "maxProperties": "must have at most {} properties",
    "const": "must be {}",
    "pattern": "must match the pattern {}",
}


# Keywords that jsonschema answers with messages or errors of its own which do not serve here.


def _required(validator, wanted, instance, schema):
    if isinstance(instance, dict):
        for name in wanted:
            if name not in instance:
                yield exceptions.ValidationError(f"the property {shown(name)} is missing")


def _multiple_of(validator, step, instance, schema):
    if isinstance(instance, (int, float)) and not isinstance(instance, bool):
        if Fraction(str(instance)) % Fraction(str(step)) != 0:
            yield exceptions.ValidationError("")


def _format(validator, name, instance, schema):
    if isinstance(instance, str) and isinstance(name, str) and not formats.matches(name, instance):
        example = formats.EXAMPLES.get(name)
        like = f", for example {example}" if example else ""
        yield exceptions.ValidationError(f"must have the format {name}{like}, got {shown(instance)}")


_Validator = jsonschema.validators.extend(
    jsonschema.validators.Draft202012Validator,
    {"required": _required, "multipleOf": _multiple_of, "format": _format},
)


def _closed():
    """What keeps jsonschema from fetching: the newer versions' registry, or the older ones' resolver."""
    try:
        from jsonschema_specifications import REGISTRY
    except ImportError:
        return None
    return REGISTRY


_REGISTRY = _closed()


def _refuse(uri):
    raise ValueError(f"the schema refers to {uri[:200]}, and nothing is fetched; put the definition under "
                     f"$defs")


def _validator(schema):
    if _REGISTRY is not None:
        return _Validator(schema, registry=_REGISTRY)
    resolver = jsonschema.RefResolver.from_schema(schema, id_of=_Validator.ID_OF)
    resolver.resolve_remote = _refuse
    return _Validator(schema, resolver=resolver)


def _check_schema(schema):
    if not isinstance(schema, (dict, bool)):
        raise ValueError(f"a schema is an object or a boolean, not {type_name(schema)}")
    references.check(schema)
    meta = jsonschema.validators.Draft202012Validator(jsonschema.validators.Draft202012Validator.META_SCHEMA)
    found = exceptions.best_match(meta.iter_errors(schema))
    if found is not None:
        place = references.pointer(found.absolute_path)
        raise ValueError(f"the schema is not valid at {place or 'its top'}: {_message(found)}")


def validate(value, schema):
    """Errors of `value` against `schema` as [{"path": JSON Pointer, "message"}], by path, at most MAX_ERRORS
    of them.

    ValueError, with the place, when the schema is none, when it refers to what is not in it, and when value
    or schema are nested too deeply.
    """
    schema = plain(schema, what="schema")
    value = plain(value)
    try:
        _check_schema(schema)
        references.spell_out_refusals(schema)
        found = itertools.islice(_validator(schema).iter_errors(value), _MAX_LOOKED_AT)
        errors = {(_order(error), references.pointer(error.absolute_path), _cut(_message(error)))
                  for error in found}
        return [{"path": path, "message": text} for _, path, text in heapq.nsmallest(MAX_ERRORS, errors)]
    except RecursionError:
        raise ValueError("the schema refers to itself without end, or is nested too deeply") from None
    except Exception as error:
        if isinstance(error, ValueError):
            raise
        raise ValueError(f"the schema cannot be used: {_cut(str(error))}") from None


def _order(error):
    """Sorts by path, items of arrays by their number."""
    return tuple((0, part, "") if isinstance(part, int) else (1, 0, str(part))
                 for part in error.absolute_path)


def _cut(text):
    return text if len(text) <= _MAX_MESSAGE else text[: _MAX_MESSAGE - 3] + "..."


def _names(values):
    values = [values] if isinstance(values, str) else list(values)
    return " or ".join(str(value) for value in values)


def _message(error):
    keyword, wanted, instance = error.validator, error.validator_value, error.instance
    if keyword is None:
        return "no value is allowed"
    if keyword == "type":
        return f"must be {_names(wanted)}, got {_got(instance)}"
    if keyword in _COMPARISONS:
        return f"{_COMPARISONS[keyword].format(shown(wanted))}, got {_got(instance)}"
    if keyword == "enum":
        return f"must be one of {', '.join(shown(item, 30) for item in wanted[:12])}, got {_got(instance)}"
    if keyword == "uniqueItems":
        return "must not contain the same item twice"
    if keyword == "not":
        return f"must not match {shown(wanted)}" if wanted else "must not be there"
    if keyword in ("anyOf", "oneOf"):
        return _alternatives(error)
    return error.message


def _got(instance):
    if isinstance(instance, (NotJson, dict, list)) or instance is None:
        return type_name(instance)
    return f"{type_name(instance)} {shown(instance)}"


def _alternatives(error):
    if not error.context:
        return "matches more than one of the forms of which it must match exactly one"
    if all(inner.validator == "type" and not inner.path for inner in error.context):
        kinds = dict.fromkeys(_names(inner.validator_value) for inner in error.context)
        return f"must be {' or '.join(kinds)}, got {_got(error.instance)}"
    by_form = {}
    for inner in error.context:
        by_form.setdefault(inner.schema_path[0], []).append(inner)
    # The form that fits best: no wrong type at its top, then the fewest errors.
    nearest = min(by_form.values(),
                  key=lambda group: (any(e.validator == "type" and not e.path for e in group),
                                                       len(group)))
    place = f"at {references.pointer(nearest[0].path)} " if nearest[0].path else ""
    return (f"matches none of the {len(error.validator_value)} forms allowed; nearest: "
            f"{place}{_message(nearest[0])}")
