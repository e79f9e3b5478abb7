"""A person decides about a cell or a call of a tool before it runs."""
from __future__ import annotations

import asyncio
import dataclasses
import inspect
import threading
from typing import Any, Callable, Optional, Union

from ._tools import Loop

__all__ = ["ApprovalDecision", "ApprovalRequest"]


@dataclasses.dataclass(frozen=True)
class ApprovalRequest:
    """What is asked: ``kind`` is "cell" (see ``code``) or "tool_call" (see ``tool`` and ``args``)."""

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


def asker(approve: Callable, loop: Loop) -> Callable:
    """What the module calls with a question; a thread of its own waits for the answer."""
    def ask(request: dict, answer: Callable) -> None:
        threading.Thread(target=_decide, args=(approve, loop, request, answer), name="gloveport-approval",
                         daemon=True).start()
    return ask


def _decide(approve: Callable, loop: Loop, request: dict, answer: Callable) -> None:
    try:
        decision = approve(ApprovalRequest(**request))
        if inspect.isawaitable(decision):
            decision = asyncio.run_coroutine_threadsafe(_awaited(decision), loop.get()).result()
        answer(_answer(decision, request))
    except BaseException as error:  # whatever it was, it is no permission
        answer(_answer(ApprovalDecision(False, f"the approval failed: {type(error).__name__}"), request))
        raise


async def _awaited(decision: Any) -> Any:
    return await decision


def _answer(decision: Union[bool, ApprovalDecision], request: dict) -> dict:
    if not isinstance(decision, ApprovalDecision):
        decision = ApprovalDecision(decision is True)
    given = {"allowed": decision.allowed, "always": decision.always, "reason": decision.reason,
             "by": decision.by or "program", "sha256": request["sha256"]}
    if decision.code is not None:
        given["code"] = decision.code
    if decision.args is not None:
        given["args"] = decision.args
    return given
