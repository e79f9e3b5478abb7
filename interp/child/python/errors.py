"""Exceptions of cells, told to people and models."""
import traceback

CELL = "<cell "
OWN = "<gloveport"


def describe(error, cell, status):
    """(status, description) of the exception that ended cell number `cell`; `status` is what is known already."""
    if not status:
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return "ok", {}
        status = "memory" if isinstance(error, MemoryError) else "error"
    line, at = _place(error, cell)
    return status, {
        "type": type(error).__name__,
        "message": _text(error),
        "line": line,
        "column": getattr(error, "offset", 0) or 0 if isinstance(error, SyntaxError) else 0,
        "cell": at,
        "traceback": "".join(traceback.format_exception(error)),
    }


def _text(error):
    try:
        return str(error)[:60000]
    except Exception:
        return ""


def _cell_of(filename):
    if filename and filename.startswith(CELL) and filename.endswith(">"):
        number = filename[len(CELL):-1]
        if number.isdigit():
            return int(number)
    return None


def _place(error, cell):
    if isinstance(error, SyntaxError) and _cell_of(error.filename) is not None:
        return error.lineno or 0, _cell_of(error.filename)
    place = (0, cell)
    trace = error.__traceback__
    while trace is not None:
        number = _cell_of(trace.tb_frame.f_code.co_filename)
        if number is not None:
            place = (trace.tb_lineno or 0, number)
        trace = trace.tb_next
    return place
