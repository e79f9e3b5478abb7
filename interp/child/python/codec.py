"""Rich values to forms of the wire and back (core/wire/FORMAT.md). The plain ones are handled in C++.

A class is looked up in sys.modules only: a value of a class can exist only where its module is loaded, and nothing is
imported for what comes from the host.
"""
import sys

from . import arrow


def _loaded(module, name):
    return getattr(sys.modules.get(module), name, None)


def _is(value, module, name):
    cls = _loaded(module, name)
    return isinstance(cls, type) and isinstance(value, cls)


def _type_name(cls):
    """The name that find_class understands: qualified, with the module unless it is __main__."""
    return cls.__qualname__ if cls.__module__ == "__main__" else f"{cls.__module__}.{cls.__qualname__}"


def _find_class(name):
    """The class of that name in __main__ or in a loaded module, or None."""
    if not isinstance(name, str) or "<" in name:
        return None
    parts = name.split(".")
    for cut in range(len(parts)):
        module = sys.modules.get(".".join(parts[:cut]) or "__main__")
        found = module
        for part in parts[cut:]:
            found = getattr(found, "__dict__", {}).get(part)
        if isinstance(found, type):
            return found
    return None


# ---- to the wire ----

def kind(value):
    """The JSON type of a rich value, "" for what has none; plain ones are told in C++."""
    if _is(value, "numpy", "bool_"):
        return "boolean"
    if _is(value, "numpy", "integer"):
        return "integer"
    if _is(value, "numpy", "floating"):
        return "number"
    if _is(value, "numpy", "ndarray") or _is(value, "pandas", "Series"):
        return "array"
    return ""


def to_form(value):
    """(form, payload) for a rich value, ("", plain) for what is a plain value in disguise, None for anything else."""
    cls = type(value)
    for test, make in _RICH:
        if test(value, cls):
            return make(value)
    return None


def _numpy_scalar(value):
    plain = value.item()
    if isinstance(value, (sys.modules["numpy"].datetime64, sys.modules["numpy"].timedelta64)):
        return _numpy_time(value, plain)
    if type(plain).__module__ == "numpy" or isinstance(plain, tuple):
        return None
    return "", plain


def _numpy_time(value, plain):
    """As the datetime, date or timedelta that it is; None where that would lose something."""
    if plain is None:  # NaT
        return None
    if not isinstance(plain, int):
        return "", plain
    micro = value.astype(value.dtype.kind + "8[us]")
    return ("", micro.item()) if micro == value and not isinstance(micro.item(), int) else None


def _ndarray(value):
    numpy = sys.modules["numpy"]
    array = numpy.asarray(value)
    if type(value).__name__ == "MaskedArray":
        return None
    if array.dtype.hasobject:
        data = array.ravel(order="C").tolist()
    else:
        flat = numpy.ascontiguousarray(array).reshape(-1)
        data = flat.view("u1").data if flat.size else b""
    return "ndarray", {"dtype": _dtype(array.dtype), "shape": list(array.shape), "data": data}


def _dtype(dtype):
    """numpy's text for it; for a structured one the list of its fields."""
    if dtype.names is None:
        return dtype.str
    import numpy.lib.format
    return numpy.lib.format.dtype_to_descr(dtype)


def _column(name, series):
    """A pandas column: numbers and dates as arrays, categories as numbers of them, Arrow's as they are, else a list."""
    import numpy
    if str(series.dtype) == "category":
        return _categories(name, series)
    in_arrow = arrow.column_data(series.dtype, series)
    if in_arrow is not None:
        return {"name": name, "dtype": in_arrow[0], "data": in_arrow[1]}
    values = series.to_numpy() if isinstance(series.dtype, numpy.dtype) else None
    if values is None and hasattr(series.dtype, "tz"):
        values = series.to_numpy("datetime64[ns]") if series.dtype.kind == "M" else None
    if values is None or values.dtype.hasobject:
        data = [_missing_as_none(item) for item in series.tolist()]
    else:
        data = values
    return {"name": name, "dtype": str(series.dtype), "data": data}


def _categories(name, series):
    codes = series.codes if hasattr(series, "codes") else series.cat.codes.to_numpy()
    return {"name": name, "dtype": "category", "data": codes, "ordered": series.dtype.ordered,
            "categories": _column(None, series.dtype.categories)}


def _missing_as_none(item):
    return None if type(item).__name__ in ("NAType", "NaTType") else item


def _index(index):
    if type(index).__name__ == "RangeIndex":
        return {"name": index.name, "dtype": "range", "data": range(index.start, index.stop, index.step)}
    if hasattr(index, "levels"):
        levels = [index.get_level_values(level) for level in range(index.nlevels)]
        return {"name": tuple(index.names), "dtype": "multi", "data": [_column(None, level) for level in levels]}
    column = _column(index.name, index)
    if getattr(index, "freqstr", None):
        column["freq"] = index.freqstr
    return column


def _dataframe(value):
    columns = [_column(value.columns[i], value.iloc[:, i]) for i in range(value.shape[1])]
    payload = {"columns": columns, "index": _index(value.index)}
    labels = value.columns
    if type(labels).__name__ != "Index" or labels.dtype != object or labels.name is not None:
        payload["labels"] = _index(value.columns)
    return "dataframe", payload


