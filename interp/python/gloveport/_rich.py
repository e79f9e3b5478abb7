"""Results in a notebook: rich displays, errors with coloured tracebacks."""
from __future__ import annotations

import base64
import re
from typing import Any, Callable, Optional

_RED, _GREEN, _CYAN, _BOLD, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


def mime_bundle(display: dict) -> dict:
    """A display of a cell as Jupyter wants it: bytes as base64."""
    bundle = {}
    for mime, data in display.items():
        if isinstance(data, (bytes, bytearray)):
            data = base64.b64encode(data).decode()
        if isinstance(mime, str) and isinstance(data, (str, dict, list)):
            bundle[mime] = data
    return bundle


def coloured_traceback(text: str) -> str:
    """A traceback with the exception in red, file names in green, the lines' marks in cyan."""
    lines = []
    for line in text.rstrip("\n").split("\n"):
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
            lines.append(f"line {finding['line']}, column {finding['column']}: [{finding['rule']}] {finding['message']}")
        if finding.get("hint") and finding["hint"] not in shown:
            lines.append(f"  hint: {finding['hint']}")
    if result.limit and result.limit["message"] not in shown:
        lines.append(result.limit["message"])
    if result.state == "restored":
        lines.append(f"{_CYAN}The interpreter ended; the variables are those from before the cell.{_PLAIN}")
    elif result.state == "lost":
        lines.append(f"{_CYAN}The interpreter ended and its variables are lost.{_PLAIN}")
    return lines


def value_bundle(result: Any) -> Optional[dict]:
    """The trailing value as a bundle; None without one, or where one of the displays shows it."""
    if result.repr is None or (result.value is None and result.type == "NoneType"):
        return None
    if any(display.get("text/plain") == result.repr for display in result.displays):
        return None
    return {"text/plain": result.repr}


def show_result(result: Any, show: Optional[Callable] = None, skip_displays: bool = False) -> None:
    """Shows displays, value and error of a result with IPython's display system."""
    from IPython.display import display
    show = show or (lambda bundle: display(bundle, raw=True))
    for item in () if skip_displays else result.displays:
        show(mime_bundle(item))
    bundle = value_bundle(result)
    if bundle is not None:
        show(bundle)
    if not result.ok:
        import sys
        print("\n".join(error_lines(result)), file=sys.stderr)
