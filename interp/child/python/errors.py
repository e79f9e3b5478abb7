"""Exceptions of cells, told to people and models: short, exact, the right lines of the right cells.

The lines come from the registered texts of the cells and from the runtime's read-only folders. No path that a code object
merely claims to come from is ever opened.
"""
import ast  # noqa: F401 - traceback imports it to mark operators; out of memory that would be too late
import linecache
import os
import sys
import traceback

MAX_TEXT = 48_000
MAX_LINE = 400
MAX_LINES = 100  # of one expression
MANY_LINES = sys.version_info >= (3, 13)  # the printer shows all lines of an expression, and wants to have them all
SHOWN_LIBRARY_FRAMES = 2  # of each unbroken run: the first and the last

_trusted = ()  # folders whose files may be read for their lines


def describe(error, cell, status):
    """(status, description) of the exception that ended cell number `cell`; `status` is what is known already."""
    if not status:
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return "ok", {}
        status = "memory" if isinstance(error, MemoryError) else "error"
    line, at = place(error, cell)
    return status, {
        "type": type(error).__name__,
        "message": _cut(message(error)),
        "line": line,
        "column": (error.offset or 0) if isinstance(error, SyntaxError) else 0,
        "cell": at,
        "traceback": _cut(format_error(error)),
        "notes": [str(note) for note in _notes(error)][:20],
    }


def message(error):
    try:
        return str(error)
    except Exception:
        return ""


def _notes(error):
    notes = getattr(error, "__notes__", None)
    return notes if isinstance(notes, (list, tuple)) else ()


def _cut(text, limit=MAX_TEXT):
    """Head and tail: the end of a traceback says what happened."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... [{len(text) - 2 * half} characters cut] ...\n{text[-half:]}"


# ---- where ----

def cell_of(filename):
    """The number of the cell that a file name stands for, or None."""
    if isinstance(filename, str) and filename.startswith("<cell ") and filename.endswith(">"):
        number = filename[6:-1]
        if number.isdigit():
            return int(number)
    return None


def place(error, cell):
    """(line, cell) of the innermost frame that belongs to a cell; for a syntax error in a cell the reported line."""
    if isinstance(error, SyntaxError) and cell_of(error.filename) is not None:
        return error.lineno or 0, cell_of(error.filename)
    found = (0, cell)
    trace = error.__traceback__
    while trace is not None:
        number = cell_of(trace.tb_frame.f_code.co_filename)
        if number is not None:
            found = (trace.tb_lineno or 0, number)
        trace = trace.tb_next
    return found


def is_own(filename):
    return filename.startswith("<gloveport/")


# ---- the text ----

def format_error(error):
    """The traceback as text: frames of the cells, and of the libraries they called as far as they help."""
    try:
        shown = traceback.TracebackException.from_exception(error, lookup_lines=False, compact=True, max_group_width=10)
        hints = {}
        if sys.version_info < (3, 12):  # since then the printer has suggestions of its own
            _collect_hints(error, hints, 0)
        _trim(shown, error, hints)
        return "".join(shown.format())
    except Exception as failure:
        return f"{type(error).__name__}: {message(error)}\n(the traceback cannot be shown: {type(failure).__name__})\n"


def _collect_hints(error, hints, depth):
    """Suggestions by exception, as far as the text will name them."""
    if error is None or id(error) in hints or depth > 20:
        return
    hints[id(error)] = ""
    from . import suggest
    try:
        hints[id(error)] = suggest.suggestion(error)
    except Exception:
        pass
    _collect_hints(error.__cause__, hints, depth + 1)
    _collect_hints(error.__context__, hints, depth + 1)
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions[:10]:
            _collect_hints(member, hints, depth + 1)


def _trim(shown, error, hints):
    """Drops frames that do not help, in the exception and in all that hang on it."""
    pending = [(shown, error)]
    seen = set()
    while pending:
        part, of = pending.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack[:] = _helpful(part.stack)
        hint = hints.get(id(of), "")
        if hint and isinstance(part._str, str):
            part._str += hint
        if isinstance(part._str, str) and len(part._str) > MAX_TEXT:
            part._str = _cut(part._str)
        pending.append((part.__cause__, getattr(of, "__cause__", None)))
        pending.append((part.__context__, getattr(of, "__context__", None)))
        pending += zip(part.exceptions or (), getattr(of, "exceptions", ()))


def _helpful(stack):
    frames = [frame for frame in stack if not is_own(frame.filename)]
    for index, frame in enumerate(frames):
        if frame.filename.startswith("<"):
            frames = frames[index:]  # what led to the first line of a cell is ours
            break
    kept = []
    run = []
    for frame in frames + [None]:
        if frame is not None and not frame.filename.startswith("<"):
            run.append(frame)
            continue
        kept += run if len(run) <= SHOWN_LIBRARY_FRAMES else [run[0], run[-1]]
        run = []
        if frame is not None:
            kept.append(frame)
    return [_with_lines(frame) for frame in kept]


def _with_lines(frame):
    """The same frame with the lines to show, never None: that would make the printer look for them itself."""
    last = frame.end_lineno if MANY_LINES and frame.end_lineno is not None else frame.lineno
    text = _lines_of(frame.filename, frame.lineno, last)
    return traceback.FrameSummary(frame.filename, frame.lineno, frame.name, lookup_line=False, line=text,
                                  end_lineno=frame.end_lineno, colno=frame.colno, end_colno=frame.end_colno)


def _lines_of(filename, first, last):
    if first is None or last - first >= MAX_LINES:
        return ""
    if cell_of(filename) is None and not _is_trusted(filename):
        return ""
    lines = [linecache.getline(filename, number) for number in range(first, last + 1)]
    if max(map(len, lines), default=0) > MAX_LINE:
        return ""
    return "".join(line.rstrip() + "\n" for line in lines) if MANY_LINES else lines[0]


def _is_trusted(filename):
    return any(filename.startswith(folder) for folder in _trusted) and ".." not in filename


# ---- exceptions that end no cell ----

def _print(error):
    sys.stderr.write(format_error(error))


def _thread_hook(args):
    """An uncaught exception of a thread: told on stderr, with the lines of the cell."""
    if args.exc_type is SystemExit or issubclass(args.exc_type, SystemExit) or sys.stderr is None:
        return
    name = args.thread.name if args.thread is not None else "of unknown name"
    sys.stderr.write(f"Exception in thread {name}:\n")
    _print(args.exc_value if args.exc_value is not None else args.exc_type())
    sys.stderr.flush()


def _unraisable_hook(args):
    if args.exc_value is None or isinstance(args.exc_value, SystemExit) or sys.stderr is None:
        return
    sys.stderr.write(f"{args.err_msg or 'Exception ignored in'}: {args.object!r}\n")
    _print(args.exc_value)


def _except_hook(kind, error, trace):
    if error is not None and error.__traceback__ is None:
        error = error.with_traceback(trace)
    _print(error)


def install_hooks():
    global _trusted
    import threading
    _trusted = tuple(os.path.abspath(folder) + "/" for folder in sys.path if folder)
    threading.excepthook = threading.__excepthook__ = _thread_hook
    sys.excepthook = sys.__excepthook__ = _except_hook
    sys.unraisablehook = sys.__unraisablehook__ = _unraisable_hook
