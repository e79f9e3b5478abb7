"""What can go wrong, as exceptions.

Each says what was tried, where, and why it failed::

    >>> import gloveport
    >>> try:
    ...     gloveport.Policy('{"limits": {"wall_s": "long"}}')
    ... except gloveport.InvalidArgument as error:
    ...     print(error.what, "|", error.where, "|", error.why)
    reading a policy | policy | policy:1:23: wall_s must be a number, not "long"

How a cell ends is no exception: see :class:`gloveport.Result`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._results import Result

__all__ = ["CellError", "Closed", "ConfinementUnavailable", "DeadlineExceeded", "Denied", "Error", "ForkedProcess",
           "InternalError", "InvalidArgument", "IoError", "NotFound", "ProtocolError", "ResourceExhausted", "ToolError",
           "WouldDeadlock"]


class Error(Exception):
    """A call that failed: nothing of it was done.

    Attributes:
        code: "invalid_argument", "not_found" ..., as in the session protocol.
        what: the operation, for example "Session.put_file".
        where: the object that it was about: a path, a policy, the id of a session.
        why: the cause.
        hint: what to do instead; empty where there is no advice.
    """
    code = "internal"

    def __init__(self, message: str = "", *, what: str = "", where: str = "", why: str = "", hint: str = ""):
        super().__init__(message)
        self.what = what
        self.where = where
        self.why = why or message
        self.hint = hint

    def __str__(self) -> str:
        text = self.why
        if self.what and self.what not in text:
            text = f"{self.what}: {text}"
        return f"{text}\n{self.hint}" if self.hint else text


class InvalidArgument(Error, ValueError):
    """The caller's input is wrong: a retry will not help."""
    code = "invalid_argument"


class NotFound(Error, LookupError):
    """A named file, variable, preset or checkpoint does not exist."""
    code = "not_found"


class Denied(Error):
    """The policy or a person refused."""
    code = "denied"


class ConfinementUnavailable(Error):
    """A layer of confinement that the policy requires cannot be had here; nothing was run."""
    code = "confinement_unavailable"


class DeadlineExceeded(Error, TimeoutError):
    """The time that was given ran out."""
    code = "deadline_exceeded"


class ResourceExhausted(Error):
    """A limit other than time was reached."""
    code = "resource_exhausted"


class ProtocolError(Error):
    """The peer broke the protocol."""
    code = "protocol"


class Closed(Error):
    """The session or runtime has been closed."""
    code = "closed"


class IoError(Error, OSError):
    """A system call failed."""
    code = "io"


class InternalError(Error):
    """A defect of Gloveport."""
    code = "internal"


class ForkedProcess(Error):
    """A session or runtime is used in a fork of the process that made it."""
    code = "forked"


class WouldDeadlock(Error, RuntimeError):
    """A call that waits for a cell, on the thread or event loop that this cell itself waits for."""
    code = "would_deadlock"


class ToolError(Exception):
    """For tools to raise: the cell gets a ToolError with the same text, without a class name before it."""


class CellError(Error):
    """A cell did not end with "ok": raised by :meth:`Result.raise_for_outcome`. ``result`` has all of it."""
    code = "cell"

    def __init__(self, result: Result):
        error = result.error
        why = f"{error.type}: {error.message}" if error else f"the cell ended with outcome {result.outcome!r}"
        where = f"cell {error.cell}, line {error.line}" if error and error.line else f"cell {result.cell}"
        super().__init__(why, what="", where=where, why=why)
        self.result = result


_BY_CODE = {cls.code: cls for cls in (InvalidArgument, NotFound, Denied, ConfinementUnavailable, DeadlineExceeded,
                                      ResourceExhausted, ProtocolError, Closed, IoError, InternalError)}


def from_host(code: str, message: str, hint: str, what: str, where: str) -> Error:
    """Called by the module: the exception for an error of the host library."""
    return _BY_CODE.get(code, InternalError)(message, what=what, where=where, why=message, hint=hint)


def forked(what: str) -> ForkedProcess:
    """Called by the module: the exception for a use after a fork."""
    why = "this process is a fork of the one that opened it, and has neither its threads nor its sessions"
    return ForkedProcess(why, what=what, why=why, hint="open a gloveport.Runtime of its own in each process, after the fork")
