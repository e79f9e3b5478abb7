"""Results in a notebook: rich displays, errors with coloured tracebacks."""
from __future__ import annotations

import re
import sys
from typing import Any, Callable, Optional

from ._child.quiet import is_quiet
from ._html import safe_bundle, safe_text

_RED, _GREEN, _CYAN, _BOLD, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


def coloured_traceback(text: str) -> str:
    """A traceback with the exception in red, file names in green, the lines' marks in cyan."""
    lines = []
    for line in safe_text(text).rstrip("\n").split("\n"):
        if re.match(r"\s+File ", line):
            line = re.sub(r"(<cell \d+>|\"[^\"]*\")", lambda m: f"{_GREEN}{m[0]}{_PLAIN}", line)
        elif re.match(r"^\s+[\^~]+\s*$", line):
            line = f"{_CYAN}{line}{_PLAIN}"
        elif line and not line[0].isspace() and not line.startswith("Traceback "):
            name, colon, rest = line.partition(":")
            line = f"{_BOLD}{_RED}{name}{_PLAIN}{colon}{rest}"
        lines.append(line)
    return "\n".join(lines)


def error_lines(result: Any) -> list:
    """What to show of a cell that did not end with "ok": the traceback, findings of the check, the lost state."""
    error = result.error
    lines = coloured_traceback(error.traceback or f"{error.type}: {error.message}").split("\n") if error else []
    if not lines:
        lines = [f"{_BOLD}{_RED}{result.outcome}{_PLAIN}"]
    shown = "\n".join(lines)
    for finding in (result.verdict or {}).get("findings", ()):
        if finding["message"] not in shown:
            where = f"line {finding['line']}, column {finding['column']}"
            lines.append(safe_text(f"{where}: [{finding['rule']}] {finding['message']}"))
        if finding.get("hint") and finding["hint"] not in shown:
            lines.append(safe_text(f"  hint: {finding['hint']}"))
    if result.limit and result.limit["message"] not in shown:
        lines.append(result.limit["message"])
    if result.state == "restored":
        lines.append(f"{_CYAN}The interpreter ended; the variables are those from before the cell.{_PLAIN}")
    elif result.state == "lost":
        lines.append(f"{_CYAN}The interpreter ended and its variables are lost.{_PLAIN}")
    return lines


_DISPLAY_ID = "application/vnd.gloveport.display-id"  # interp/child/python/display.py
_UPDATES = "application/vnd.gloveport.updates-display-id"
_CLEARS = "application/vnd.gloveport.clear-output"


class Displays:
    """The displays of a cell as messages of Jupyter's protocol, given to ``send(kind, content)`` as they come.

    The trailing value is the last of them and becomes the cell's result; which it is only the end tells, so each waits
    until something comes after it.
    """

    def __init__(self, send: Callable):
        self._send = send
        self._waiting: Optional[dict] = None

    def add(self, display: dict) -> None:
        self.flush()
        if isinstance(display, dict) and _CLEARS in display:
            self._send("clear_output", {"wait": display[_CLEARS] is True})
        else:
            self._waiting = display

    def flush(self) -> None:
        display, self._waiting = self._waiting, None
        if not isinstance(display, dict):
            return
        display = dict(display)
        updates, name = display.pop(_UPDATES, None), display.pop(_DISPLAY_ID, None)
        content = {"data": safe_bundle(display), "metadata": {}}
        if updates or name:
            content["transient"] = {"display_id": updates or name}
        self._send("update_display_data" if updates else "display_data", content)

    def finish(self, result: Any, count: Optional[int] = None, code: str = "") -> None:
        last = self._waiting
        if isinstance(last, dict) and _is_value(result, last):
            self._waiting = None
            self._send("execute_result", {"data": safe_bundle(last), "metadata": {}, "execution_count": count})
            return
        self.flush()
        if result.repr is not None and result.type != "NoneType" and not is_quiet(code) and not _was_shown(result):
            self._send("execute_result", {"data": safe_bundle({"text/plain": result.repr}), "metadata": {}, "execution_count": count})


def _is_value(result: Any, display: dict) -> bool:
    """Whether it is what the session shows of a trailing value, which it does of one that has more than a repr."""
    return (result.repr is not None and display.get("text/plain") == result.repr and len(display) > 1
            and _DISPLAY_ID not in display and _UPDATES not in display)


def _was_shown(result: Any) -> bool:
    """Whether the trailing value was shown already: with figures behind it, or as one of them."""
    return any(_is_value(result, display) for display in result.displays)


def show_result(result: Any) -> None:
    """Shows displays, value and error of a result with IPython's display system."""
    displays = Displays(publish)
    for display in result.displays:
        displays.add(display)
    displays.finish(result)
    if not result.ok:
        print("\n".join(error_lines(result)), file=sys.stderr)


def publish(kind: str, content: dict) -> None:
    """A message of Displays, by way of IPython."""
    from IPython.display import clear_output, publish_display_data
    if kind == "clear_output":
        return clear_output(content["wait"])
    publish_display_data(content["data"], content["metadata"], transient=content.get("transient", {}),
                         update=kind == "update_display_data")


def show_page(page: str, plain: str, name: Optional[str] = None, update: bool = False) -> None:
    """Shows HTML of our own, and the text for a terminal; with a name it can be updated."""
    content = {"data": {"text/html": page, "text/plain": plain}, "metadata": {}}
    if name:
        content["transient"] = {"display_id": name}
    publish("update_display_data" if update else "display_data", content)
