"""What crosses, in both directions, and what a hostile session cannot make of it."""
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import pathlib
import uuid

import pytest

import gloveport

PLAIN = [None, True, 0, -1, 2**63, -2**200, 1.5, math.inf, "ü\n", "\udc80 lone", b"\0\xff", bytearray(b"ab"), [1, [2]],
         (1, "a"), {"k": [1]}, {1: "a", (1, 2): "b"}, {1, 2}, frozenset({"a"}), 1 + 2j, range(1, 9, 2),
         datetime.datetime(2026, 1, 31, 12, 30, 1, 5), datetime.datetime(2026, 1, 31, tzinfo=datetime.timezone.utc),
         datetime.date(2026, 1, 31), datetime.time(1, 2, 3), datetime.timedelta(days=1, microseconds=3),
         decimal.Decimal("1.10"), fractions.Fraction(1, 3), uuid.UUID(int=5), pathlib.PurePosixPath("/a/b")]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: f"{type(value).__name__}-{str(value)[:12]!a}")
def test_value_goes_and_comes_back(session, value):
    session["x"] = value
    assert session["x"] == value
    assert session.run("x").value == value
    expected = type(value) if not isinstance(value, pathlib.PurePath) else pathlib.PosixPath
    assert type(session["x"]) is expected


def test_nan(session):
    session["x"] = math.nan
    assert math.isnan(session["x"])


def test_numpy(session):
    numpy = pytest.importorskip("numpy")
    for array in (numpy.arange(6, dtype="i2").reshape(2, 3), numpy.array([1.5, numpy.nan]), numpy.array(["a", "bc"]),
                  numpy.array(["2026-01-31"], dtype="M8[D]"), numpy.zeros((0, 3)), numpy.array([None, "x"], dtype=object)):
        session["x"] = array
        back = session.run("x").value
        assert back.dtype == array.dtype and back.shape == array.shape
        numpy.testing.assert_array_equal(back, array)
        back[...] = back  # its own memory
    assert session.run("import numpy; numpy.float64(2.5)").value == 2.5


def test_pandas(session):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1, 2], "t": ["a", None], "when": pandas.to_datetime(["2026-01-31", "2026-02-01"]),
                              "zone": pandas.to_datetime(["2026-01-31", "2026-02-01"]).tz_localize("Europe/Berlin"),
                              "c": pandas.Categorical(["x", "y"])}, index=["r", "s"])
    session["frame"] = frame
    pandas.testing.assert_frame_equal(session.run("frame").value, frame)
    pandas.testing.assert_series_equal(session.run("frame['n'] * 2").value, frame["n"] * 2)


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = 1


Pair = collections.namedtuple("Pair", "a b")


def test_classes_come_back_only_where_registered(session):
    """A session can name any class: it gets none of this process that was not registered."""
    session.run("import dataclasses, enum, collections\n@dataclasses.dataclass\nclass Point:\n    x: int\n    y: int = 0\n"
                "class Colour(enum.Enum):\n    RED = 1\nPair = collections.namedtuple('Pair', 'a b')")
    code = "[Point(1, 2), Colour.RED, Pair(1, 2)]"
    assert session.run(code).value == [{"x": 1, "y": 2}, 1, (1, 2)]
    for cls in (Point, Colour, Pair):
        gloveport.register_type(cls)
    try:
        assert session.run(code).value == [Point(1, 2), Colour.RED, Pair(1, 2)]
        assert type(session.run(code).value[2]) is Pair
        session["p"] = Point(3)
        assert session.run("p['x'] if isinstance(p, dict) else p.x").value == 3
    finally:
        gloveport._values._registered.clear()


def test_what_has_no_form_is_foreign(session):
    value = session.run("class Lock: pass\n[Lock(), 1]").value
    assert isinstance(value[0], gloveport.Foreign) and value[0].type == "Lock" and value[1] == 1
    assert "Lock object" in repr(value[0])


def test_image_is_not_decoded(session):
    pytest.importorskip("PIL")
    pytest.importorskip("matplotlib")
    image = session.run("import matplotlib.pyplot as plt\nfig = plt.figure()\nfig.gca().plot([1, 2])\nfig").value
    assert isinstance(image, gloveport.Image) and image.mime == "image/png" and image.data.startswith(b"\x89PNG")
    assert image.to_pil().size[0] > 10
    assert image._repr_mimebundle_()["image/png"].startswith("iVBOR")


def test_frame_without_pandas_here_says_what_is_missing():
    import subprocess
    import sys
    program = ("import sys\nsys.modules['pandas'] = sys.modules['numpy'] = None\nimport gloveport\n"
               "result = gloveport.Session().run('import pandas as pd\\npd.DataFrame({\"a\": [1]})')\n"
               "print(result.value, result.displays[0]['text/plain'])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("<a ") and "of the session; this Python cannot make one" in done.stdout, done.stdout
    assert done.stdout.endswith("   a\n0  1\n")


def test_malformed_forms_are_foreign(session):
    """What the session's code sends in the place of a form is never an exception of ours, and opens no file."""
    pytest.importorskip("pandas")
    from gloveport import _values
    for form, payload in (("ndarray", {"dtype": "<f8", "shape": [3], "data": bytearray(b"1")}), ("decimal", "x"),
                          ("series", {"name": "a", "dtype": "datetime64[ns, dateutil//etc/passwd]", "data": [],
                                      "index": {"name": None, "dtype": "range", "data": range(0)}})):
        with pytest.raises((ValueError, ArithmeticError)):
            _values.from_form(form, payload)


def test_value_with_a_cycle_is_refused(session):
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        session["loop"] = loop
    assert isinstance(session.run("a = []; a.append(a); a").value, gloveport.Foreign)
