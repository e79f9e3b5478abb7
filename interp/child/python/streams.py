"""sys.stdout and sys.stderr over descriptors 1 and 2, and a stdin at its end.

The streams are line-buffered: what a cell has written is seen at once, and a process that is killed loses no more than
an unfinished line.
"""
import fcntl
import io
import os
import sys

_NAMES = {1: "stdout", 2: "stderr"}
current = []  # [stdout, stderr] of the session, once they are open; read in C++
counts = [0, 0]  # bytes that the cell has written to them; C++ begins anew with each cell
_kept = {}  # descriptor -> a duplicate from which it can be restored


class _Counted(io.FileIO):
    """Counts what is written to it, in counts[.place]."""

    def write(self, data, _write=io.FileIO.write):
        count = _write(self, data)
        if count:
            counts[self.place] += count
        return count


def _open_output(fd):
    name = _NAMES[fd]
    raw = _Counted(fd, "w", closefd=False)
    raw.place = fd - 1
    raw.name = f"<{name}>"
    stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", newline="\n",
                              line_buffering=True)
    stream.mode = "w"
    return stream


def make_streams():
    """Once per template: sessions then need not copy the pages that this changes. While a stream is made it asks whether
    its descriptor has positions, so these are pipes for that moment, as they are in a session."""
    reading, writing = os.pipe()
    for fd in _NAMES:
        before = os.dup(fd)
        os.dup2(writing, fd)
        _use(fd, _open_output(fd))
        os.dup2(before, fd)
        os.close(before)
    os.close(reading)
    os.close(writing)
    # Nobody can answer: reading gives the end of the file at once.
    stdin = io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8")
    stdin.mode = "r"
    sys.stdin = sys.__stdin__ = stdin


def keep_descriptors():
    """At the start of a session, whose descriptors 1 and 2 these are."""
    for fd in _NAMES:
        _kept[fd] = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _use(fd, stream):
    current[fd - 1:fd] = [stream]
    setattr(sys, _NAMES[fd], stream)
    setattr(sys, f"__{_NAMES[fd]}__", stream)


def written():
    """[bytes of stdout, of stderr] that the cell has written so far; nothing is left in a buffer."""
    for stream in current:
        _flush(stream)
    return list(counts)


def finish_cell():
    """Everything that was written reaches the host; what the cell replaced or closed is restored."""
    for fd, name in _NAMES.items():
        own = current[fd - 1]
        present = getattr(sys, name, None)
        if present is not own:
            _flush(present)
        if not _is_open(fd):
            # The lowest free number is this one, or one that is given back at once.
            copy = fcntl.fcntl(_kept[fd], fcntl.F_DUPFD, fd)
            if copy != fd:
                os.close(copy)
        if not _flush(own):
            own = _open_output(fd)
        if present is not own:
            _use(fd, own)


def _is_open(fd):
    try:
        fcntl.fcntl(fd, fcntl.F_GETFD)
        return True
    except OSError:
        return False


def _flush(stream):
    try:
        stream.flush()
        return True
    except Exception:  # closed, detached, or no stream at all
        return False
