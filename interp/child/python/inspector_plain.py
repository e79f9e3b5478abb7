"""Values as JSON knows them: what validation sees of a value that holds more."""

import datetime
import enum
import json
import pathlib
import uuid
from decimal import Decimal
from fractions import Fraction

MAX_DEPTH = 200


class NotJson:
    """Stands for a part of a value that has no form in JSON; matches no type of JSON Schema."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<{self.name}>"


def _float(value):
    # Only NaN and the infinities differ from zero when taken from themselves.
    return float(value) if value - value == 0 else NotJson(str(value))


def _exact(value):
    if isinstance(value, Decimal) and not value.is_finite():
        return NotJson(f"Decimal {value}")
    too_large = abs(value.adjusted()) > 1000 if isinstance(value, Decimal) else abs(value) > 1 << 1000
    if too_large:
        return NotJson(f"{type(value).__name__} beyond the range of numbers")
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else _float(value)


def _key(key):
    if isinstance(key, str):
        return str(key)
    return json.dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


def plain(value, depth=0, what="value"):
    """`value` with tuples, ranges and arrays as lists, Decimal and Fraction as numbers, dates, UUIDs and
    paths as texts, enum members as their values, keys as texts, and NotJson for the rest. ValueError when
    nested too deeply."""
    if depth > MAX_DEPTH:
        raise ValueError(f"the {what} is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, enum.Enum):
        return plain(value.value, depth + 1, what)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1, what) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(item, depth + 1, what) for item in value]
    return _rare(value, depth, what)


def _rare(value, depth, what):
    if isinstance(value, (Decimal, Fraction)):
        return _exact(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, pathlib.PurePath)):
        return str(value)
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return plain(value.tolist(), depth + 1, what)
    return NotJson(type(value).__name__)


def type_name(value):
    """The JSON name of a plain value's type, for messages."""
    for kinds, name in (
        (NotJson, None), (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"),
        (list, "array"),
        (dict, "object"), (type(None), "null"),
    ):
        if isinstance(value, kinds):
            return name or f"a Python object without a JSON form ({value.name})"
    return type(value).__name__


def shown(value, limit=60):
    """`value` as short JSON, for messages."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = type_name(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
