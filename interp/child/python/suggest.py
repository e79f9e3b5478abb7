"""What CPython's own printer adds to NameError and AttributeError: the nearest name that exists. Used with CPython 3.11,
whose module traceback does not do it."""
import sys

MOVE = 2      # cost of an insertion, a deletion or another letter
CASE = 1      # of the same letter in another case
LONGEST = 40  # names longer than this are not compared
MOST = 750    # nor more than so many of them


def suggestion(error):
    """Text to append to the message, or ""."""
    if isinstance(error, NameError):
        return _for_name(error)
    if isinstance(error, AttributeError):
        return _for_attribute(error)
    if isinstance(error, ImportError):
        return _for_import(error)
    return ""


def _for_name(error):
    name = getattr(error, "name", None)
    frame = _last_frame(error)
    if not isinstance(name, str) or frame is None:
        return ""
    near = _nearest(name, list(frame.f_code.co_varnames)) or _nearest(name, list(frame.f_globals))
    near = near or _nearest(name, list(frame.f_builtins))
    if near is not None:
        return f". Did you mean: '{near}'?"
    if name in sys.stdlib_module_names:
        return f". Did you forget to import '{name}'?"
    return ""


def _for_attribute(error):
    name = getattr(error, "name", None)
    owner = getattr(error, "obj", None)
    if not isinstance(name, str) or owner is None:
        return ""
    near = _nearest(name, dir(owner))
    return f". Did you mean: '{near}'?" if near is not None else ""


def _for_import(error):
    """`from module import nmae`: CPython 3.12 helps here, and so do we."""
    text = str(error)
    module = sys.modules.get(error.name) if isinstance(error.name, str) else None
    if module is None or not text.startswith("cannot import name '"):
        return ""
    near = _nearest(text[len("cannot import name '"):].partition("'")[0], dir(module))
    return f". Did you mean: '{near}'?" if near is not None else ""


def _last_frame(error):
    trace = error.__traceback__
    frame = None
    while trace is not None:
        frame = trace.tb_frame
        trace = trace.tb_next
    return frame


def _nearest(name, names):
    if len(names) > MOST or len(name) > LONGEST:
        return None
    best = None
    best_distance = None
    for other in names:
        if not isinstance(other, str) or other == name:
            continue
        # A third of the letters may be wrong.
        limit = (len(name) + len(other) + 3) * MOVE // 6
        if best_distance is not None:
            limit = min(limit, best_distance - 1)
        distance = _distance(name, other, limit)
        if distance <= limit:
            best, best_distance = other, distance
    return best


def _substitution(a, b):
    if a == b:
        return 0
    return CASE if a.lower() == b.lower() else MOVE


def _distance(a, b, limit):
    """The edit distance, or anything above `limit` where it is above it."""
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if not a or not b:
        return (len(a) + len(b)) * MOVE
    if len(a) > LONGEST or len(b) > LONGEST or abs(len(a) - len(b)) * MOVE > limit:
        return limit + 1
    row = list(range(0, (len(a) + 1) * MOVE, MOVE))
    for index, letter in enumerate(b, 1):
        previous, row[0] = row[0], index * MOVE
        lowest = row[0]
        for column, other in enumerate(a, 1):
            cost = min(previous + _substitution(other, letter), row[column] + MOVE, row[column - 1] + MOVE)
            previous, row[column] = row[column], cost
            lowest = min(lowest, cost)
        if lowest > limit:
            return limit + 1
    return row[-1]
