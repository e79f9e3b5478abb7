"""Session: a confined Python process that keeps its variables over cells."""
from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Union

from . import _approval, _native, _tools
from ._policy import Policy, PolicyLike, as_policy
from ._results import Completions, NameInfo, Result
from ._runtime import Runtime, default_runtime
from .errors import Error

__all__ = ["Session"]


class _Events:
    """What hears of a session: the caller's callback, and that of the run that is going on. Refers to no session."""

    def __init__(self, callback: Optional[Callable]):
        self.callback = callback
        self.runs: list = []  # the runs that were asked for, in order: the first is that of the running cell
        self._decoders: dict = {}

    def __call__(self, kind: str, data: dict) -> None:
        if kind in ("stdout", "stderr"):
            data["text"] = self._text(kind, data.pop("bytes"))
        elif kind == "cell_start":
            self._decoders.clear()
        for callback in (self.callback, *(run.on_event for run in self.runs[:1])):
            if callback is not None:
                callback(kind, data)

    def _text(self, stream: str, data: bytes) -> str:
        decoder = self._decoders.setdefault(stream, codecs.getincrementaldecoder("utf-8")("replace"))
        return decoder.decode(data)


class Session:
    """A confined Python process with a namespace that keeps its state over cells.

    Args:
        policy: a Policy, a preset's name, a file or a dict; "default" if not given.
        tools: functions, Tools or capsules of C++ tools; of a dict the keys are the names.
        runtime: which Runtime opens it; one of the process's own if not given.
        workdir: a folder of this machine to work in, instead of a fresh one.
        on_event: called as on_event(kind, data) with what happens: "stdout", "tool_call", "refusal" ...; on any thread.
        approve: asked where the policy says "ask": a function (or coroutine function) of an ApprovalRequest that
            returns True, False or an ApprovalDecision. Without it such a cell or call is denied.
        seed: repeats the order of sets and random numbers.
        idle_timeout_s, time_to_live_s: close the session after so long.

    >>> with Session() as session:
    ...     session["rows"] = [3, 1, 2]
    ...     session.run("print(len(rows)); sorted(rows)").stdout
    ...     session.eval("sum(rows)")
    '3\\n'
    6
    """

    def __init__(self, policy: PolicyLike = None, *, tools: Union[None, Iterable, dict] = None,
                 runtime: Optional[Runtime] = None, workdir: Union[None, str, os.PathLike] = None,
                 on_event: Optional[Callable] = None, approve: Optional[Callable] = None, seed: Optional[int] = None,
                 idle_timeout_s: Optional[float] = None, time_to_live_s: Optional[float] = None):
        self.runtime = runtime or default_runtime()
        self.tools = _tools.as_tools(tools)
        self._loop = _tools.Loop()
        self._approve = approve
        self._events = _Events(on_event)
        options = {**self._wiring(self._events), "policy": as_policy(policy)._native, "seed": seed,
                   "workdir": os.path.abspath(workdir) if workdir is not None else None,
                   "idle_timeout_s": idle_timeout_s, "time_to_live_s": time_to_live_s}
        self._native: _native.Session = self.runtime._get().open(options)
        self.runtime._sessions.add(self)

    def _wiring(self, events: _Events) -> dict:
        return {"tools": _tools.for_session(self.tools, self._loop), "on_event": events,
                "approve": _approval.asker(self._approve, self._loop) if self._approve else None}

    # ---- cells ----

    def run(self, code: str, *, timeout: Optional[float] = None, inspect: bool = True,
            on_event: Optional[Callable] = None) -> Result:
        """Runs one cell and returns how it ended, whatever that is. Other threads go on meanwhile.

        Ctrl-C stops the cell, as it would in a notebook: when it has ended, KeyboardInterrupt is raised, with the
        Result in its attribute ``result``. Variables are kept. Like all that waits for the session, it raises WouldDeadlock
        in a tool of its running cell, and on the event loop of a run_async() that has not ended.

        Args:
            timeout: seconds, at most what the policy allows.
            inspect: False runs it without the check before, where the policy leaves that open.
            on_event: as for the session, during this cell only.
        """
        self._check_may_wait("run")
        run = _Run(self, on_event)
        interrupted = False
        try:
            run.start(code, timeout, inspect)
            run.wait()
        except KeyboardInterrupt:
            interrupted = True
            run.stop()
        if interrupted:
            stopped = KeyboardInterrupt()
            stopped.result = run.result()  # type: ignore[attr-defined]
            raise stopped
        return run.result()

    async def run_async(self, code: str, *, timeout: Optional[float] = None, inspect: bool = True,
                        on_event: Optional[Callable] = None) -> Result:
        """The same for asyncio: the event loop goes on, and coroutine tools run on it. Cancelling stops the cell."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        run = _Run(self, on_event, lambda: _tell(loop, ended.set))
        self._loop.running.append(loop)
        try:
            run.start(code, timeout, inspect)
            await ended.wait()
        except asyncio.CancelledError:
            threading.Thread(target=run.stop, name="gloveport-stop", daemon=True).start()  # it may wait for others yet
            raise
        finally:
            self._loop.running.remove(loop)
        return run.result()

    def eval(self, expression: str, **options: Any) -> Any:
        """The value of an expression (or of a cell that ends with one); CellError where the cell does not end well."""
        return self.run(expression, **options).raise_for_outcome().value

    async def eval_async(self, expression: str, **options: Any) -> Any:
        return (await self.run_async(expression, **options)).raise_for_outcome().value

    def _check_may_wait(self, call: str) -> None:
        _tools.check_may_wait(self.id, self._loop, bool(self._events.runs), f"Session.{call}")

    def interrupt(self) -> None:
        """Stops the running cell as Ctrl-C would; does nothing where none runs. From any thread."""
        self._native.interrupt()

    # ---- variables ----

    def set(self, name: str, value: Any) -> None:
        """Sets a variable. TypeError for what has no faithful form in another process."""
        self._check_may_wait("set")
        self._native.set(name, value)

    def get(self, name: str) -> Any:
        """A variable's value; NotFound where there is none. What has no faithful form is a Foreign with its repr."""
        self._check_may_wait("get")
        return self._native.get(name)

    __setitem__ = set
    __getitem__ = get

    # ---- files of the work folder ----

    def put_file(self, path: str, data: Union[bytes, str, os.PathLike]) -> None:
        """Writes a file of the session's work folder: from bytes, text, or (a Path) a file of this machine.

        >>> with Session() as session:
        ...     session.put_file("a.txt", "hello")
        ...     session.eval("open('a.txt').read()"), session.list_files()
        ('hello', {'a.txt': 5})
        """
        self._check_may_wait("put_file")
        if isinstance(data, os.PathLike):
            with open(data, "rb") as file:
                data = file.read()
        self._native.put_file(path, data.encode() if isinstance(data, str) else memoryview(data).tobytes())

    def get_file(self, path: str) -> bytes:
        self._check_may_wait("get_file")
        return self._native.get_file(path)

    def list_files(self) -> dict:
        """Sizes in bytes by path."""
        self._check_may_wait("list_files")
        return self._native.list_files()

    def remove_file(self, path: str) -> None:
        self._check_may_wait("remove_file")
        self._native.remove_file(path)

    # ---- for editors ----

    def complete(self, code: str, cursor: Optional[int] = None) -> Completions:
        """What could stand at the cursor (the end if not given), as the session's objects say.

        >>> with Session() as session:
        ...     _ = session.run("price_list = [1, 2]")
        ...     session.complete("price_l").matches
        ['price_list']
        """
        self._check_may_wait("complete")
        return Completions(self._native.complete(code, cursor))

    def inspect(self, code: str, cursor: Optional[int] = None) -> NameInfo:
        """What the session knows about the name at the cursor."""
        self._check_may_wait("inspect")
        return NameInfo(self._native.inspect(code, cursor))

    def is_complete(self, code: str) -> tuple:
        """("complete" | "incomplete" | "invalid", indent of the next line).

        >>> with Session() as session:
        ...     session.is_complete("for i in range(3):")
        ('incomplete', '    ')
        """
        self._check_may_wait("is_complete")
        return self._native.is_complete(code)

    # ---- copies ----

    def checkpoint(self) -> str:
        """Keeps a copy of the session to go back to, and returns its name."""
        self._check_may_wait("checkpoint")
        return self._native.checkpoint()

    def rollback(self, checkpoint: str = "") -> None:
        """Goes on from a checkpoint; from the newest if none is named.

        >>> with Session() as session:
        ...     _ = session.run("x = 1"); name = session.checkpoint(); _ = session.run("x = 2")
        ...     session.rollback(name)
        ...     session["x"]
        1
        """
        self._check_may_wait("rollback")
        self._native.rollback(checkpoint)

    def forget(self, checkpoint: str) -> None:
        self._check_may_wait("forget")
        self._native.forget(checkpoint)

    def branch(self, count: int = 1) -> list:
        """Sessions that go on from here, each on its own. Files of the work folder are shared, not copied."""
        self._check_may_wait("branch")
        events = [_Events(self._events.callback) for _ in range(count)]
        natives = self._native.branch(count, [self._wiring(event) for event in events])
        return [self._branch(native, event) for native, event in zip(natives, events)]

    def _branch(self, native: _native.Session, events: _Events) -> Session:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._native, copy._events = native, events
        self.runtime._sessions.add(copy)
        return copy

    # ---- the rest ----

    @property
    def id(self) -> str:
        return self._native.id

    @property
    def policy(self) -> Policy:
        policy = Policy.__new__(Policy)
        policy._native = self._native.policy
        return policy

    @property
    def layers(self) -> dict:
        """The layers of confinement that hold it, by name."""
        return self._native.layers

    def grants(self) -> list:
        """What was allowed for good: (what it covers, by whom, how often it was used)."""
        return self._native.grants()

    def revoke_grant(self, covers: str) -> None:
        self._native.revoke_grant(covers)

    def close(self) -> None:
        """Ends the process; a running cell is interrupted first. Idempotent. Not for its own tools: WouldDeadlock."""
        _tools.check_may_close(self.id, "Session.close")
        self._native.close()

    async def close_async(self) -> None:
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close_async()

    def __repr__(self) -> str:
        return f"<gloveport.Session {self.id}>"

    if TYPE_CHECKING:  # made below, one for each call that waits
        async def set_async(self, name: str, value: Any) -> None: ...
        async def get_async(self, name: str) -> Any: ...
        async def put_file_async(self, path: str, data: Union[bytes, str, os.PathLike]) -> None: ...
        async def get_file_async(self, path: str) -> bytes: ...
        async def list_files_async(self) -> dict: ...
        async def remove_file_async(self, path: str) -> None: ...
        async def complete_async(self, code: str, cursor: Optional[int] = None) -> Completions: ...
        async def inspect_async(self, code: str, cursor: Optional[int] = None) -> NameInfo: ...
        async def is_complete_async(self, code: str) -> tuple: ...
        async def checkpoint_async(self) -> str: ...
        async def rollback_async(self, checkpoint: str = "") -> None: ...
        async def forget_async(self, checkpoint: str) -> None: ...
        async def branch_async(self, count: int = 1) -> list: ...


