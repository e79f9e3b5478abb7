"""How a cell ended: values, never exceptions."""
from __future__ import annotations

import sys
from typing import Any, Optional

from .errors import CellError

__all__ = ["Completions", "FinalAnswer", "NameInfo", "PythonError", "Result", "ToolCall"]


class _Record:
    """Named fields from a dict; what the dict has besides is reachable as ``raw``."""

    _fields: tuple = ()
    __slots__ = ("raw",)

    def __init__(self, raw: dict):
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        if name in type(self)._fields:
            return self.raw.get(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list:
        return sorted([*super().__dir__(), *self._fields])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={self.raw.get(name)!r}' for name in self._fields)})"


class PythonError(_Record):
    """The exception that ended a cell, or the reason why it did not run: type, message, line, cell, traceback."""

    _fields = ("type", "message", "line", "cell", "traceback")
    __slots__ = ()


class FinalAnswer(_Record):
    """What a cell passed to final_answer(): value, repr, explanation."""

    _fields = ("value", "repr", "explanation")
    __slots__ = ()


class ToolCall(_Record):
    """One call of a tool: name, args, ok, value or error, duration_s."""

    _fields = ("name", "args", "ok", "value", "error", "error_type", "duration_s")
    __slots__ = ()


class Completions(_Record):
    """What could stand between ``start`` and ``end`` of the code: matches."""

    _fields = ("matches", "start", "end")
    __slots__ = ()


class NameInfo(_Record):
    """What a session tells about a name: found, name, type, doc, signature, repr, file."""

    _fields = ("found", "name", "type", "doc", "signature", "repr", "file")
    __slots__ = ()


class Result(_Record):
    """How a cell ended.

    ``outcome`` is "ok", "error", "denied", "timeout", "memory", "output_limit", "violation", "crashed", "killed" or
    "protocol_error"; ``state`` says what became of the variables: "kept", "restored" or "lost". ``value`` is that of
    a trailing expression, ``repr`` and ``type`` the session's word about it (None without one). ``usage``,
    ``verdict`` and ``limit`` are dicts as in core/serve/PROTOCOL.md.
    """

    _fields = ("outcome", "state", "cell", "value", "repr", "type", "stdout", "stderr", "error", "final_answer",
               "displays", "tool_calls", "usage", "verdict", "limit", "refusal_reason", "truncated")
    __slots__ = ("error", "final_answer", "tool_calls")

    error: Optional[PythonError]
    final_answer: Optional[FinalAnswer]
    tool_calls: list

    def __init__(self, raw: dict):
        super().__init__(raw)
        self.error = PythonError(raw["error"]) if raw["error"] else None
        self.final_answer = FinalAnswer(raw["final_answer"]) if raw["final_answer"] else None
        self.tool_calls = [ToolCall(call) for call in raw["tool_calls"]]

    @property
    def ok(self) -> bool:
        return self.raw["outcome"] == "ok"

    def raise_for_outcome(self) -> Result:
        """Itself, or a CellError where the outcome is not "ok"."""
        if not self.ok:
            raise CellError(self)
        return self

    def __repr__(self) -> str:
        if self.error is not None:
            return f"<Result {self.outcome}: {self.error.type}: {self.error.message}>"
        return f"<Result {self.outcome}: {self.repr}>" if self.repr is not None else f"<Result {self.outcome}>"

    def _ipython_display_(self) -> None:
        from ._html import safe_text
        from ._rich import show_result
        sys.stdout.write(safe_text(self.stdout))
        sys.stderr.write(safe_text(self.stderr))
        show_result(self)
