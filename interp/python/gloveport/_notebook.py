"""What the magics show while a cell or an agent runs. Everything is shown from the thread that runs the notebook's cell."""
from __future__ import annotations

import html
import queue
import sys
import threading
import time
import uuid
from typing import Any, Callable, Optional

from ._approval import ApprovalDecision, ApprovalRequest
from ._html import safe_text
from ._questions import answer
from ._results import Result
from ._rich import Displays, error_lines, publish, show_page
from ._session import Session

_questions: queue.SimpleQueue = queue.SimpleQueue()  # of approvals, to the thread that may ask a person


def pump(work: Callable, hear: Callable, interrupt: Callable, read: Optional[Callable] = None) -> Any:
    """Calls work(tell) on a thread, and hear(kind, data) here for each tell(kind, data) until it has ended.

    ``read`` asks a person, where it is not to be done as IPython does it. Returns what it returns, raises what it raises. Ctrl-C interrupts it and waits for its end.
    """
    events: queue.SimpleQueue = queue.SimpleQueue()

    def run() -> None:
        try:
            events.put(("end", (work(lambda kind, data: events.put((kind, data))), None)))
        except BaseException as error:
            events.put(("end", (None, error)))

    global _questions
    _questions = events
    threading.Thread(target=run, name="gloveport-cell", daemon=True).start()
    while True:
        try:
            kind, data = events.get()
            if kind == "question":
                answer(*data, read)
            elif kind != "end":
                try:
                    hear(kind, data)
                except Exception as error:  # the work goes on, and its end is waited for
                    print(f"{kind} cannot be shown: {type(error).__name__}", file=sys.stderr)
                continue
        except KeyboardInterrupt:
            interrupt()
            continue
        if kind == "end":
            result, error = data
            if error is not None:
                raise error
            return result


class Progress:
    """How far the tools that run have come, as they tell it."""

    def __init__(self) -> None:
        self._lines: dict = {}  # by the tool's name
        self._shown_at = 0.0

    def hear(self, kind: str, data: dict) -> bool:
        """Whether what is shown should change: not with each of very many."""
        if kind == "tool_call":
            return self._lines.pop(data["call"]["name"], None) is not None
        if kind != "tool_progress":
            return False
        is_new = data["tool"] not in self._lines
        self._lines[data["tool"]] = data
        if not is_new and time.monotonic() - self._shown_at < 0.1:
            return False
        self._shown_at = time.monotonic()
        return True

    def text(self) -> str:
        return "\n".join(safe_text(f"{tool}: {data['done']:g}" + (f" of {data['total']:g}" if data["total"] else "")
                                   + (f", {data['message']}" if data["message"] else "")) for tool, data in self._lines.items())

    def page(self) -> str:
        bars = (f"<progress value='{data['done']:g}' max='{data['total']:g}'></progress> " if data["total"] else ""
                for data in self._lines.values())
        return "".join(f"<div>{bar}{_escaped(line)}</div>" for bar, line in zip(bars, self.text().split("\n")))


def run_and_show(session: Session, code: str, timeout: Optional[float]) -> Result:
    """Runs a cell; output and displays are shown as they come, then the value or the error."""
    displays = Displays(publish)
    progress, name, is_shown = Progress(), uuid.uuid4().hex, False

    def hear(kind: str, data: dict) -> None:
        nonlocal is_shown
        if progress.hear(kind, data):
            displays.flush()
            show_page(progress.page(), progress.text(), name, update=is_shown)
            is_shown = True
        elif kind in ("stdout", "stderr"):
            displays.flush()
            stream = getattr(sys, kind)
            stream.write(safe_text(data["text"]))
            stream.flush()
        elif kind == "display":
            displays.add(data["bundle"])

    result = pump(lambda tell: session.run(code, timeout=timeout, on_event=tell), hear, session.interrupt)
    displays.finish(result, code=code)
    if not result.ok:
        print("\n".join(error_lines(result)), file=sys.stderr)
    return result


def ask_in_notebook(request: ApprovalRequest) -> ApprovalDecision:
    """Asks the person at the notebook; called on a thread of its own."""
    answers: queue.SimpleQueue = queue.SimpleQueue()
    _questions.put(("question", (request, answers)))
    return answers.get()


