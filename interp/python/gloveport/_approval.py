"""A person decides about a cell or a call of a tool before it runs."""
from __future__ import annotations

import asyncio
import dataclasses
import inspect
import threading
from typing import Any, Callable, Optional, Union

from ._tools import Loop, serving

__all__ = ["ApprovalDecision", "ApprovalRequest"]


@dataclasses.dataclass(frozen=True)
class ApprovalRequest:
    """What is asked: ``kind`` is "cell" (see ``code``) or "tool_call" (see ``tool`` and ``args``).

    ``withdrawn`` is set when it needs no answer any more: decided otherwise, too late, or its cell has ended.
    """

    id: int
    session: str
    cell: int
    kind: str
    code: str
    tool: str
    args: Any
    sha256: str
    reason: str
    grant: str
    withdrawn: threading.Event = dataclasses.field(default_factory=threading.Event, repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class ApprovalDecision:
    """``always`` covers later ones, too, as the request's ``grant`` says; the model reads the ``reason`` of a denial.

    ``code`` or ``args`` replace what was asked about; the policy judges them anew.
    """

    allowed: bool
    reason: str = ""
    always: bool = False
    by: str = ""
    code: Optional[str] = None
    args: Optional[dict] = None


class asker:  # noqa: N801 - called like a function
    """What the module calls with a question; a thread of its own waits for the answer."""

    def __init__(self, approve: Callable, loop: Loop):
        self._approve = approve
        self._loop = loop
        self._open: dict = {}  # of each question without an answer, its request

    def __call__(self, request: dict, answer: Callable) -> None:
        asked = ApprovalRequest(**request)
        self._open[asked.id] = asked
        threading.Thread(target=self._decide, args=(asked, answer), name="gloveport-approval", daemon=True).start()

    def withdraw(self, request_id: int) -> None:
        asked = self._open.pop(request_id, None)
        if asked is not None:
            asked.withdrawn.set()

    def _decide(self, asked: ApprovalRequest, answer: Callable) -> None:
        try:
            with serving(asked.session, "approval"):
                decision = self._approve(asked)
            if inspect.isawaitable(decision):
                decision = asyncio.run_coroutine_threadsafe(_awaited(decision), self._loop.get()).result()
            answer(_answer(decision, asked.sha256))
        except BaseException as error:  # whatever it was, it is no permission
            answer(_answer(ApprovalDecision(False, f"the approval failed: {type(error).__name__}"), asked.sha256))
            raise
        finally:
            self._open.pop(asked.id, None)


async def _awaited(decision: Any) -> Any:
    return await decision


def _answer(decision: Union[bool, ApprovalDecision], sha256: str) -> dict:
    if not isinstance(decision, ApprovalDecision):
        decision = ApprovalDecision(decision is True)
    given = {"allowed": decision.allowed, "always": decision.always, "reason": decision.reason,
             "by": decision.by or "program", "sha256": sha256}
    if decision.code is not None:
        given["code"] = decision.code
    if decision.args is not None:
        given["args"] = decision.args
    return given
