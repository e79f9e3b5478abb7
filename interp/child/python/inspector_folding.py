"""Arithmetic on descriptions of values: the few text operations that people hide a name or a path behind.

All functions take and give tuples of descriptions as in inspector_values, never more or longer ones than the
limits there, and answer () when the text does not tell.
"""

import base64
import binascii
import posixpath

TEXT, PREFIX, BYTES, NUMBER, PATH, STEM = "text", "prefix", "bytes", "number", "path", "stem"
_MAX_VALUES, _MAX_TEXT = 8, 4096

_TEXT_METHODS = frozenset(
    "lower upper strip lstrip rstrip replace capitalize title swapcase casefold removeprefix "
    "removesuffix".split()
)


def _texts(values):
    return [value[1] for value in values if value[0] == TEXT]


def number(values):
    found = [value[1] for value in values if value[0] == NUMBER and isinstance(value[1], int)]
    return found[0] if len(found) == 1 and abs(found[0]) <= _MAX_TEXT else None


def _as_text(value):
    """How `value` begins in an f-string or after str(), and whether that is all of it."""
    if value[0] in (TEXT, PATH):
        return value[1], True
    if value[0] == NUMBER and isinstance(value[1], int) and abs(value[1]) < 1 << 64:
        return str(value[1]), True
    return (value[1], False) if value[0] in (PREFIX, STEM) else ("", False)


def concatenated(parts):
    """parts: a tuple of descriptions for each piece; the result is a PREFIX from the first unknown piece
    on."""
    heads = [("", True)]
    for part in parts:
        longer = []
        for head, whole in heads:
            for tail, ends in [_as_text(value) for value in part] or [("", False)]:
                longer.append((head + tail, ends) if whole else (head, False))
        heads = list(dict.fromkeys(item for item in longer if len(item[0]) <= _MAX_TEXT))[:_MAX_VALUES]
    return tuple((TEXT, head) if whole else (PREFIX, head) for head, whole in heads if whole or head)


def repeated(left, right):
    times = number(right)
    if times is None or times < 0:
        return ()
    return tuple((TEXT, text * times) for text in _texts(left) if len(text) * times <= _MAX_TEXT)


def interpolated(left, arguments):
    """`text % arguments` for %s and %d only."""
    found = []
    for text in _texts(left):
        pieces = text.replace("%d", "%s").replace("%%", "\0").split("%s")
        if any("%" in piece for piece in pieces):
            continue
        parts = [((TEXT, pieces[0].replace("\0", "%")),)]
        for piece, argument in zip(pieces[1:], arguments):
            parts += [argument, ((TEXT, piece.replace("\0", "%")),)]
        found.extend(concatenated(parts))
    return tuple(found[:_MAX_VALUES])


def _path_text(value):
    return value[1] if value[0] in (TEXT, PATH) else None


def joined_paths(left, others):
    """`Path / x` and Path(a, b): PATHs, or STEMs once a part is unknown."""
    heads = [(value[1], True) for value in left if value[0] == PATH]
    for other in others:
        tails = [_path_text(value) for value in other] or [None]
        joined = []
        for head, whole in heads:
            for tail in tails:
                if not whole or tail is None:
                    joined.append((head if not whole else posixpath.join(head, ""), False))
                else:
                    joined.append((posixpath.join(head, tail), True))
        heads = [item for item in joined if len(item[0]) <= _MAX_TEXT][:_MAX_VALUES]
    return tuple((PATH, head) if whole else (STEM, head) for head, whole in heads if whole or head)


def joined_texts(arguments):
    """os.path.join."""
    if not arguments:
        return ()
    first = tuple((PATH, text) for text in _texts(arguments[0]))
    return tuple((TEXT if kind == PATH else PREFIX, text) for kind,
                 text in joined_paths(first, arguments[1:]))


def sliced(base, bounds, given):
    if any(there and bound is None for bound, there in zip(bounds, given)) or (given[2] and bounds[2] == 0):
        return ()
    part = slice(*(bound if there else None for bound, there in zip(bounds, given)))
    return tuple((value[0], value[1][part]) for value in base if value[0] in (TEXT, BYTES))


def character(text, key):
    if key[0] == NUMBER and isinstance(key[1], int) and -len(text) <= key[1] < len(text):
        return ((TEXT, text[key[1]]),)
    return ()


def joined(separators, items):
    """`separator.join(items)`; items: one tuple of descriptions each, or None."""
    if items is None:
        return ()
    found = []
    for separator in _texts(separators):
        parts = []
        for item in items:
            parts += [((TEXT, separator),), item] if parts else [item]
        found.extend(concatenated(parts))
    return tuple(found[:_MAX_VALUES])


def _decoded(data, encoding):
    try:
        return ((TEXT, data.decode(encoding if encoding in ("ascii", "latin-1") else "utf-8")),)
    except UnicodeError:
        return ()


def _method(name, value, arguments):
    kind, content = value[0], value[1]
    if kind == BYTES and name == "decode":
        return _decoded(content, (arguments or ["utf-8"])[0])
    if kind == TEXT and name == "encode":
        return ((BYTES, content.encode("utf-8", "replace")),)
    if kind == TEXT and name in _TEXT_METHODS and len(arguments) <= 2:
        try:
            result = getattr(str, name)(content, *arguments)  # of a constant, by a method named above
        except TypeError:
            return ()
        return ((TEXT, result),) if len(result) <= _MAX_TEXT else ()
    return ()


def method(name, base, arguments):
    """`text.lower()` and the like."""
    plain = []
    for argument in arguments:
        found = _texts(argument)
        if len(found) != 1:
            return ()
        plain.append(found[0])
    found = []
    for value in base:
        if value[0] in (TEXT, BYTES) and len(value[1]) <= _MAX_TEXT:
            found.extend(_method(name, value, plain))
    return tuple(found[:_MAX_VALUES])


def _chr(value):
    return ((TEXT, chr(value[1])),
            ) if value[0] == NUMBER and type(value[1]) is int and 0 <= value[1] < 0x110000 else ()


def _unpacked(value, function):
    if value[0] not in (TEXT, BYTES) or len(value[1]) > _MAX_TEXT:
        return ()
    try:
        return ((BYTES, function(value[1])),)
    except (ValueError, binascii.Error):
        return ()


def _fspath(value):
    text = _path_text(value)
    return ((TEXT, text),) if text is not None else ()


_FUNCTIONS = {
    "builtins.chr": _chr,
    "builtins.str": lambda value: concatenated([(value,)]),
    "os.fspath": _fspath,
    "base64.b64decode": lambda value: _unpacked(value, base64.b64decode),
    "base64.b16decode": lambda value: _unpacked(value, base64.b16decode),
    "binascii.unhexlify": lambda value: _unpacked(value, binascii.unhexlify),
    "builtins.bytes.fromhex": lambda value: _unpacked(value, bytes.fromhex) if value[0] == TEXT else (),
}


def called(path, arguments):
    """A call of one of the functions above on a known first argument."""
    function = _FUNCTIONS.get(path)
    if function is None or not arguments:
        return ()
    found = []
    for value in arguments[0]:
        found.extend(function(value))
    return tuple(found[:_MAX_VALUES])
