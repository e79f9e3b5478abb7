"""Collects what was found in a cell and makes the verdict of it."""

from . import inspector_imports as imports

MAX_FINDINGS = 100
_MAX_QUOTED = 120


def quoted(text, limit=_MAX_QUOTED):
    """`text` fit for a message: escaped, on one line, not endless."""
    shown = text if len(text) <= limit else text[: limit - 3] + "..."
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)


class Finding:
    __slots__ = ("line", "offset", "effect", "rule", "message", "hint")

    def __init__(self, line, offset, effect, rule, message, hint):
        self.line = line
        self.offset = offset  # in bytes, from 0, as the parser counts
        self.effect = effect
        self.rule = rule
        self.message = message
        self.hint = hint

    def key(self):
        return self.line, self.offset


class Findings:
    def __init__(self):
        self._found = {}
        self._denied = False

    def add(self, line, offset, effect, rule, message, hint):
        self._denied = self._denied or effect == imports.DENY
        self._found.setdefault((line, offset, rule, message),
                               Finding(line, offset, effect, rule, message, hint))

    def __iter__(self):
        return iter(sorted(self._found.values(), key=Finding.key))

    def decision(self):
        if self._denied:
            return "deny"
        return "escalate" if self._found else "allow"

    def verdict(self, positions):
        """The verdict as the host gets it. Beyond MAX_FINDINGS the rest is only counted, in the last
        message."""
        ordered = list(self)
        shown = [
            {
                "rule": item.rule,
                "line": item.line,
                "column": positions.column(item.line, item.offset),
                "message": item.message,
                "hint": item.hint if isinstance(item.hint, str) else item.hint(),
            }
            for item in ordered[:MAX_FINDINGS]
        ]
        if len(ordered) > MAX_FINDINGS:
            shown[-1]["message"] += f" (and {len(ordered) - MAX_FINDINGS} more findings after this one)"
        return {"decision": self.decision(), "findings": shown}
