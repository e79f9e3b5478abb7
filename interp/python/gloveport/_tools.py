"""Functions of this process as tools of sessions."""
from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import json
import logging
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Union

from . import _native
from ._signatures import describe
from .errors import WouldDeadlock

if TYPE_CHECKING:
    from ._runtime import Runtime

__all__ = ["Tool", "builtin_tools", "current_call", "mcp_tools", "tool"]

_call: contextvars.ContextVar = contextvars.ContextVar("gloveport_call")
_thread = threading.local()  # .serves: whose cells wait for what this thread is doing: (id of the session, what it is)


def current_call() -> Any:
    """In a tool: the call that is running, with ``session``, ``cell``, ``stopped`` and ``seconds_left``.

    A tool that may take long should look at ``stopped``: nobody waits for the answer any more. ``progress(done, total,
    message)`` tells those who watch how far it has come, ``display({"text/html": ...})`` shows something beside the
    result, and ``ask(reason, details)`` asks the session's ``approve`` whether to go on.

    >>> @tool
    ... def total(numbers: list):
    ...     for i in range(len(numbers)):
    ...         current_call().progress(i + 1, len(numbers))
    ...     return sum(numbers)
    >>> def watch(kind, data):
    ...     if kind == "tool_progress":
    ...         print(data["tool"], data["done"], "of", data["total"])
    >>> with Session(tools=[total]) as session:
    ...     session.run("total([3, 4])", on_event=watch).value
    total 1.0 of 2.0
    total 2.0 of 2.0
    7
    """
    try:
        return _call.get()
    except LookupError:
        raise RuntimeError("current_call() is for tools: no call is running here") from None


