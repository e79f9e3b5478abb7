"""GloveportKernel: Jupyter's protocol on one side, a session on the other."""
from __future__ import annotations

import os
from typing import Any, Callable, Optional

from ipykernel.kernelbase import Kernel

from .. import Policy, Result, Session, __version__, session_python_version
from .._html import safe_text
from .._notebook import ask_in_notebook, pump
from .._policy import for_notebooks
from .._rich import Displays, error_lines
from .install import POLICY, WORKDIR


class GloveportKernel(Kernel):
    """Cells run in a session: confined, with the policy of the kernel's specification.

    A cell that kills or crashes the interpreter costs only itself: the session goes on as it was before the cell.
    """

    implementation = "gloveport"
    implementation_version = __version__
    language_info = {"name": "python", "version": session_python_version, "mimetype": "text/x-python",
                     "codemirror_mode": {"name": "ipython", "version": 3}, "pygments_lexer": "ipython3",
                     "nbconvert_exporter": "python", "file_extension": ".py"}
    banner = f"Gloveport {__version__}: Python {session_python_version}, confined"
    help_links: list = []

    def __init__(self, **options: Any):
        super().__init__(**options)
        self._session: Optional[Session] = None
        self.history: list = []

    @property
    def cells(self) -> Session:
        """The session, opened with the first question that needs it."""
        if self._session is None:
            self._session = Session(_policy(), workdir=os.environ.get(WORKDIR), approve=ask_in_notebook)
        return self._session

    # ---- running ----

    def do_execute(self, code: str, silent: bool, store_history: bool = True, user_expressions: Optional[dict] = None,
                   allow_stdin: bool = False, *, cell_meta: Any = None, cell_id: Any = None) -> dict:
        if not code.strip():
            return self._ok(user_expressions)
        output = _Output(self, silent)
        self._allow_stdin = allow_stdin  # which raw_input looks at
        if store_history and not silent:
            self.history.append((0, self.execution_count, code))
        try:
            result = self._run(code, output)
            output.finish(result, self.execution_count, code)
            if result.ok:
                return self._ok(user_expressions)
        except Exception as error:  # the policy cannot be had, the session has gone, the value cannot be shown
            return self._error(type(error).__name__, str(error), [str(error)], silent)
        name, text = (result.error.type, result.error.message) if result.error else (result.outcome, "")
        return self._error(name, text, error_lines(result), silent)

    def _run(self, code: str, hear: Callable) -> Result:
        cells = self.cells
        return pump(lambda tell: cells.run(code, on_event=tell), hear, cells.interrupt, self.raw_input)

    def _ok(self, user_expressions: Optional[dict]) -> dict:
        answers = {name: self._expression(text) for name, text in (user_expressions or {}).items()}
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": answers}

    def _expression(self, text: str) -> dict:
        result = self._run(text, lambda kind, data: None)
        if result.ok and result.repr is not None:
            return {"status": "ok", "data": {"text/plain": result.repr}, "metadata": {}}
        return {"status": "error", "ename": result.error.type if result.error else "", "traceback": [],
                "evalue": result.error.message if result.error else "no value"}

    def _error(self, name: str, text: str, lines: list, silent: bool) -> dict:
        content = {"ename": name, "evalue": text, "traceback": lines}
        if not silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, "user_expressions": {}, **content}

    # ---- questions ----

    def do_complete(self, code: str, cursor_pos: Optional[int]) -> dict:
        found = self.cells.complete(code, cursor_pos)
        return {"status": "ok", "matches": found.matches, "cursor_start": found.start, "cursor_end": found.end,
                "metadata": {}}

    def do_inspect(self, code: str, cursor_pos: Optional[int], detail_level: int = 0, omit_sections: Any = ()) -> dict:
        info = self.cells.inspect(code, cursor_pos)
        data = {}
        if info.found:
            parts = (("Signature", info.signature), ("Type", info.type), ("Value", info.repr), ("File", info.file),
                     ("Docstring", info.doc))
            data["text/plain"] = "\n".join(f"\x1b[31m{title}:\x1b[0m {safe_text(str(text))}" for title, text in parts if text)
        return {"status": "ok", "found": bool(info.found), "data": data, "metadata": {}}

    def do_is_complete(self, code: str) -> dict:
        status, indent = self.cells.is_complete(code)
        return {"status": status, **({"indent": indent} if status == "incomplete" else {})}

    def do_history(self, hist_access_type: str, output: bool, raw: bool, session: Any = None, start: Any = None,
                   stop: Any = None, n: Optional[int] = None, pattern: Optional[str] = None, unique: bool = False) -> dict:
        from fnmatch import fnmatchcase
        entries = self.history
        if hist_access_type == "range":
            entries = [entry for entry in entries if (start or 0) <= entry[1] < (stop or entry[1] + 1)]
        elif hist_access_type == "search":
            entries = [entry for entry in entries if fnmatchcase(entry[2], pattern or "*")]
        if unique:
            entries = list({entry[2]: entry for entry in entries}.values())
        entries = entries[-n:] if n and hist_access_type != "range" else entries
        return {"status": "ok", "history": [(a, b, (code, None)) if output else (a, b, code) for a, b, code in entries]}

    def do_shutdown(self, restart: bool) -> dict:
        if self._session is not None:
            self._session.close()
            self._session = None
        self.history.clear()
        return {"status": "ok", "restart": restart}


class _Output:
    """What a cell writes and shows, sent on as it comes, as answers to the request that runs the cell."""

    def __init__(self, kernel: GloveportKernel, silent: bool):
        self._kernel = kernel
        self._silent = silent
        self._parent = kernel.get_parent("shell")
        self._displays = Displays(self._send)

    def __call__(self, kind: str, data: dict) -> None:
        if kind in ("stdout", "stderr"):
            self._displays.flush()
            self._send("stream", {"name": kind, "text": safe_text(data["text"])})
        elif kind == "display":
            self._displays.add(data["bundle"])

    def finish(self, result: Result, count: int, code: str) -> None:
        self._displays.finish(result, count, code)

    def _send(self, kind: str, content: dict) -> None:
        if not self._silent:
            kernel = self._kernel
            kernel.session.send(kernel.iopub_socket, kind, content, parent=self._parent, ident=kernel._topic(kind))


def _policy() -> Policy:
    """The specification's, with a copy kept before each cell unless it says something about that itself."""
    return for_notebooks(os.environ.get(POLICY) or "default", checkpoint="each_cell")
