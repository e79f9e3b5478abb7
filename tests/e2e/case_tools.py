"""The host functions that cells.jsonl asks for (tests/cases/README.md), as handlers of a protocol client."""

import base64

from protocol_client import ToolError


def plain(value):
    """A value of the protocol as Python has it, where Python has it in a simple way."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, inner), = value.items()
        if key in ("$tuple", "$list"):
            return [plain(item) for item in inner]
        if key == "$int":
            return int(inner)
        if key == "$float":
            return float(inner)
        if key == "$namedtuple":
            return plain(list(inner["fields"].values()) if isinstance(inner["fields"], dict) else inner["fields"])
        if key == "$map":
            return {"$map": [[plain(k), plain(v)] for k, v in inner]}
    return {key: plain(item) for key, item in value.items()}


def kind_of(value):
    """The kind of an argument as the behaviour "type_of" names it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    forms = {"$int": "integer", "$float": "number", "$tuple": "array", "$bytes": "bytes", "$map": "object",
             "$str": "string"}
    if isinstance(value, dict) and len(value) == 1:
        (key, _), = value.items()
        if key.startswith("$"):
            return forms.get(key, "other")
    return "object"


def make_handler(behavior):
    """A function of the bound arguments; its state lives as long as the run."""
    kind = behavior["kind"]
    count = 0

    def counted():
        nonlocal count
        count += 1
        return count

    def lookup(args):
        key = plain(args[behavior["param"]])
        if key in behavior["table"]:
            return behavior["table"][key]
        raise ToolError(f"{behavior['missing_error']}: {key}")

    def fail(_):
        raise ToolError(behavior["message"])

    def fail_times(_):
        if counted() <= behavior["times"]:
            raise ToolError(behavior["message"])
        return behavior["value"]

    handlers = {
        "const": lambda args: behavior["value"],
        "echo": lambda args: args[behavior["param"]],
        "args": lambda args: args,
        "sum": lambda args: sum(plain(args[name]) for name in behavior["params"]),
        "concat": lambda args: behavior["sep"].join(str(plain(args[name])) for name in behavior["params"]),
        "count": lambda args: counted(),
        "range": lambda args: list(range(plain(args[behavior["param"]]))),
        "repeat": lambda args: behavior["text"] * plain(args[behavior["param"]]),
        "type_of": lambda args: kind_of(args[behavior["param"]]),
        "bytes": lambda args: {"$bytes": base64.b64encode(bytes.fromhex(behavior["hex"])).decode()},
        "lookup": lookup,
        "error": fail,
        "fail_times": fail_times,
    }
    return handlers[kind]


def declaration(tool):
    """A case's tool as `open` takes it."""
    parameters = []
    for parameter in tool["params"]:
        declared = {"name": parameter["name"], "type": "any"}
        if "default" in parameter:
            declared["default"] = parameter["default"]
        parameters.append(declared)
    return {"name": tool["name"], "description": tool["doc"], "parameters": parameters, "returns": tool["returns"]}
