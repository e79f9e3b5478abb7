"""From a Python function to the declaration of a tool: annotations as types, the docstring as descriptions."""
from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
import types
import typing
from typing import Any, Callable, Optional

_UNION = (typing.Union, getattr(types, "UnionType", typing.Union))
_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_CONTAINERS = {list: "array", tuple: "array", set: "array", frozenset: "array", dict: "object"}


def describe(function: Callable, name: Optional[str] = None) -> dict:
    """The declaration: {"name", "description", "parameters", "returns", "returns_description", ...}."""
    name = name or getattr(function, "__name__", type(function).__name__)
    hints = _hints(function)
    text = _Docstring(inspect.getdoc(function) or "")
    parameters = [_parameter(name, parameter, hints, text)
                  for parameter in inspect.signature(function).parameters.values()]
    returns = hints.get("return", Any)
    return {"name": name, "description": text.summary, "parameters": _in_order(parameters),
            "returns": "None" if returns is type(None) else annotation(returns), "returns_schema": schema(returns),
            "returns_description": text.returns}


def _hints(function: Callable) -> dict:
    target = function if inspect.isroutine(function) else getattr(type(function), "__call__", function)
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception:  # a name that exists only for type checkers
        return dict(getattr(target, "__annotations__", {}))


def _parameter(tool: str, parameter: inspect.Parameter, hints: dict, text: _Docstring) -> dict:
    hint, described = _without_annotated(hints.get(parameter.name, Any))
    kind = {parameter.VAR_POSITIONAL: "variadic", parameter.VAR_KEYWORD: "keyword_variadic"}.get(parameter.kind, "plain")
    made = {"name": parameter.name, "description": described or text.parameters.get(parameter.name, ""),
            "annotation": annotation(hint), "schema": schema(hint), "kind": kind}
    if kind == "variadic":
        made["schema"] = {"type": "array", "items": made["schema"]}
    elif kind == "keyword_variadic":
        made["schema"] = {"type": "object", "additionalProperties": made["schema"]}
    if parameter.default is not parameter.empty:
        made["default"] = parameter.default
        if parameter.default is None and made["schema"] and "null" not in str(made["schema"]):
            made["schema"] = {"anyOf": [made["schema"], {"type": "null"}]}
            made["annotation"] += " | None"
    return made


def _in_order(parameters: list) -> list:
    """Required ones before those with defaults, as far as they may be given by position."""
    plain = [parameter for parameter in parameters if parameter["kind"] == "plain"]
    if len(plain) == len(parameters):
        return sorted(parameters, key=lambda parameter: "default" in parameter)
    return parameters


def _without_annotated(hint: Any) -> tuple:
    """Annotated[int, "what it is"] as (int, "what it is")."""
    if typing.get_origin(hint) is getattr(typing, "Annotated", object()):
        texts = [item for item in hint.__metadata__ if isinstance(item, str)]
        return hint.__origin__, " ".join(texts)
    return hint, ""


# ---- types ----

def annotation(hint: Any) -> str:
    """As Python writes it in a signature; "object" for anything."""
    hint, _ = _without_annotated(hint)
    if hint is Any or hint is inspect.Parameter.empty or isinstance(hint, (str, typing.TypeVar)):
        return "object"
    if hint is type(None) or hint is None:
        return "None"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNION:
        return " | ".join(annotation(argument) for argument in arguments)
    if origin is getattr(typing, "Literal", None):
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is not None and arguments:
        inner = ", ".join("..." if argument is ... else annotation(argument) for argument in arguments
                          if not isinstance(argument, list))
        return f"{_class_name(origin)}[{inner}]"
    return _class_name(origin or hint)


def _class_name(cls: Any) -> str:
    if not isinstance(cls, type):
        return "object"
    if cls.__module__ in ("builtins", "__main__"):
        return cls.__name__
    if cls.__module__.startswith("collections"):
        return {"Sequence": "list", "Iterable": "list", "Mapping": "dict", "MutableMapping": "dict",
                "Set": "set"}.get(cls.__name__, "object")
    return f"{cls.__module__.split('.')[0]}.{cls.__name__}"


def schema(hint: Any) -> dict:
    """The JSON Schema of what the hint accepts; {} for anything, and for what JSON has no word for."""
    hint, _ = _without_annotated(hint)
    if hint is None or (isinstance(hint, type) and hint in _PLAIN):
        return {"type": _PLAIN[type(None) if hint is None else hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNION:
        each = [schema(argument) for argument in arguments]
        return {"anyOf": each} if all(each) else {}
    if origin is getattr(typing, "Literal", None):
        return {"enum": list(arguments)}
    container = origin or hint
    if container is list:
        return {"type": "array", **({"items": schema(arguments[0])} if arguments and schema(arguments[0]) else {})}
    if container is dict:
        inner = schema(arguments[1]) if len(arguments) == 2 else {}
        return {"type": "object", **({"additionalProperties": inner} if inner else {})}
    if isinstance(hint, type):
        return _class_schema(hint)
    return {}


def _class_schema(cls: type) -> dict:
    if issubclass(cls, enum.Enum):
        values = [member.value for member in cls]
        return {"enum": values} if all(isinstance(value, (str, int)) for value in values) else {}
    if dataclasses.is_dataclass(cls) or hasattr(cls, "__total__"):
        fields = typing.get_type_hints(cls)
        return {"type": "object", "properties": {name: schema(hint) for name, hint in fields.items()}}
    return {}


# ---- docstrings ----

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Return|Yields|Raises|Example|Examples|Note|Notes)\s*:?\s*$")
_GOOGLE = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"^\*{0,2}(\w+)\s*:?[^:]*$")
_SPHINX = re.compile(r"^:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


class _Docstring:
    """Summary, parameters and result of a docstring in the style of Google, numpy or Sphinx."""

    def __init__(self, text: str):
        self.parameters: dict = {}
        self.returns = ""
        summary: list = []
        section = ""
        last: Optional[str] = None
        for line in text.splitlines():
            if re.match(r"^-{3,}\s*$", line):
                continue
            if _SECTION.match(line):
                section, last = line.strip().rstrip(":").rstrip(), None
                continue
            sphinx = _SPHINX.match(line)
            if sphinx:
                section, last = "sphinx", sphinx[1]
                self.parameters[last] = sphinx[2]
            elif re.match(r"^:returns?:", line):
                section, self.returns = "Returns", line.split(":", 2)[2].strip()
            elif not section:
                summary.append(line)
            else:
                last = self._in_section(section, line, last)
        self.summary = "\n".join(summary).strip()

    def _in_section(self, section: str, line: str, last: Optional[str]) -> Optional[str]:
        if section in ("Returns", "Return"):
            self.returns = f"{self.returns} {line.strip()}".strip()
        elif section in ("Args", "Arguments", "Parameters", "sphinx") and line.strip():
            found = _GOOGLE.match(line) if section != "sphinx" and len(line) - len(line.lstrip()) <= 4 else None
            if found is None and section == "Parameters" and not line[0].isspace():
                found = _NUMPY.match(line)
            if found:
                self.parameters[found[1]] = found[2] if found.re is _GOOGLE else ""
                return found[1]
            if last:
                self.parameters[last] = f"{self.parameters[last]} {line.strip()}".strip()
        return last


if sys.version_info < (3, 9):
    raise ImportError("gloveport needs Python 3.9 or later")