class Tool:
    """A function of this process under a name that cells can call. Made by :func:`tool`."""

    def __init__(self, function: Callable, spec: dict):
        self.function = function
        self.spec = spec
        self.__name__ = spec["name"]
        self.__doc__ = spec["description"]
        self.__wrapped__ = function

    @property
    def name(self) -> str:
        return self.spec["name"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<gloveport.Tool {self.name}>"

    def call_with(self, arguments: dict) -> Any:
        """Calls the function with the arguments of a call, by name, as its parameters take them."""
        positional, by_keyword = [], {}
        by_name = False
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name not in arguments:
                continue
            value = arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += value
                by_name = True
            elif parameter.kind is parameter.VAR_KEYWORD:
                by_keyword.update(value)
            elif by_name or parameter.kind is parameter.KEYWORD_ONLY:
                by_keyword[name] = value
            else:
                positional.append(value)
        return self.function(*positional, **by_keyword)


def tool(function: Optional[Callable] = None, *, name: Optional[str] = None, description: Optional[str] = None,
         is_async: Optional[bool] = None, timeout_s: Optional[float] = None) -> Any:
    """Makes a tool of a function; types come from its annotations, descriptions from its docstring.

    ``async def`` functions are awaited in the cell, and run on the event loop that runs the session (else on one of
    the package's own); ``is_async`` says otherwise. A call that takes longer than ``timeout_s`` is a ToolTimeoutError
    in the cell.

    >>> @tool
    ... def contact_cost(contacts: int, channel: str = "cellular") -> float:
    ...     '''Cost in EUR of contacting clients.
    ...
    ...     Args:
    ...         contacts: number of contacts
    ...     '''
    ...     return contacts * (0.8 if channel == "cellular" else 1.2)
    >>> contact_cost.spec["parameters"][0]["description"]
    'number of contacts'
    >>> with Session(tools=[contact_cost]) as session:
    ...     session.run("contact_cost(10)").value
    8.0
    """
    if function is None:
        return lambda found: tool(found, name=name, description=description, is_async=is_async, timeout_s=timeout_s)
    if isinstance(function, Tool):
        return function
    spec = describe(function, name)
    if description is not None:
        spec["description"] = description
    spec["async"] = inspect.iscoroutinefunction(function) if is_async is None else is_async
    if timeout_s is not None:
        spec["timeout_s"] = timeout_s
    return Tool(function, spec)


def builtin_tools(configuration: Union[dict, str], folder: Union[str, os.PathLike] = "") -> list:
    """Tools that come with Gloveport, in C++: HTTP, files, SQLite, patterns, arithmetic and others, as far as the
    configuration has a section for them (tools/builtin/builtin_tools.h says which). Relative paths begin in ``folder``.

    >>> with Session(tools=builtin_tools({"calculator": {}})) as session:
    ...     session.eval("calculator('0.1 + 0.2')")
    0.3
    """
    text = configuration if isinstance(configuration, str) else json.dumps(configuration)
    return _native.builtin_tools(text, os.fspath(folder))


def mcp_tools(*servers: str, config: Union[None, dict, str, os.PathLike] = None, start_s: float = 60,
              runtime: Optional[Runtime] = None) -> list:
    """Tools of servers of the Model Context Protocol: each "NAME=COMMAND ARG ..." or "NAME=https://...".

    The servers are started now and run as long as one of their tools is there, **with this process's rights, outside of the
    sealed process**. The policy decides about each call; what a server sends is bounded and cleaned.

    Args:
        config: the file that other clients use ({"mcpServers": {...}}), or what is in it.
        start_s: seconds that a server may take to start.
        runtime: which checks results whose schemas need it; one of the process's own if not given.
    """
    from ._runtime import default_runtime
    text = "" if config is None else _config_text(config)
    native = (runtime or default_runtime())._get()
    tools, notes = _native.mcp_tools(native, text, list(servers), start_s)
    for note in notes:
        logging.getLogger("gloveport.mcp").info(note)
    return tools


def _config_text(config: Union[dict, str, os.PathLike]) -> str:
    if isinstance(config, dict):
        return json.dumps(config)
    with open(config, encoding="utf-8") as file:
        return file.read()


def as_tools(tools: Union[None, Iterable, dict]) -> list:
    """Tools, functions, or capsules of C++ tools; of a dict the keys are the names."""
    if isinstance(tools, dict):
        return [found if _is_capsule(found) else tool(found, name=name) if not isinstance(found, Tool) else found
                for name, found in tools.items()]
    return [found if _is_capsule(found) else tool(found) for found in tools or ()]


def name_of(found: Any) -> str:
    return _native.capsule_spec(found)["name"] if _is_capsule(found) else found.name


def spec_of(found: Any) -> dict:
    return _native.capsule_spec(found) if _is_capsule(found) else found.spec


def _is_capsule(found: Any) -> bool:
    return type(found).__name__ == "PyCapsule"


class Loop:
    """Which event loop the coroutines of tools run on: that of run_async, while that waits, else a loop of our own."""

    _own: Optional[asyncio.AbstractEventLoop] = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        self.running: list = []  # of each run_async that waits, its loop

    def get(self) -> asyncio.AbstractEventLoop:
        for loop in reversed(tuple(self.running)):
            if loop.is_running():
                return loop
        with Loop._lock:
            if Loop._own is None or not Loop._own.is_running():
                Loop._own = asyncio.new_event_loop()
                threading.Thread(target=Loop._own.run_forever, name="gloveport-tools", daemon=True).start()
            return Loop._own

    @classmethod
    def _forget(cls) -> None:
        """In a fork, which has not the thread that runs it, and where the lock may be held for good."""
        cls._own, cls._lock = None, threading.Lock()


os.register_at_fork(after_in_child=Loop._forget)


def for_session(tools: list, loop: Loop) -> list:
    """What the module takes: capsules, and (declaration, callable) pairs."""
    return [found if _is_capsule(found) else (found.spec, _caller(found, loop)) for found in tools]


def _caller(found: Tool, loop: Loop) -> Callable:
    def call(arguments: dict, context: Any) -> Any:
        token = _call.set(context)
        try:
            with serving(context.session, "tool"):
                answer = found.call_with(arguments)
            if not inspect.isawaitable(answer):
                return answer
            return _wait(asyncio.run_coroutine_threadsafe(_awaited(answer, context), loop.get()), context)
        finally:
            _call.reset(token)
    return call


@contextlib.contextmanager
def serving(session: str, kind: str) -> Iterator[None]:
    """Says that a cell of this session waits for what this thread does: a "tool" or an "approval"."""
    serves = _thread.__dict__.setdefault("serves", [])
    serves.append((session, kind))
    try:
        yield
    finally:
        serves.pop()


def check_may_close(session: str, what: str) -> None:
    """WouldDeadlock in a tool of the session: closing waits for its tools."""
    if (session, "tool") in getattr(_thread, "serves", ()):
        raise WouldDeadlock("a tool cannot close the session that waits for it", what=what, where=session,
                            hint="raise ToolError, or let interrupt() stop the cell, and close it where the cell was run")


def check_may_wait(session: str, loop: Loop, has_cell: bool, what: str) -> None:
    """WouldDeadlock where a cell would wait for this thread, and this thread for the cell."""
    if any(served == session for served, _ in getattr(_thread, "serves", ())):
        raise WouldDeadlock("a tool (or an approval) cannot wait for the session whose cell waits for it", what=what,
                            where=session, hint="return, and let the cell go on; or use another session, or a branch")
    if not loop.running and Loop._own is None:
        return
    try:
        current = asyncio.get_running_loop()
    except RuntimeError:
        return
    if current in loop.running or (has_cell and current is Loop._own):
        raise WouldDeadlock("it would stop the event loop on which a cell that runs has its tools", what=what, where=session,
                            hint=f"await {what.partition('.')[2]}_async instead")


async def _awaited(answer: Any, context: Any) -> Any:
    _call.set(context)
    return await answer


def _wait(future: concurrent.futures.Future, context: Any) -> Any:
    """The coroutine's result; it is cancelled when nobody waits for the call any more."""
    while True:
        try:
            return future.result(timeout=0.05)
        except concurrent.futures.TimeoutError:
            if future.done():
                return future.result()  # the coroutine's own TimeoutError
            if context.stopped:
                future.cancel()
                raise
