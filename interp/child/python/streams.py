"""sys.stdout and sys.stderr over descriptors 1 and 2, and a stdin at its end."""
import io
import sys


class _Stdin(io.TextIOWrapper):
    """Nobody can answer: reading gives the end of the file at once."""


def _open_output(fd, name):
    raw = io.FileIO(fd, "w", closefd=False)
    raw.name = name
    stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", newline="\n",
                              line_buffering=True)
    stream.mode = "w"
    return stream


_names = {1: "stdout", 2: "stderr"}
_streams = {}


def open_streams():
    for fd, name in _names.items():
        _streams[fd] = _open_output(fd, f"<{name}>")
        setattr(sys, name, _streams[fd])
        setattr(sys, f"__{name}__", _streams[fd])
    stdin = _Stdin(io.BytesIO(b""), encoding="utf-8")
    stdin.mode = "r"
    sys.stdin = sys.__stdin__ = stdin


def finish_cell():
    """Everything that was written reaches the host; a stream that the cell replaced or closed is restored."""
    for fd, name in _names.items():
        stream = _streams.get(fd)
        if stream is None:
            continue
        if getattr(sys, name, None) is not stream:
            _flush(getattr(sys, name, None))
        if stream.closed or getattr(stream, "buffer", None) is None or stream.buffer.closed:
            stream = _streams[fd] = _open_output(fd, f"<{name}>")
            setattr(sys, f"__{name}__", stream)
        setattr(sys, name, stream)
        _flush(stream)


def _flush(stream):
    try:
        stream.flush()
    except Exception:
        pass
