"""What adaptors share: cells of which the last statement's value is asked for, whatever statement it is."""
from __future__ import annotations

import ast
from typing import Optional

MAX_BYTES = 1 << 20  # of a text that is parsed here, to find its last statement


def parse(code: str) -> Optional[ast.Module]:
    """The syntax tree; None for what is no Python, or too much of it: then the session says why."""
    if len(code) > MAX_BYTES:
        return None
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def with_last_value(code: str) -> str:
    """The code, with the target of a trailing assignment as a trailing expression."""
    tree = parse(code)
    if tree is None or not tree.body:
        return code
    last = tree.body[-1]
    target = None
    if isinstance(last, ast.Assign):
        target = last.targets[0]
    elif isinstance(last, (ast.AugAssign, ast.AnnAssign)) and (isinstance(last, ast.AugAssign) or last.value):
        target = last.target
    if target is None or not _is_plain(target):
        return code
    return f"{code}\n{ast.unparse(target)}"


def _is_plain(target: ast.expr) -> bool:
    """Whether reading it does no more than the assignment did: names, and tuples of them."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_is_plain, target.elts))
    return isinstance(target, ast.Name)


def statement_at(code: str, line: int) -> str:
    """The text of the outermost statement that the line (from 1) lies in."""
    tree = parse(code)
    for statement in tree.body if tree else ():
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            return ast.get_source_segment(code, statement) or ""
    lines = code.splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else code
