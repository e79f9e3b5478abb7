"""Runtime: opens sessions."""
from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from . import _native
from ._policy import PolicyLike, as_policy
from .errors import Closed

if TYPE_CHECKING:
    from ._session import Session

__all__ = ["Runtime"]

_living: weakref.WeakSet = weakref.WeakSet()


def programs() -> str:
    """The folder with the programs that belong to this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "_bin")


class Runtime:
    """Opens sessions, and keeps one warm process for each policy. Thread-safe; may be used from asyncio.

    Args:
        audit: a file (or a folder) for the audit log of everything that its sessions do.
        min_ready: sessions that are kept ready for each policy in use.
        max_sessions: how many may be open at a time.
        interp_path: the program gloveport-interp, where it is not the package's own.

    >>> with Runtime() as runtime:
    ...     with runtime.open() as session:
    ...         session.run("6 * 7").value
    42
    """

    def __init__(self, *, audit: Union[None, str, os.PathLike] = None, min_ready: int = 1, max_sessions: int = 4096,
                 interp_path: Union[None, str, os.PathLike] = None):
        path = os.fspath(interp_path) if interp_path else _interp()
        self._native: Optional[_native.Runtime] = _native.Runtime(
            path, min_ready, max_sessions, os.fspath(audit) if audit else "")
        self.audit = os.fspath(audit) if audit else None
        self._sessions: weakref.WeakSet = weakref.WeakSet()
        _living.add(self)

    def open(self, policy: PolicyLike = None, **options: Any) -> Session:
        """A session with this policy; ``options`` are those of :class:`Session`."""
        from ._session import Session
        return Session(policy, runtime=self, **options)

    async def open_async(self, policy: PolicyLike = None, **options: Any) -> Session:
        return await asyncio.to_thread(self.open, policy, **options)

    def check(self, code: str, policy: PolicyLike = None, tools: Sequence[str] = ()) -> dict:
        """What the policy says of a cell, without running it: {"decision", "findings"}.

        >>> with Runtime() as runtime:
        ...     runtime.check("import socket")["decision"]
        'deny'
        """
        return self._get().check(as_policy(policy)._native, code, list(tools))

    def validate(self, value: Any, schema: dict) -> list:
        """Where a value does not fit a JSON Schema: pairs of a JSON Pointer and a message; empty where it fits."""
        return self._get().validate(value, schema)

    async def check_async(self, code: str, policy: PolicyLike = None, tools: Sequence[str] = ()) -> dict:
        return await asyncio.to_thread(self.check, code, policy, tools)

    async def validate_async(self, value: Any, schema: dict) -> list:
        return await asyncio.to_thread(self.validate, value, schema)

    async def probe_layers_async(self) -> dict:
        return await asyncio.to_thread(self.probe_layers)

    async def close_async(self) -> None:
        await asyncio.to_thread(self.close)

    def probe_layers(self) -> dict:
        """Tries each layer of confinement and says how it stands on this machine."""
        return self._get().probe_layers()

    @property
    def audit_head(self) -> Optional[str]:
        """The hash of the audit log's last record: keep it elsewhere, and a log that was computed anew is found."""
        return self._get().audit_head

    def close(self) -> None:
        """Closes its sessions, seals the audit log, ends its processes. Idempotent."""
        for session in list(self._sessions):
            session.close()
        native, self._native = self._native, None
        if native is not None:
            native.seal_audit()

    def _get(self) -> _native.Runtime:
        if self._native is None:
            raise Closed("the runtime is closed", what="Runtime", hint="make another one")
        return self._native

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Runtime:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close_async()


def _interp() -> str:
    own = os.path.join(programs(), "gloveport-interp")
    return "" if os.environ.get("GLOVEPORT_INTERP") or not os.path.exists(own) else own


_default: Optional[Runtime] = None
_default_lock = threading.Lock()
_default_process = 0


def default_runtime() -> Runtime:
    """The runtime of sessions that are given none; one for each process."""
    global _default, _default_process
    with _default_lock:
        if _default is None or _default._native is None or _default_process != os.getpid():
            _default, _default_process = Runtime(), os.getpid()
        return _default


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    _living.clear()


@atexit.register
def _close_all() -> None:
    """Before the interpreter ends: what comes from other threads must still find it."""
    for runtime in list(_living):
        try:
            runtime.close()
        except Exception:  # nobody is left to tell
            pass


os.register_at_fork(after_in_child=_after_fork)
