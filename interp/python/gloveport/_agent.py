"""Agent: reaches a goal by letting a model write Python in a session."""
from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from . import _approval, _native, _tools
from ._policy import PolicyLike, as_policy
from ._results import Result
from ._runtime import Runtime, default_runtime
from ._session import _Events

__all__ = ["Agent", "AgentResult"]


class AgentResult:
    """What a run came to: ``answer``, ``stop_reason``, ``stop_message``; ``evidence`` in words; all of it in ``raw``."""

    def __init__(self, raw: dict):
        self.raw = raw

    @property
    def answer(self) -> Any:
        return self.raw["answer"]

    @property
    def stop_reason(self) -> str:
        return self.raw["stop_reason"]

    @property
    def stop_message(self) -> str:
        return self.raw["stop_message"]

    @property
    def steps(self) -> list:
        return self.raw["steps"]

    @property
    def evidence(self) -> str:
        return self.raw["evidence_text"]

    @property
    def ok(self) -> bool:
        return self.stop_reason == "final_answer"

    def __repr__(self) -> str:
        return f"<AgentResult {self.stop_reason}: {self.answer!r}>"


class Agent:
    """Lets a model write Python until there is an answer that fits, or a reason to stop.

    Args:
        model: "openai:NAME", "anthropic:NAME", "scripted:FILE", or a function from messages (a list of dicts with
            "role" and "content") to the model's text.
        policy, tools, runtime, approve, on_event: as for Session.
        instructions: for the model, besides the goal.
        max_steps: replies of the model.
        on_step: called as on_step(kind, data) with "step", "action", "result", "validation", "observation".

    >>> answers = iter(["<code>final_answer(twice(21))</code>"])
    >>> agent = Agent(lambda messages: next(answers), tools={"twice": lambda n: 2 * n})
    >>> agent.run("What is twice 21?").answer
    42
    """

    def __init__(self, model: Union[str, Callable], *, policy: PolicyLike = None,
                 tools: Union[None, Iterable, dict] = None, runtime: Optional[Runtime] = None, instructions: str = "",
                 max_steps: int = 10, approve: Optional[Callable] = None, on_event: Optional[Callable] = None,
                 on_step: Optional[Callable] = None):
        self.model = model
        self.policy = as_policy(policy)
        self.tools = _tools.as_tools(tools)
        self.runtime = runtime or default_runtime()
        self.instructions = instructions
        self.max_steps = max_steps
        self._approve = approve
        self._on_event = on_event
        self._on_step = on_step
        self._running: Optional[_native.Agent] = None

    def run(self, goal: str, *, schema: Optional[dict] = None, files: Optional[Mapping[str, bytes]] = None,
            timeout: Optional[float] = None) -> AgentResult:
        """One run. Ctrl-C ends it: the result says what was reached so far.

        Args:
            schema: JSON Schema of the answer.
            files: put into the work folder first, by path.
            timeout: seconds for the whole run.
        """
        native = self._native(goal, schema, files, timeout)
        outcome: list = []
        ended = threading.Event()

        def run() -> None:
            try:
                outcome.append(native.run())
            except BaseException as error:
                outcome.append(error)
            ended.set()

        thread = threading.Thread(target=run, name="gloveport-agent", daemon=True)
        try:
            thread.start()
            while not ended.is_set():
                try:
                    ended.wait()
                except KeyboardInterrupt:
                    native.interrupt()
        finally:
            if self._running is native:
                self._running = None  # with it the session ends
        thread.join()  # so that it is not the last to hold it
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return AgentResult(outcome[0])

    async def run_async(self, goal: str, **options: Any) -> AgentResult:
        """As run(), for asyncio; cancelling ends the run."""
        try:
            return await asyncio.to_thread(self.run, goal, **options)
        except asyncio.CancelledError:
            self.interrupt()
            raise

    def interrupt(self) -> None:
        """Ends a run soon, in the middle of a reply or a cell as well. From any thread."""
        running = self._running
        if running is not None:
            running.interrupt()

    def _native(self, goal: str, schema: Optional[dict], files: Optional[Mapping], timeout: Optional[float]) -> Any:
        loop = _tools.Loop()
        session = {"policy": self.policy._native, "tools": _tools.for_session(self.tools, loop),
                   "on_event": _Events(self._on_event),
                   "approve": _approval.asker(self._approve, loop) if self._approve else None}
        options = {"goal": goal, "instructions": self.instructions, "max_steps": self.max_steps, "schema": schema,
                   "timeout_s": timeout, "files": dict(files or {}), "on_step": self._step if self._on_step else None}
        self._running = _native.Agent(self.runtime._get(), self.model, session, options)
        return self._running

    def _step(self, kind: str, data: dict) -> None:
        if kind == "result":
            data = {"result": Result(data["result"])}
        self._on_step(kind, data)  # type: ignore[misc]
