"""Values of pyarrow as the form "arrow" and back: an IPC stream, which every Arrow library reads (core/wire/FORMAT.md).

Whatever is no table travels as the stream of a table of one column. pyarrow is imported only for what comes from the
host; a value of it can exist only where it is loaded.
"""
import sys

_COLUMN = "value"


def to_form(value):
    """(form, payload) for what is_value."""
    pyarrow = sys.modules["pyarrow"]
    for kind, (cls, write, _) in _KINDS.items():
        if isinstance(value, getattr(pyarrow, cls)):
            return "arrow", {"kind": kind, "ipc": write(pyarrow, value)}
    return None


def is_value(value):
    """Whether to_form has a form for it."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and _is_arrow(pyarrow, value)


def _is_arrow(pyarrow, value):
    # A pyarrow that is just being imported has not got all of its classes.
    classes = tuple(getattr(pyarrow, cls, None) for cls, _, _ in _KINDS.values())
    return None not in classes and isinstance(value, classes)


def from_form(payload):
    """The value of pyarrow; ImportError where there is none, ValueError for what is no such stream."""
    kind = payload["kind"]
    if kind not in _KINDS:
        raise ValueError(f"a value of Arrow of the unknown kind {kind!r} came from the host")
    cls, _, read = _KINDS[kind]
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise ImportError(
            f"a pyarrow.{cls} came from the host, and pyarrow cannot be imported here ({error}); name a folder that "
            'has it under "packages" of the policy, or let the host send plain data', name="pyarrow") from None
    try:
        with pyarrow.ipc.open_stream(pyarrow.py_buffer(payload["ipc"])) as stream:
            return read(stream)
    except (pyarrow.ArrowException, OSError, EOFError) as error:
        raise ValueError(f"a malformed Arrow stream came from the host: {error}") from None


def _stream(pyarrow, data, schema):
    import pyarrow.ipc
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, schema) as writer:
        if data is not None:
            writer.write(data)
    return memoryview(sink.getvalue())


def _checked(table):
    """The stream may come from anywhere: no offset in it may point out of its buffers."""
    table.validate(full=True)
    return table


# ---- to a stream ----

def _write_table(pyarrow, value):
    return _stream(pyarrow, value, value.schema)


def _write_column(pyarrow, value):
    column = pyarrow.table({_COLUMN: value})
    return _stream(pyarrow, column, column.schema)


def _write_scalar(pyarrow, value):
    try:
        return _write_column(pyarrow, pyarrow.repeat(value, 1))
    except pyarrow.ArrowNotImplementedError:
        return _write_column(pyarrow, pyarrow.array([value.as_py()], value.type))


def _write_schema(pyarrow, value):
    return _stream(pyarrow, None, value)


def _write_field(pyarrow, value):
    return _write_schema(pyarrow, pyarrow.schema([value]))


def _write_type(pyarrow, value):
    return _write_field(pyarrow, pyarrow.field(_COLUMN, value))


# ---- from a stream ----

def _read_table(stream):
    return _checked(stream.read_all())


def _read_batch(stream):
    batches = list(stream)
    if len(batches) != 1:
        raise ValueError(f"a record batch came from the host as {len(batches)} batches")
    return _checked(batches[0])


def _read_chunks(stream):
    return _read_table(stream).column(0)


def _read_array(stream):
    import pyarrow
    chunks = _read_chunks(stream).chunks
    if len(chunks) > 1:
        raise ValueError("an Arrow array came from the host in several chunks")
    return chunks[0] if chunks else pyarrow.array([], stream.schema.field(0).type)


def _read_scalar(stream):
    return _read_chunks(stream)[0]


# Kind on the wire -> the class in pyarrow, how it is written and read.
_KINDS = {
    "table": ("Table", _write_table, _read_table),
    "record_batch": ("RecordBatch", _write_table, _read_batch),
    "chunked_array": ("ChunkedArray", _write_column, _read_chunks),
    "array": ("Array", _write_column, _read_array),
    "scalar": ("Scalar", _write_scalar, _read_scalar),
    "schema": ("Schema", _write_schema, lambda stream: stream.schema),
    "field": ("Field", _write_field, lambda stream: stream.schema.field(0)),
    "data_type": ("DataType", _write_type, lambda stream: stream.schema.field(0).type),
}


# ---- columns of pandas that are kept in Arrow's memory ----

def column_data(dtype, values):
    """(text of the dtype, ChunkedArray) for such a column, None for any other."""
    if type(dtype).__name__ == "ArrowDtype":
        return str(dtype), values.array.__arrow_array__()
    if repr(dtype) == "string[pyarrow]":
        return "string[pyarrow]", values.array.__arrow_array__()
    return None


def column_values(dtype, data):
    """The pandas array for what column_data gave."""
    import pandas
    if dtype == "string[pyarrow]":
        return pandas.StringDtype("pyarrow").__from_arrow__(data)
    return pandas.arrays.ArrowExtensionArray(data)
