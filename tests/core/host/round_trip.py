"""Runs inside a session: values of every form through echo(), compared with what comes back.

same(a, b) is None, or says where the two differ, in type or in value. check(n, seed) tries `n` generated values and
returns what differed. Library parts are used only where the library is there.
"""
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import importlib.util
import math
import pathlib
import random
import struct
import uuid
import zoneinfo


class Color(enum.Enum):
    RED = "r"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Point:
    x: object
    y: object = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


@dataclasses.dataclass(slots=True)
class Slots:
    x: object
    y: object = dataclasses.field(default=0, init=False)


Named = collections.namedtuple("Named", "a b")


# ---- comparison ----

def same(a, b, where="value"):
    if type(a) is not type(b):
        return f"{where}: {type(a).__name__} became {type(b).__name__}: {b!r:.80}"
    compare = _COMPARE.get(type(a).__name__)
    if compare is not None:
        return compare(a, b, where)
    if dataclasses.is_dataclass(a):
        return _items(lambda value: [getattr(value, field.name) for field in dataclasses.fields(value)], a, b, where)
    if isinstance(a, tuple):
        return _sequence(a, b, where)
    return None if a == b else f"{where}: {a!r:.80} became {b!r:.80}"


def _items(parts, a, b, where):
    return _sequence(parts(a), parts(b), where)


def _float(a, b, where):
    return None if struct.pack("d", a) == struct.pack("d", b) or a != a and b != b else f"{where}: {a} became {b}"


