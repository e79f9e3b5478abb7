"""Whether an outcome meets an expectation of cells.jsonl: the rules of tests/cases/README.md, key by key.

Every rule returns the texts of what does not fit; no text means that it holds.
"""

import json
import math

from case_tools import plain


def same(expected, actual):
    """Equality of JSON values: integers exact, floats within 1e-9, booleans are not numbers."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        return expected == actual or math.isclose(expected, actual, rel_tol=1e-9)
    if isinstance(expected, list):
        return (isinstance(actual, list) and len(expected) == len(actual)
                and all(same(a, b) for a, b in zip(expected, actual)))
    if isinstance(expected, dict):
        return (isinstance(actual, dict) and expected.keys() == actual.keys()
                and all(same(expected[key], actual[key]) for key in expected))
    return type(expected) is type(actual) and expected == actual


def short(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = repr(text) if isinstance(value, str) else text
    return text if len(text) <= 200 else f"{text[:120]} ... {text[-60:]}"


def merged(expect, other):
    """`expect` with a form of accept_also merged over it."""
    both = {**expect, **other}
    wants_error = other.get("error_type") or any(other.get("error_type_any") or []) or other.get("timeout")
    wants_success = "error_type" in other and other["error_type"] is None
    for key in list(both):
        if key in other:
            continue
        if wants_error and key.startswith(("result", "final_answer")):
            del both[key]
        elif wants_success and (key.startswith("error_") or key == "traceback_contains"):
            del both[key]
    return both


class Outcome:
    """What the runner saw of one cell."""

    def __init__(self, result, calls, seconds, get_file, index):
        self.result = result
        self.calls = calls        # [{"name", "args"}] that reached the host
        self.seconds = seconds
        self.get_file = get_file  # name -> bytes, or None where there is none
        self.index = index        # 0-based index of the cell

    @property
    def failed(self):
        return self.result["outcome"] != "ok"

    @property
    def error(self):
        return self.result["error"] or {}

    @property
    def error_type(self):
        if not self.failed:
            return None
        return self.error.get("type") or f"(outcome {self.result['outcome']})"

    def describe_error(self):
        if not self.failed:
            return "no error"
        return f"{self.result['outcome']}: {self.error.get('type')}: {short(self.error.get('message', ''))}"


def _equals(name, expected, actual):
    return [] if same(expected, actual) else [f"{name} is {short(actual)}, expected {short(expected)}"]


def _contains(name, pieces, text):
    return [f"{name} lacks {piece!r}: {short(text)}" for piece in pieces if piece not in (text or "")]


def _contains_not(name, pieces, text):
    return [f"{name} contains {piece!r}" for piece in pieces if piece in text]


def _images(out, expected):
    count = sum(1 for bundle in out.result["displays"] if "image/png" in bundle)
    return _equals("number of images", expected, count)


def _stdout_chars(out, expected):
    kept = len(out.result["stdout"])
    cut = out.result["truncated"]["stdout_bytes"]
    if cut == 0:
        return _equals("number of characters on stdout", expected, kept)
    # What was cut counts in bytes, and no character has more than four.
    written = out.result["usage"]["output_bytes"]
    return [] if 0 < written <= 4 * expected else [f"{written} bytes reported for {expected} characters written"]


def _tool_calls(out, expected, unordered=False):
    def canonical(calls):
        texts = [json.dumps(plain(call), sort_keys=True) for call in calls]
        return sorted(texts) if unordered else texts
    wanted = [{"name": call["name"], "args": call["args"]} for call in expected]
    return _equals("tool calls", canonical(wanted), canonical(out.calls))


def _file(name, expected, data):
    if isinstance(expected, str):
        text = None if data is None else data.decode("utf-8", "replace")
        return _equals(f"file {name}", expected, text)
    if expected.get("exists") is False:
        return [] if data is None else [f"file {name} exists"]
    if data is None:
        return [f"file {name} does not exist"]
    problems = []
    if "size" in expected and len(data) != expected["size"]:
        problems.append(f"file {name} has {len(data)} bytes, expected {expected['size']}")
    if len(data) < expected.get("min_size", 0):
        problems.append(f"file {name} has {len(data)} bytes, expected at least {expected['min_size']}")
    if "starts_with_hex" in expected and not data.startswith(bytes.fromhex(expected["starts_with_hex"])):
        problems.append(f"file {name} starts with {data[:8].hex()}")
    contains = expected.get("contains", [])
    contains = [contains] if isinstance(contains, str) else contains
    return problems + _contains(f"file {name}", contains, data.decode("utf-8", "replace"))


def _files(out, expected):
    return [problem for name, wanted in expected.items() for problem in _file(name, wanted, out.get_file(name))]


def _is_final(out, expected):
    return _equals("is_final", expected, out.result["final_answer"] is not None)


def _final(out, key):
    answer = out.result["final_answer"]
    return None if answer is None else answer[key]


def _timeout(out, _):
    if out.result["outcome"] != "timeout":
        return [f"outcome is {out.describe_error()}, expected timeout"]
    return []


RULES = {
    "result": lambda out, x: _equals("result", x, plain(out.result["value"])),
    "result_repr": lambda out, x: _equals("repr of the result", x, out.result["repr"]),
    "result_repr_contains": lambda out, x: _contains("repr of the result", x, out.result["repr"]),
    "result_type": lambda out, x: _equals("type of the result", x, out.result["type"]),
    "json_valid": lambda out, x: [],  # the client refuses every line that is not standard JSON
    "stdout": lambda out, x: _equals("stdout", x, out.result["stdout"]),
    "stderr": lambda out, x: _equals("stderr", x, out.result["stderr"]),
    "stdout_contains": lambda out, x: _contains("stdout", x, out.result["stdout"]),
    "stdout_not_contains": lambda out, x: _contains_not("stdout", x, out.result["stdout"]),
    "stderr_contains": lambda out, x: _contains("stderr", x, out.result["stderr"]),
    "stdout_chars": _stdout_chars,
    "error_type": lambda out, x: [] if out.error_type == x else [f"{out.describe_error()}, expected {x}"],
    "error_type_any": lambda out, x: [] if out.error_type in x else [f"{out.describe_error()}, expected one of {x}"],
    "error_message_contains": lambda out, x: _contains("error message", x, out.error.get("message")),
    "error_line": lambda out, x: _equals("error line", x, out.error.get("line")),
    "traceback_contains": lambda out, x: _contains("traceback", x, out.error.get("traceback")),
    "timeout": _timeout,
    "is_final": _is_final,
    "final_answer": lambda out, x: _is_final(out, True) or _equals("final answer", x, plain(_final(out, "value"))),
    "final_answer_repr": lambda out, x: _is_final(out, True) or _equals("repr of the answer", x, _final(out, "repr")),
    "tool_calls": _tool_calls,
    "images": _images,
    "files": _files,
}
WITH_OTHERS = {"error_cell", "tool_calls_unordered"}  # read together with another key


def problems_of(expect, out, timeout_s=None):
    """All that does not fit between one outcome and one expectation."""
    problems = []
    if not {"error_type", "error_type_any", "timeout"} & expect.keys() and out.failed:
        problems.append(f"{out.describe_error()}, expected success")
    if expect.get("timeout") and timeout_s and out.seconds > 2 * timeout_s + 1:
        problems.append(f"took {out.seconds:.1f} s with a limit of {timeout_s} s")
    if "error_line" in expect:
        problems += _equals("error cell", expect.get("error_cell", out.index), out.error.get("cell"))
    for key, wanted in expect.items():
        if key in WITH_OTHERS:
            continue
        if key == "tool_calls":
            problems += _tool_calls(out, wanted, expect.get("tool_calls_unordered", False))
        elif key not in RULES:
            problems.append(f"the runner does not know the key {key!r}")
        else:
            problems += RULES[key](out, wanted)
    return problems