# ---- agents ----

class AgentView:
    """The steps of an agent's run, each a box that can be folded, updated while the step goes on."""

    def __init__(self, goal: str):
        self._goal = goal
        self._steps: list = []
        self._name = uuid.uuid4().hex
        self._tell: Callable = lambda kind, data: None
        self._footer = ""
        self._progress = Progress()

    def on_step(self, kind: str, data: dict) -> None:
        self._tell(kind, data)

    def on_event(self, kind: str, data: dict) -> None:
        if kind in ("tool_call", "tool_progress", "approval_decided"):
            self._tell(kind, data)

    def run(self, work: Callable, interrupt: Callable) -> Any:
        show_page(self._page(), f"Goal: {self._goal}", self._name)

        def start(tell: Callable) -> Any:
            self._tell = tell
            return work()

        result = pump(start, self._hear, interrupt)
        answer = f"<b>Answer</b> {_escaped(repr(result.answer))}" if result.ok else "<b>No answer</b>"
        self._footer = (f"<p>{answer} ({_escaped(result.stop_message)})</p>"
                        + _box("Evidence", _pre(result.evidence), False))
        self._update()
        return result

    def _hear(self, kind: str, data: dict) -> None:
        step = self._steps[-1] if self._steps else {}
        if not self._progress.hear(kind, data) and kind == "tool_progress":
            return
        if kind == "step":
            self._steps.append({"number": data["number"], "of": data["max_steps"], "calls": []})
        elif kind == "action":
            step.update(thought=data["thought"], code=data["code"], error=data["error"])
        elif kind == "tool_call":
            step["calls"].append(data["call"])
        elif kind == "approval_decided":
            step["calls"].append({"name": data["tool"], "args": {}, "ok": data["allowed"],
                                  "value": "allowed by a person", "error": "denied by a person"})
        elif kind == "result":
            step["result"] = data["result"]
        elif kind == "validation":
            step["validation"] = data["errors"]
        self._update()

    def _update(self) -> None:
        last = f"step {self._steps[-1]['number']}: {_state(self._steps[-1])}" if self._steps else ""
        show_page(self._page(), last, self._name, update=True)

    def _page(self) -> str:
        ended = bool(self._footer)
        steps = "".join(_step_box(step, step is self._steps[-1] and not ended, ended) for step in self._steps)
        return f"<div><p><b>Goal</b> {_escaped(self._goal)}</p>{steps}{self._progress.page()}{self._footer}</div>"


def _step_box(step: dict, is_open: bool, ended: bool) -> str:
    result = step.get("result")
    parts = []
    if step.get("thought"):
        parts.append(f"<p><i>{_escaped(step['thought'])}</i></p>")
    if step.get("code"):
        parts.append(_pre(step["code"]))
    for call in step["calls"]:
        arguments = ", ".join(f"{name}={value!r}" for name, value in (call["args"] or {}).items())
        parts.append(f"<div>tool <code>{_escaped(call['name'])}({_escaped(arguments)})</code> → "
                     f"{_escaped(repr(call['value']) if call['ok'] else call['error'])}</div>")
    if result is not None:
        parts += _outcome_parts(result)
    for path, message in step.get("validation") or ():
        parts.append(f"<div>the answer does not fit: {_escaped(path)} {_escaped(message)}</div>")
    return _box(f"Step {step['number']} of at most {step['of']}: {_state(step, ended)}", "".join(parts), is_open)


def _state(step: dict, ended: bool = False) -> str:
    if "thought" not in step:
        return "no reply" if ended else "the model thinks"
    if "result" in step:
        return step["result"].outcome
    return "running" if step.get("code") else step["error"]


def _outcome_parts(result: Result) -> list:
    parts = [_pre(text) for text in (result.stdout, result.stderr) if text]
    if result.repr is not None and result.type != "NoneType":
        parts.append(_pre(result.repr))
    if not result.ok and result.error is not None:
        parts.append(_pre(result.error.traceback or result.error.message))
    return parts


def _box(title: str, body: str, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{_escaped(title)}</summary>{body}</details>"


def _pre(text: str) -> str:
    return f"<pre>{_escaped(text)}</pre>"


def _escaped(text: Any) -> str:
    return html.escape(str(text))