def _series(value):
    return "series", {**_column(value.name, value), "index": _index(value.index)}


def _dataclass(value):
    import dataclasses
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return "dataclass", {"type": _type_name(type(value)), "fields": fields}


def _namedtuple(value):
    fields = dict(zip(type(value)._fields, tuple.__iter__(value)))
    return "namedtuple", {"type": _type_name(type(value)), "fields": fields}


def _enum(value):
    return "enum", {"type": _type_name(type(value)), "name": value.name, "value": value.value}


def _datetime(value):
    if type(value).__name__ == "NaTType":
        return None
    return "datetime", value.isoformat()


def _timedelta(value):
    if type(value).__name__ == "NaTType":
        return None
    if getattr(value, "nanoseconds", 0):
        return None
    seconds = value.days * 86400 + value.seconds
    if not value.microseconds:
        return "timedelta", seconds
    if abs(seconds) < 2**32:  # then a float tells microseconds apart
        return "timedelta", seconds + value.microseconds / 1e6
    return "timedelta", [value.days, value.seconds, value.microseconds]


def _timezone(value):
    import datetime
    if isinstance(value, datetime.timezone):
        return "timezone", datetime.time(tzinfo=value).isoformat()[8:]
    return "timezone", value.key


def _image(value):
    import io
    # PNG has no such colours, and 16 of the 32 bits of mode I.
    kind = "TIFF" if value.mode in ("CMYK", "F", "I", "I;16", "LAB", "YCbCr") else "PNG"
    buffer = io.BytesIO()
    value.save(buffer, format=kind)
    return "image", {"mime": f"image/{kind.lower()}", "data": buffer.getvalue()}


def _figure(value):
    import io
    buffer = io.BytesIO()
    value.savefig(buffer, format="png")
    return "image", {"mime": "image/png", "data": buffer.getvalue()}


def _text(form):
    return lambda value: (form, str(value))


def _instance(module, name):
    return lambda value, cls: _is(value, module, name)


_RICH = (
    (_instance("numpy", "generic"), _numpy_scalar),
    (_instance("enum", "Enum"), _enum),
    (lambda value, cls: "__dataclass_fields__" in cls.__dict__ or hasattr(cls, "__dataclass_fields__"), _dataclass),
    (lambda value, cls: isinstance(value, tuple) and isinstance(getattr(cls, "_fields", None), tuple), _namedtuple),
    (_instance("datetime", "datetime"), _datetime),
    (_instance("datetime", "date"), lambda value: ("date", value.isoformat())),
    (_instance("datetime", "time"), lambda value: ("time", value.isoformat())),
    (_instance("datetime", "timedelta"), _timedelta),
    (_instance("datetime", "timezone"), _timezone),
    (_instance("zoneinfo", "ZoneInfo"), _timezone),
    (_instance("decimal", "Decimal"), _text("decimal")),
    (_instance("fractions", "Fraction"), _text("fraction")),
    (_instance("uuid", "UUID"), _text("uuid")),
    (_instance("pathlib", "PurePath"), _text("path")),
    (_instance("numpy", "ndarray"), _ndarray),
    (_instance("pandas", "DataFrame"), _dataframe),
    (_instance("pandas", "Series"), _series),
    (lambda value, cls: arrow.is_value(value), arrow.to_form),
    (_instance("PIL.Image", "Image"), _image),
    (_instance("matplotlib.figure", "Figure"), _figure),
)


# ---- from the wire ----

def from_form(form, payload):
    """The object of a form; raises ValueError where the payload is none of that form."""
    try:
        return _FROM[form](payload)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"a malformed {form} came from the host: {error}") from None


def _from_str(text):
    import re
    return re.sub(r"\\(\\|u(d[89a-f][0-9a-f]{2}))",
                  lambda m: "\\" if m[1] == "\\" else chr(int(m[2], 16)), text)


def _from_datetime(text):
    import datetime
    if len(text) > 26 and text[19:20] == "." and text[20:29].isdigit():
        pandas = sys.modules.get("pandas")
        return pandas.Timestamp(text) if pandas else datetime.datetime.fromisoformat(text[:26] + text[29:])
    return datetime.datetime.fromisoformat(text)


def _from_timedelta(payload):
    import datetime
    if isinstance(payload, list):
        return datetime.timedelta(*payload)
    return datetime.timedelta(seconds=payload)


def _from_timezone(text):
    import datetime
    if text[:1] in "+-":
        return datetime.time.fromisoformat("00:00:00" + text).tzinfo
    import zoneinfo
    return zoneinfo.ZoneInfo(text)


def _from_datetime_part(name):
    def make(text):
        import datetime
        return getattr(datetime, name).fromisoformat(text)
    return make


def _from_library(module, name):
    def make(text):
        import importlib
        return getattr(importlib.import_module(module), name)(text)
    return make


_LARGE = 1 << 20


