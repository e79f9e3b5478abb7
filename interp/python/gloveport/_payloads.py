"""Payloads of forms, checked before anything is made of them.

A session can send any payload under any form. The child's codec, which makes objects of them, expects what a host sends; what
it would make of others may take all memory or time (a bytearray of a number, a fraction with an exponent, an array of items of
2 GB each). So nothing passes here but what a session of ours sends.
"""
from __future__ import annotations

import re
import sys
from typing import Any

MAX_DIGITS = 10_000
MAX_ITEM_BYTES = 256 << 20  # of an array whose items come one by one, together

# Types of numpy with items of any size: an array of them comes as bytes, never as a list.
_SIZED = re.compile(r"^[<>=|]?[SUVa]\d|^(str|bytes|unicode|string|void)\d*(_|$)?\d+")


def check_payload(form: str, payload: Any) -> None:
    """ValueError where the payload is none of that form."""
    check = _CHECKS.get(form)
    if check is not None and not check(payload):
        raise ValueError(f"a malformed {form} came from the session")


def _is_text(limit: int) -> Any:
    return lambda payload: isinstance(payload, str) and len(payload) <= limit


def _is_list_of(types: tuple, count: int) -> Any:
    return lambda payload: (isinstance(payload, list) and len(payload) == count
                            and all(type(item) in types for item in payload))


def _is_fraction(payload: Any) -> bool:
    return isinstance(payload, str) and len(payload) <= MAX_DIGITS and re.fullmatch(r"-?\d+(/\d+)?", payload) is not None


def _is_timedelta(payload: Any) -> bool:
    return type(payload) in (int, float) or _is_list_of((int,), 3)(payload)


def _is_array(payload: Any) -> bool:
    if not isinstance(payload, dict) or not isinstance(payload.get("shape"), list):
        return False
    if not all(type(size) is int and size >= 0 for size in payload["shape"]):
        return False
    data = payload.get("data")
    if isinstance(data, bytearray):
        return True  # numpy compares sizes
    if not isinstance(data, list):
        return False
    from ._child import codec
    dtype = codec._from_dtype(payload["dtype"])
    return dtype.hasobject and dtype.itemsize * max(len(data), 1) <= MAX_ITEM_BYTES


def _is_column(column: Any) -> bool:
    if not isinstance(column, dict) or not isinstance(column.get("dtype"), str):
        return False
    dtype, data = column["dtype"], column.get("data")
    if dtype == "range":
        return isinstance(data, range)
    if dtype == "multi":
        return isinstance(data, list) and all(map(_is_column, data)) and len({_length(level) for level in data}) <= 1
    if dtype == "category":
        return _is_vector(data) and getattr(data, "dtype").kind in "iu" and _is_column(column.get("categories"))
    if isinstance(data, list):
        return _SIZED.match(dtype) is None
    return _is_vector(data) or _is_arrow(data)


def _is_vector(data: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(data, numpy.ndarray) and data.ndim == 1


def _is_arrow(data: Any) -> bool:
    return "pyarrow" in sys.modules and type(data).__module__.startswith("pyarrow")


def _length(column: dict) -> int:
    return _length(column["data"][0]) if column["dtype"] == "multi" and column["data"] else len(column["data"])


def _is_series(payload: Any) -> bool:
    return _is_column(payload) and _is_column(payload.get("index")) and _length(payload) == _length(payload["index"])


def _is_frame(payload: Any) -> bool:
    if not isinstance(payload, dict) or not isinstance(payload.get("columns"), list) or not _is_column(payload.get("index")):
        return False
    rows = _length(payload["index"])
    if "labels" in payload and not (_is_column(payload["labels"]) and _length(payload["labels"]) == len(payload["columns"])):
        return False
    return all(_is_column(column) and _length(column) == rows for column in payload["columns"])


def _is_arrow_form(payload: Any) -> bool:
    """pyarrow parses it: only where this program uses pyarrow itself."""
    return "pyarrow" in sys.modules and isinstance(payload, dict) and isinstance(payload.get("ipc"), bytes)


def _is_named(*keys: str) -> Any:
    return lambda payload: (isinstance(payload, dict) and set(payload) == {"type", *keys}
                            and isinstance(payload["type"], str) and isinstance(payload.get("fields", {}), dict))


_TEXT = _is_text(200)
_CHECKS = {
    "complex": _is_list_of((float, int), 2), "bytearray": lambda payload: isinstance(payload, bytes),
    "range": _is_list_of((int,), 3), "datetime": _TEXT, "date": _TEXT, "time": _TEXT, "timezone": _TEXT, "uuid": _TEXT,
    "timedelta": _is_timedelta, "decimal": _is_text(MAX_DIGITS), "fraction": _is_fraction, "path": _is_text(1 << 16),
    "ndarray": _is_array, "series": _is_series, "dataframe": _is_frame, "arrow": _is_arrow_form,
    "enum": _is_named("name", "value"), "dataclass": _is_named("fields"), "namedtuple": _is_named("fields"),
}
