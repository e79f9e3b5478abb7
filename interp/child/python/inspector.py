"""Judges the text of a cell before it runs. Runs nothing of it, imports nothing of it.

    check(code, rules)      the policy's verdict
    syntax(code)            whether a text is Python, for the action parser
    validate(value, schema) JSON Schema 2020-12
    warm_up()               loads what the three need; to be called before the process locks itself down

All of it works on the syntax tree that CPython's own parser makes; no code object is ever made. The inspector
follows names through imports, aliases, assignments, attributes of modules, getattr and attrgetter with names
that the text spells out, and folds constant texts. What it cannot know, it leaves to the run: names and paths
that are put together from data, objects handed from function to function, what an earlier cell left behind
(there it takes `np`, `pd`, `plt` and the names of allowed standard modules for these modules), links in the
work folder. It is a courtesy to the model and a record for people; what a session can reach is decided by its
confinement.
"""

import gc

from . import inspector_cost as cost
from . import inspector_hints as hints
from . import inspector_imports as imports
from . import inspector_judge
from . import inspector_source as source
from . import inspector_usage as usage
from .inspector_findings import quoted


def _syntax_finding(code, problem):
    text = code if isinstance(code, str) and len(code) <= source.MAX_CHARS else ""
    lines = source.lines(text)
    line_text = lines[problem.line - 1] if problem.line <= len(lines) else ""
    return {
        "rule": "syntax",
        "line": problem.line,
        "column": problem.column,
        "message": quoted(f"the cell is no Python: {problem.message} (line {problem.line})", 300),
        "hint": hints.syntax(problem.message, line_text),
    }


def _refusal(message):
    finding = {"rule": "syntax", "line": 1, "column": 1, "message": message,
               "hint": "Split the cell, or simplify it."}
    return {"decision": imports.DENY, "findings": [finding]}


def check(code, rules):
    """The verdict on `code`: {"decision": "allow"|"deny"|"escalate", "findings": [{"rule", "line", "column",
    "message", "hint"}]}, findings in text order. Never raises: what cannot be judged is denied with rule
    "syntax".

    `rules`: {"imports": {"allow", "deny", "ask"}, "tools": [names], "work_folder": "/workdir", "read":
    [paths]}. A module's name covers its submodules, "*" covers all; deny beats ask beats allow; what no list
    names is denied. Optional: "builtins": {"allow": ["eval"]} lets a cell use builtins that are forbidden
    otherwise; "attributes": {"allow", "deny"} does so with attributes, or forbids others; "cost":
    {"escalate_above", "deny_above", "prices": {tool: {"per_call", "per_kib"}}} judges what the tools that a
    cell calls will cost.
    """
    collecting = gc.isenabled()
    gc.disable()  # a tree is nothing but live objects: looking through them again and again doubles the time
    try:
        return _verdict(code, rules)
    except (RecursionError, MemoryError):
        return _refusal("the cell is too large or too deeply nested to be judged")
    except Exception as error:  # noqa: BLE001 - total by contract: no text may end the inspector
        return _refusal(f"the cell could not be judged ({type(error).__name__}: {quoted(str(error))})")
    finally:
        if collecting:
            gc.enable()


def _verdict(code, rules):
    tree, problem = source.parse(code)
    if problem is not None:
        return {"decision": imports.DENY, "findings": [_syntax_finding(code, problem)]}
    text = code if isinstance(code, str) else bytes(code).decode("utf-8", "replace")
    judge = inspector_judge.Judge(imports.Rules(rules), tree)
    judge.run()
    cost.check(judge, tree)
    return judge.findings.verdict(source.Positions(text))


def explain(code, rules):
    """check()'s verdict, and under "uses" what the cell uses that a policy has a word about (see
    inspector_usage); the policy's `cost` counts here too. Without "uses" where the code cannot be judged."""
    verdict = check(code, rules)
    tree, problem = source.parse(code)
    if problem is not None:
        return verdict
    try:
        judge = inspector_judge.Judge(imports.Rules(rules), tree)
        text = code if isinstance(code, str) else bytes(code).decode("utf-8", "replace")
        return {**verdict, "uses": usage.listing(judge, tree, source.Positions(text))}
    except Exception:  # noqa: BLE001 - the verdict stands without it
        return verdict


def syntax(code):
    """{"complete", "incomplete", "has_action": bool, "message": str, "line": int}: whether `code` parses as a
    notebook cell (top-level await included); if not, whether it is the beginning of one; whether it contains
    a call, an import or an assignment. Never raises."""
    try:
        return source.syntax(code)
    except Exception as error:  # noqa: BLE001 - total by contract
        message = f"the text could not be read ({type(error).__name__})"
        return {"complete": False, "incomplete": False, "has_action": False, "message": message, "line": 1}


def validate(value, schema):
    """Errors of `value` against `schema`, as [{"path": JSON Pointer, "message"}]; see inspector_schema."""
    from . import inspector_schema

    return inspector_schema.validate(value, schema)


def warm_up():
    """Loads jsonschema and every table, and answers one question of each kind."""
    check("import math\nmath.sqrt(2)", {"imports": {"allow": ["math"]}})
    syntax("x = (")
    validate([1], {"type": "array", "items": {"type": "integer"}})
