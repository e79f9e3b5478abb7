"""One tool of a framework that takes code: cells of a session, which may call other tools as functions."""
from __future__ import annotations

import asyncio
import threading
from typing import Any, Iterable, Optional, Union

from .. import Result, Session
from .._policy import PolicyLike
from .._tools import as_tools, spec_of

MAX_TEXT = 20_000  # of what a model is told about a cell


class CodeTool:
    """Runs cells in one session, opened with the first, and tells in text what came of them."""

    def __init__(self, policy: PolicyLike = "default", tools: Union[None, Iterable, dict] = None, **options: Any):
        self._policy = policy
        self._tools = as_tools(tools)
        self._options = options
        self._session: Optional[Session] = None
        self._lock = threading.Lock()

    @property
    def description(self) -> str:
        """For the model: what the tool does, and which functions cells can call."""
        text = ("Runs Python code. Variables are kept from call to call. The result is what the code prints, and the value of an "
                "expression at its end.")
        if self._tools:
            text += " The code can call these functions:\n" + "\n".join(map(_signature, map(spec_of, self._tools)))
        return text

    @property
    def session(self) -> Session:
        with self._lock:
            if self._session is None:
                self._session = Session(self._policy, tools=self._tools, **self._options)
            return self._session

    def run(self, code: str) -> str:
        return observation(self.session.run(code))

    async def run_async(self, code: str) -> str:
        session = await asyncio.to_thread(lambda: self.session)
        return observation(await session.run_async(code))

    def close(self) -> None:
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()


def observation(result: Result) -> str:
    """What a model is told: output, value or error, and what became of the variables."""
    parts = [result.stdout, result.stderr]
    if result.error is not None:
        parts.append(result.error.traceback or f"{result.error.type}: {result.error.message}")
    elif result.final_answer is not None:
        parts.append(result.final_answer.repr)
    elif result.repr is not None and result.type != "NoneType":
        parts.append(result.repr)
    if result.state != "kept":
        parts.append(f"The interpreter ended; its variables are {result.state}.")
    text = "\n".join(part.rstrip("\n") for part in parts if part) or "(no output)"
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT // 2]}\n...\n{text[-MAX_TEXT // 2:]}"


def _signature(spec: dict) -> str:
    parameters = ", ".join(f"{p['name']}: {p['annotation']}" + (f" = {p['default']!r}" if "default" in p else "")
                           for p in spec["parameters"])
    words = f"    # {' '.join(spec['description'].split())}" if spec["description"] else ""
    return f"{'async ' if spec.get('async') else ''}def {spec['name']}({parameters}) -> {spec['returns']}{words}"