def _sequence(a, b, where):
    if len(a) != len(b):
        return f"{where}: {len(a)} items became {len(b)}"
    return next(filter(None, (same(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), None)


def _decimal(a, b, where):
    return None if a.as_tuple() == b.as_tuple() else f"{where}: {a} became {b}"


def _datetime(a, b, where):
    if a.utcoffset() != b.utcoffset() or a.replace(tzinfo=None) != b.replace(tzinfo=None):
        return f"{where}: {a!r} became {b!r}"
    return None


def _array(a, b, where):
    if a.dtype != b.dtype or a.shape != b.shape or not b.flags.writeable:
        return f"{where}: {a.dtype} {a.shape} became {b.dtype} {b.shape}, writeable {b.flags.writeable}"
    if a.dtype.hasobject:
        return _sequence(a.ravel().tolist(), b.ravel().tolist(), where)
    return None if a.tobytes() == b.tobytes() else f"{where}: the items of an array of {a.dtype} differ"


def _frame(a, b, where):
    import pandas
    check = getattr(pandas.testing, f"assert_{'frame' if isinstance(a, pandas.DataFrame) else 'series'}_equal")
    options = {"check_column_type": "exact"} if isinstance(a, pandas.DataFrame) else {}
    try:
        check(a, b, check_exact=True, check_index_type="exact", **options)
    except AssertionError as error:
        return f"{where}: {error}"
    return None


def _image(a, b, where):
    equal = (a.mode, a.size, a.tobytes()) == (b.mode, b.size, b.tobytes())
    if a.mode == "P":  # a file keeps the colours that are used
        equal = equal and a.convert("RGBA").tobytes() == b.convert("RGBA").tobytes()
    return None if equal else f"{where}: an image of mode {a.mode} became one of mode {b.mode}"


_COMPARE = {
    "float": _float, "list": _sequence, "tuple": _sequence, "Decimal": _decimal, "datetime": _datetime,
    "time": lambda a, b, where: None if (a, a.tzinfo) == (b, b.tzinfo) else f"{where}: {a!r} became {b!r}",
    "complex": lambda a, b, where: _float(a.real, b.real, where) or _float(a.imag, b.imag, where),
    "dict": lambda a, b, where: _sequence(list(a.items()), list(b.items()), where),
    "ndarray": _array, "DataFrame": _frame, "Series": _frame, "Image": _image,
}


# ---- generation ----

class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.leaves = [self.integer, self.real, self.text, self.blob, self.moment, self.number, self.name]
        self.keys = [self.integer, self.text, self.moment, self.number, self.name,
                     lambda: self.random.choice([None, True, Color.RED, Level.LOW, b"k", 1.5]),
                     lambda: (self.integer(), self.text()), lambda: frozenset([self.integer()]),
                     lambda: Frozen(self.integer())]
        if importlib.util.find_spec("numpy"):
            self.leaves.append(self.array)
        if importlib.util.find_spec("pandas"):
            self.leaves.append(self.frame)
        if importlib.util.find_spec("PIL"):
            self.leaves.append(self.image)

    def value(self, depth=0):
        if depth < 4 and self.random.random() < 0.45:
            return self.container(depth)
        return self.random.choice(self.leaves)()

    def container(self, depth):
        def values():
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]

        def one():
            return self.value(depth + 1)
        hashable = [self.random.choice(self.keys)() for _ in range(self.random.randrange(4))]
        kind = self.random.randrange(10)
        return [values, lambda: tuple(values()), lambda: {key: one() for key in hashable}, lambda: set(hashable),
                lambda: frozenset(hashable), lambda: Point(one(), one()), lambda: Frozen(one()), lambda: Slots(one()),
                lambda: Named(one(), one()), lambda: {self.text(): one()}][kind]()

    def integer(self):
        bits = self.random.choice([0, 1, 8, 31, 32, 53, 62, 63, 64, 65, 128, 5000])
        edge = self.random.choice([-1, 0, 1])
        return self.random.choice([-1, 1]) * (1 << bits) + edge if bits else edge

    def real(self):
        special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308, 0.1]
        plain = struct.unpack("d", self.random.randbytes(8))[0]
        real = self.random.choice(special + [plain, plain])
        return complex(real, self.random.choice(special)) if self.random.random() < 0.2 else real

    def text(self):
        alphabet = ["a", "\0", "\\", "$", "\"", "é", "€", "😀", "\ud83d", "\udc80", "\\ud83d", "\n", "\u2028", "\x7f"]
        return "".join(self.random.choices(alphabet, k=self.random.randrange(6)))

    def blob(self):
        data = self.random.randbytes(self.random.choice([0, 1, 23, 24, 255, 256, 70000]))
        return self.random.choice([bytes, bytearray])(data)

    def moment(self):
        zone = self.random.choice([None, datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=-3.5)),
                                   datetime.timezone(datetime.timedelta(seconds=3723, microseconds=5))])
        days = self.random.randrange(-700_000, 2_900_000)
        micro = self.random.choice([0, 1, 999_999, self.random.randrange(10**6)])
        when = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=days, seconds=self.random.randrange(86400),
                                                                  microseconds=micro)
        return self.random.choice([when.replace(tzinfo=zone), when.date(), when.time().replace(tzinfo=zone),
                                   datetime.timedelta(days=days, microseconds=micro), zone or datetime.timezone.utc,
                                   datetime.timedelta.max, datetime.datetime.max, datetime.date.min,
                                   zoneinfo.ZoneInfo("Europe/Rome")])

    def number(self):
        digits = self.random.choice(["0", "-0", "0.10", "1E+400", "-1E-400", "Infinity", "-Infinity", "12345.678900"])
        return self.random.choice([decimal.Decimal(digits), range(self.random.randrange(9), 10**30, 7), range(0),
                                   fractions.Fraction(self.random.randrange(-99, 99), 2**70 + 1)])

    def name(self):
        return self.random.choice([uuid.UUID(int=self.random.getrandbits(128)), pathlib.Path("a/../b c"), Color.RED,
                                   Color.PAIR, Level.HIGH, Access.READ, Access.READ | Access.WRITE, Access(0)])

    def array(self):
        import numpy
        dtype = self.random.choice(["?", "i1", "u2", ">i4", "i8", "u8", "f2", "f4", ">f8", "g", "c8", "c16", "U3", "S4",
                                    "M8[D]", "M8[ns]", "m8[us]", "V5", [("a", "i4"), ("b", "f8", (2,)), ("c", "U2")],
                                    [("p", [("q", "u1"), ("r", "M8[s]")])], "O"])
        shape = self.random.choice([(), (0,), (1,), (7,), (2, 3), (0, 3), (2, 1, 2)])
        dtype = numpy.dtype(dtype)
        if dtype.hasobject:
            array = numpy.empty(shape, dtype)
            array[...] = None
            for index in numpy.ndindex(shape):
                array[index] = self.random.choice([None, "x", 2**70, b"y", 1.5])
            return array
        count = math.prod(shape)
        if dtype.kind in "?bU" or dtype.names:
            array = numpy.zeros(count, dtype)
            if dtype.kind == "U":
                array[:] = self.random.choice(["", "aé", "😀xy"])
        else:
            array = numpy.frombuffer(self.random.randbytes(count * dtype.itemsize), dtype)
        array = array.reshape(shape)
        return self.random.choice([array, array.T, array[..., ::2] if shape else array])

    def frame(self):
        import numpy
        import pandas
        length = self.random.choice([0, 1, 5])

        def pick(*items):
            return [self.random.choice(items) for _ in range(length)]
        dates = pandas.to_datetime(pick("2024-01-02 00:00:00.000000000", "1999-12-31 23:59:59.123456789", None))
        columns = {
            "i": numpy.array(pick(1, -5), "int64"), "f": numpy.array(pick(1.5, math.nan, -0.0), "float32"),
            "b": numpy.array(pick(True, False), bool), "o": numpy.array(pick("x", None, "ü"), object),
            "d": dates, "z": dates.tz_localize("Europe/Rome"),
            "u": dates.tz_localize(datetime.timezone(datetime.timedelta(hours=2))),
            "t": pandas.to_timedelta(pick(1, None), unit="s"), "n": pandas.array(pick(1, None), "Int64"),
            "s": pandas.array(pick("a", None), "string"), "l": pandas.array(pick(True, None), "boolean"),
            "c": pandas.Categorical(pick("x", "y", None), ["y", "x", "unused"], ordered=self.random.random() < 0.5),
            "k": pandas.Categorical(pick(1, 2), [2, 1]),
        }
        index = self.random.choice([
            None, pandas.Index(pick("a", "b"), dtype=object, name="r"), pandas.Index(pick(1.5, 2.5), dtype="float64"),
            pandas.RangeIndex(3, 3 + 2 * length, 2, name="n"),
            pandas.date_range("2024-01-01", periods=length, freq="D", name="day"),
            pandas.CategoricalIndex(pick("p", "q"), ["q", "p"]),
            pandas.MultiIndex.from_arrays([pick("u", "v"), pick(1, 2)], names=["m", None])])
        chosen = self.random.sample(sorted(columns), self.random.randrange(0, 5))
        frame = pandas.DataFrame({name: columns[name] for name in chosen}, index=range(length))
        if index is not None:
            frame.index = index
        if chosen and self.random.random() < 0.3:
            return frame[chosen[0]]
        if self.random.random() < 0.3:
            frame.columns = pandas.MultiIndex.from_tuples([("top", name) for name in chosen], names=["h", "i"]) \
                if chosen and self.random.random() < 0.5 else pandas.RangeIndex(len(chosen))
        return frame

    def image(self):
        from PIL import Image
        mode = self.random.choice(["1", "L", "LA", "P", "RGB", "RGBA", "I", "F", "CMYK"])
        size = (self.random.randrange(1, 5), 3)
        if mode in ("1", "P", "I", "F"):
            return Image.new(mode, size, 70_000 if mode in "IF" else 1)
        return Image.frombytes(mode, size, self.random.randbytes(size[0] * size[1] * len(mode)))


def check(count, seed):
    """[(number, what differed)], at most 20."""
    generator = Generator(seed)
    differences = []
    for number in range(count):
        value = generator.value()
        try:
            problem = same(value, echo(value))  # noqa: F821 - a tool of the host
        except Exception as error:
            problem = f"{type(error).__name__}: {error} for {value!r:.300}"
        if problem:
            differences.append((number, problem))
    return differences[:20]
