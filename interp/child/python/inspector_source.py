"""From text to syntax tree: the one place where the inspector meets raw text.

Nothing here compiles to code objects: `compile` is only ever called with PyCF_ONLY_AST, which stops after the
parser. Every function is total: whatever the text is, there is a tree or a Problem, never an exception.
"""

import ast
import re
import unicodedata  # noqa: F401 - the parser needs it for \N{...} and odd identifiers; later may be too late
import warnings

# A cell above this size is refused unread: its tree may take a thousand times its memory.
MAX_CHARS = 1 << 19

_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
# CPython's own flags behind `codeop` (Include/cpython/compile.h); the ast module does not name them.
_DONT_IMPLY_DEDENT = 0x200
_ALLOW_INCOMPLETE_INPUT = 0x4000

_LINE_END = re.compile(r"\r\n|\r|\n")  # what the tokenizer takes as one; no form feed, no U+2028
_ACTIONS = (ast.Call, ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.NamedExpr)


class Problem:
    """Why a text is no cell: `message`, and where (1-based; 1, 1 when unknown)."""

    __slots__ = ("message", "line", "column")

    def __init__(self, message, line=1, column=1):
        self.message = message
        self.line = line
        self.column = column


def _tree_of(code, flags):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a string is no concern of the inspector
        return compile(code, "<cell>", "exec", flags, dont_inherit=True)


def _problem_of(error):
    if isinstance(error, SyntaxError):
        return Problem(error.msg or "invalid syntax", max(1, error.lineno or 1), max(1, error.offset or 1))
    if isinstance(error, (RecursionError, MemoryError)):
        return Problem("the code is nested too deeply, or too long, to be read")
    if isinstance(error, UnicodeError):
        return Problem("the code contains a lone surrogate, which is no character")
    if isinstance(error, ValueError):
        return Problem(str(error))
    return Problem(f"the code cannot be read ({type(error).__name__})")


def parse(code):
    """(tree, None) or (None, Problem). A byte-order mark at the start is dropped, as the cell runner does."""
    if isinstance(code, (bytes, bytearray)):
        code = bytes(code).decode("utf-8", "surrogateescape")
    if not isinstance(code, str):
        return None, Problem(f"code is text, not {type(code).__name__}")
    if len(code) > MAX_CHARS:
        return None, Problem(f"the cell has {len(code)} characters; at most {MAX_CHARS} are read")
    try:
        return _tree_of(code.removeprefix("\ufeff"), _FLAGS), None
    except Exception as error:  # noqa: BLE001 - total by contract; _problem_of says what it was
        return None, _problem_of(error)


def _is_beginning(code):
    if code.rstrip().endswith("\\"):
        code = code.rstrip()[:-1] + "(0, "  # a line to be continued is as open as a bracket
    try:
        _tree_of(code + "\n", _FLAGS | _DONT_IMPLY_DEDENT | _ALLOW_INCOMPLETE_INPUT)
    except SyntaxError as error:
        return "incomplete input" in str(error.msg)
    except Exception:  # noqa: BLE001 - whatever it is, more text will not cure it
        return False
    return False


def _acts(tree):
    for node in ast.walk(tree):
        if isinstance(node, _ACTIONS) or (isinstance(node, ast.AnnAssign) and node.value is not None):
            return True
    return False


def syntax(code):
    """What the action parser asks of a text: see inspector.syntax."""
    tree, problem = parse(code)
    if tree is not None:
        return {"complete": True, "incomplete": False, "has_action": _acts(tree), "message": "", "line": 0}
    incomplete = isinstance(code,
                            str) and len(code) <= MAX_CHARS and _is_beginning(code.removeprefix("\ufeff"))
    return {
        "complete": False,
        "incomplete": incomplete,
        "has_action": False,
        "message": problem.message,
        "line": problem.line,
    }


def lines(code):
    """The lines of `code` as the parser counts them."""
    return _LINE_END.split(code.removeprefix("\ufeff"))


class Positions:
    """Turns the parser's columns (bytes of UTF-8, from 0) into what people count (characters, from 1)."""

    def __init__(self, code):
        self._code = code
        self._lines = None

    def column(self, line, offset):
        if self._code.isascii():
            return offset + 1
        if self._lines is None:
            self._lines = lines(self._code)
        if not 1 <= line <= len(self._lines):
            return offset + 1
        return len(self._lines[line - 1].encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1
