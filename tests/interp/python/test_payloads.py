"""Payloads that no session of ours sends: each is refused at once, and takes neither memory nor time."""
import resource

import pytest

import gloveport
from gloveport import _values

COLUMN = {"name": "a", "dtype": "int64", "data": [1]}
RANGE = {"name": None, "dtype": "range", "data": range(1)}
HUGE = {"name": None, "dtype": "range", "data": range(10**12)}


@pytest.fixture(autouse=True)
def little_memory():
    """What would take gigabytes fails, instead of taking them."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize("form, payload", [
    ("bytearray", 10**11), ("bytearray", [1]), ("range", [0, "9", 1]), ("range", [0, 1]), ("complex", [1]), ("complex", "1"),
    ("fraction", "1e999999999"), ("fraction", "1" * 20_000), ("fraction", 5), ("decimal", "1" * 20_000), ("decimal", 5),
    ("timedelta", "x"), ("timedelta", [1, 2]), ("datetime", 5), ("uuid", 5), ("path", 5), ("timezone", "x" * 300),
    ("ndarray", {"dtype": "V2000000000", "shape": [1], "data": [1]}), ("ndarray", {"dtype": "U500000000", "shape": [1], "data": ["a"]}),
    ("ndarray", {"dtype": [["a", "O"], ["b", "V2000000000"]], "shape": [1], "data": [1]}),
    ("ndarray", {"dtype": "<f8", "shape": [-1], "data": bytearray(8)}), ("ndarray", {"dtype": "<f8", "shape": "x", "data": bytearray(8)}),
    ("ndarray", {"dtype": "<f8", "shape": [1], "data": 5}), ("ndarray", [1]),
    ("series", {**COLUMN, "data": 5, "index": HUGE}), ("series", {**COLUMN, "index": HUGE}), ("series", {**COLUMN, "index": 5}),
    ("series", {**COLUMN, "dtype": "U500000000", "index": RANGE}), ("series", {**COLUMN, "dtype": "<S500000000", "index": RANGE}),
    ("series", {**COLUMN, "dtype": "category", "index": RANGE}),
    ("dataframe", {"columns": [{**COLUMN, "data": 5}], "index": HUGE}), ("dataframe", {"columns": [COLUMN], "index": HUGE}),
    ("dataframe", {"columns": [COLUMN], "index": RANGE, "labels": HUGE}), ("dataframe", {"columns": 5, "index": RANGE}),
    ("enum", {"type": 5, "name": "a", "value": 1}), ("dataclass", {"type": "A", "fields": 5}), ("namedtuple", 5),
    ("arrow", {"kind": "table", "ipc": b"x"}) if "pyarrow" not in __import__("sys").modules else ("bytearray", "x")])
def test_payload_is_refused(form, payload):
    if form == "ndarray":
        pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="malformed"):
        _values.from_form(form, payload)


def test_frames_and_arrays_of_ours_pass():
    pytest.importorskip("pandas")
    assert _values.from_form("series", {**COLUMN, "index": RANGE}).tolist() == [1]
    assert _values.from_form("dataframe", {"columns": [COLUMN], "index": RANGE}).shape == (1, 1)
    assert len(_values.from_form("dataframe", {"columns": [], "index": HUGE})) == 10**12  # an index that is only described
    assert _values.from_form("ndarray", {"dtype": "|O", "shape": [2], "data": [None, "x"]}).tolist() == [None, "x"]
    assert _values.from_form("fraction", "-1/3") < 0


@pytest.mark.parametrize("listed", ["9ca4", "9ca5", "9ca6"], ids=["tuple", "set", "frozenset"])
def test_list_forms_are_made_of_lists_only(listed):
    """A tuple of a range of 10**12 would be made item by item."""
    endless = bytes.fromhex(f"d9{listed}" "d99cb2" "8300" "1b000000e8d4a51000" "01")
    with pytest.raises(gloveport.ProtocolError, match="no list"):
        gloveport._native.value_from_cbor(endless)
    assert list(gloveport._native.value_from_cbor(bytes.fromhex(f"d9{listed}" "8101"))) == [1]