def _from_dtype(dtype):
    import numpy
    if isinstance(dtype, str):
        return numpy.dtype(dtype)
    import numpy.lib.format
    return numpy.lib.format.descr_to_dtype(dtype)


def _from_ndarray(payload):
    import numpy
    dtype = _from_dtype(payload["dtype"])
    shape = tuple(payload["shape"])
    data = payload["data"]
    if isinstance(data, bytearray) and not dtype.hasobject:
        array = numpy.frombuffer(data, dtype).reshape(shape)
        return array if len(data) > _LARGE else array.copy()  # only a copy can be resized in place
    array = numpy.empty(len(data), dtype)
    array[:] = data
    return array.reshape(shape)


def _values(column):
    """The data of a column or index as pandas wants it."""
    import pandas
    dtype = column["dtype"]
    data = column["data"]
    if dtype == "category":
        categories = pandas.Index(_values(column["categories"]))
        return pandas.Categorical.from_codes(data, categories, ordered=column["ordered"])
    if dtype.startswith("datetime64[ns, "):
        zone = _from_zone_name(dtype[len("datetime64[ns, "):-1])
        return pandas.DatetimeIndex(data).tz_localize("UTC").tz_convert(zone)
    if arrow.is_value(data):
        return arrow.column_values(dtype, data)
    return pandas.array(data, dtype=dtype) if isinstance(data, list) else data


def _from_zone_name(text):
    """A zone as pandas writes it: a key, an offset, or what pytz calls one."""
    if text.startswith(("UTC+", "UTC-")):
        return _from_timezone(text[3:])
    if text.startswith("pytz.FixedOffset("):
        import pytz
        return pytz.FixedOffset(int(text[len("pytz.FixedOffset("):-1]))
    return text


def _from_index(payload):
    import pandas
    if payload["dtype"] == "range":
        return pandas.RangeIndex(payload["data"], name=payload["name"])
    if payload["dtype"] == "multi":
        return pandas.MultiIndex.from_arrays([_values(level) for level in payload["data"]], names=payload["name"])
    index = pandas.Index(_values(payload), dtype=object if payload["dtype"] == "object" else None,
                         name=payload["name"])
    if "freq" in payload:
        index.freq = payload["freq"]
    return index


def _from_series(payload):
    import pandas
    return pandas.Series(_values(payload), index=_from_index(payload["index"]), name=payload["name"])


def _from_dataframe(payload):
    import pandas
    index = _from_index(payload["index"])
    columns = payload["columns"]
    frame = pandas.DataFrame({i: _values(column) for i, column in enumerate(columns)}, index=index)
    if "labels" in payload:
        frame.columns = _from_index(payload["labels"])
    elif columns:
        frame.columns = pandas.Index([column["name"] for column in columns], dtype=object)
    return frame


def _from_enum(payload):
    cls = _find_class(payload["type"])
    enum = _loaded("enum", "Enum")
    if cls is not None and enum is not None and issubclass(cls, enum):
        member = cls.__members__.get(payload["name"])
        return member if member is not None else cls(payload["value"])
    return payload["value"]


def _from_dataclass(payload):
    cls = _find_class(payload["type"])
    fields = payload["fields"]
    if cls is None or set(getattr(cls, "__dataclass_fields__", ())) != set(fields):
        return fields
    value = object.__new__(cls)
    for name, item in fields.items():
        object.__setattr__(value, name, item)
    return value


def _from_namedtuple(payload):
    cls = _find_class(payload["type"])
    fields = payload["fields"]
    if cls is None or getattr(cls, "_fields", None) != tuple(fields):
        return tuple(fields.values())
    return cls._make(fields.values())


class Image(bytes):
    """An image as it came: its bytes, and what they are. Where a cell shows it, it is seen."""

    mime = "application/octet-stream"

    def __repr__(self):
        return f"<{self.mime}, {len(self)} bytes>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: bytes(self)} if self.mime.startswith("image/") else {}


def _from_image(payload):
    import importlib
    import io
    if "PIL.Image" not in sys.modules:
        image = Image(payload["data"])
        image.mime = str(payload.get("mime") or Image.mime)
        return image
    return importlib.import_module("PIL.Image").open(io.BytesIO(payload["data"])).copy()


_FROM = {
    "complex": lambda payload: complex(*payload),
    "bytearray": bytearray,
    "range": lambda payload: range(*payload),
    "str": _from_str,
    "datetime": _from_datetime,
    "date": _from_datetime_part("date"),
    "time": _from_datetime_part("time"),
    "timedelta": _from_timedelta,
    "timezone": _from_timezone,
    "decimal": _from_library("decimal", "Decimal"),
    "fraction": _from_library("fractions", "Fraction"),
    "uuid": _from_library("uuid", "UUID"),
    "path": _from_library("pathlib", "Path"),
    "ndarray": _from_ndarray,
    "series": _from_series,
    "dataframe": _from_dataframe,
    "enum": _from_enum,
    "dataclass": _from_dataclass,
    "namedtuple": _from_namedtuple,
    "image": _from_image,
    "arrow": arrow.from_form,
    "object": lambda payload: payload.get("repr", ""),
}