def _async_variant(name: str) -> Callable:
    blocking = getattr(Session, name)

    async def waits(self: Session, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(blocking, self, *args, **kwargs)

    waits.__name__ = f"{name}_async"
    waits.__qualname__ = f"Session.{name}_async"
    waits.__doc__ = f"As {name}(), on a thread, for asyncio."
    return waits


for _name in ("set", "get", "put_file", "get_file", "list_files", "remove_file", "complete", "inspect", "is_complete",
              "checkpoint", "rollback", "forget", "branch"):
    setattr(Session, f"{_name}_async", _async_variant(_name))


def _tell(loop: asyncio.AbstractEventLoop, function: Callable) -> None:
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:
        pass  # the loop was closed: nobody waits any more


class _Run:
    """One cell that is on its way."""

    def __init__(self, session: Session, on_event: Optional[Callable], on_end: Optional[Callable] = None):
        self._session: Optional[Session] = session  # until the cell has ended
        self.on_event = on_event
        self._on_end = on_end
        self._ended = threading.Event()
        self._outcome: tuple = (None, None)
        self._started = False

    def start(self, code: str, timeout: Optional[float], inspect: bool) -> None:
        session = self._session
        assert session is not None
        session._events.runs.append(self)
        self._started = True
        try:
            session._native.start(code, timeout, inspect, self._done)
        except Exception:
            self._started = False
            session._events.runs.remove(self)
            raise

    def _done(self, result: Optional[dict], error: Optional[Exception]) -> None:
        """On a thread of the runtime."""
        self._outcome = (result, error)
        assert self._session is not None
        self._session._events.runs.remove(self)
        self._session = None  # this thread is the session's own: it must not be the last to hold it
        self._ended.set()
        if self._on_end is not None:
            self._on_end()

    def wait(self) -> None:
        self._ended.wait()

    def stop(self) -> None:
        """Interrupts the cell, as soon as it is its turn; the host's limits end what does not heed that."""
        while self._started and not self._ended.is_set():
            try:
                self._interrupt()
                self._ended.wait(0.25)  # it may have been too early: then nothing was interrupted
            except KeyboardInterrupt:
                continue

    def _interrupt(self) -> None:
        session = self._session
        if session is not None and session._events.runs[:1] == [self]:  # not the cell of another, which it waits for
            with contextlib.suppress(Error):  # closed meanwhile, which ends the cell as well
                session._native.interrupt()

    def result(self) -> Result:
        raw, error = self._outcome
        if error is not None:
            raise error
        if raw is None:
            raise KeyboardInterrupt
        return Result(raw)
