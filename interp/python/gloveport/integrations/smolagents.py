"""GloveportExecutor: the Python of a smolagents CodeAgent, confined.

    from smolagents import CodeAgent
    from gloveport.integrations.smolagents import GloveportExecutor

    agent = CodeAgent(tools=[...], model=model, executor=GloveportExecutor(policy="default"))

Code runs in a session: a process of its own, with real Python and its variables kept from step to step. Tools stay here,
also closures, MCP tools and managed agents: cells call them by name, and what goes in and out are values (numbers, text,
lists, dicts, dates, arrays, data frames, images ...), never live objects.
"""
from __future__ import annotations

import builtins
import inspect
import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from smolagents.local_python_executor import (BASE_PYTHON_TOOLS, DEFAULT_MAX_LEN_OUTPUT, CodeOutput,
                                              ExecutionTimeoutError, InterpreterError, PythonExecutor)
from smolagents.utils import AgentError, truncate_content

from .. import Image, Policy, Result, Runtime, Session, Tool, tool
from .._policy import PolicyLike, as_policy
from .._values import Foreign
from ._cells import statement_at, with_last_value

__all__ = ["GloveportExecutor"]

# Names that cells of the local executor find besides Python's own, where the policy allows their module.
_MATH = "from math import acos, asin, atan, atan2, ceil, cos, degrees, exp, floor, log, radians, sin, sqrt, tan"
# final_answer() with any arguments: the host, which has the agent's tool of that name, makes the answer of them.
_PRELUDE = """
def _gloveport_answer(answer):
    def final_answer(*args, **kwargs):
        return answer({"args": list(args), "kwargs": kwargs})
    return final_answer

final_answer = _gloveport_answer(final_answer)
del _gloveport_answer
"""


class GloveportExecutor(PythonExecutor):
    """Runs the cells of a CodeAgent in a Gloveport session.

    Args:
        policy: what cells may do: a preset's name, a dict, a file or a Policy.
        additional_authorized_imports: modules that cells may import besides the policy's; "*" for all.
        additional_functions: functions of this process that cells may call besides the agent's tools.
        timeout_seconds: for each cell; at most what the policy says.
        max_print_outputs_length: of the output that the model sees.
        runtime: which Runtime opens the session.
        session_options: of Session: approve, on_event, workdir, seed ...
    """

    def __init__(self, policy: PolicyLike = "default", *, additional_authorized_imports: Sequence[str] = (),
                 additional_functions: Optional[Mapping[str, Callable]] = None,
                 timeout_seconds: Optional[float] = None, max_print_outputs_length: Optional[int] = None,
                 runtime: Optional[Runtime] = None, **session_options: Any):
        self.policy = _adapted(as_policy(policy), additional_authorized_imports)
        self.additional_functions = dict(additional_functions or {})
        self.timeout_seconds = timeout_seconds
        self.max_print_outputs_length = max_print_outputs_length or DEFAULT_MAX_LEN_OUTPUT
        self.state: dict = {"__name__": "__main__"}  # what was sent, and "_print_outputs" of the last cell
        self.static_tools: dict = {}
        self.last_result: Optional[Result] = None
        self._runtime = runtime
        self._options = session_options
        self._session: Optional[Session] = None
        self._offered: list = []  # declarations of the session's tools

    # ---- what CodeAgent calls ----

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Tools of the same names and parameters take the place of the session's; others need a new session, which has
        the variables that were sent, and not those of earlier cells."""
        self.static_tools = {**tools, **self.additional_functions}
        if self._session is not None and self._declared() != self._offered:
            self.cleanup()

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        self.state.update(variables)
        if self._session is not None:
            self._send(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        result = self.run_cell(code_action)
        logs = truncate_content(result.stdout, max_length=self.max_print_outputs_length)
        self.state["_print_outputs"] = logs
        if result.final_answer is not None and result.outcome == "ok":
            return CodeOutput(output=self._answer(code_action, result.final_answer.value), logs=logs, is_final_answer=True)
        if not result.ok:
            raise _error(code_action, result, self.timeout_seconds)
        return CodeOutput(output=_received(result.value), logs=logs, is_final_answer=False)

    def cleanup(self) -> None:
        """Ends the session; the next cell begins a new one."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    # ---- the rest ----

    @property
    def session(self) -> Session:
        """The session that the next cell runs in."""
        if self._session is None:
            tools = self._tools()
            policy = _with_builtins(self.policy, self.static_tools)
            self._session = Session(policy, tools=tools, runtime=self._runtime, **self._options)
            self._offered = self._declared()
            self._prepare()
        return self._session

    def _prepare(self) -> None:
        """What a process needs before its first cell."""
        self._session.run(_MATH)
        self._session.run(_PRELUDE).raise_for_outcome()
        self._send(self.state)

    def run_cell(self, code: str) -> Result:
        """One cell and how it ended, without smolagents' exceptions."""
        self.last_result = self.session.run(with_last_value(code), timeout=self.timeout_seconds)
        if self.last_result.state == "lost":
            self._prepare()  # another process is there now
        return self.last_result

    def _send(self, variables: Mapping[str, Any]) -> None:
        for name, value in variables.items():
            if not name.startswith("_"):
                self._session.set(name, value)

    def _tools(self) -> list:
        """Every tool but final_answer; Python's own functions exist in the session already."""
        return [self._tool(name) for name, found in self.static_tools.items()
                if name != "final_answer" and not _exists_there(name, found)]

    def _declared(self) -> list:
        return [found.spec for found in self._tools()]

    def _tool(self, name: str) -> Tool:
        found = self.static_tools[name]
        declared = _declared_as(found)
        made = tool(declared, name=name)
        if getattr(found, "description", None):
            made.spec["description"] = str(found.description)
        inputs = getattr(found, "inputs", None)
        for parameter in made.spec["parameters"]:
            parameter["schema"] = {}  # smolagents judges what its tools are given
            if isinstance(inputs, dict) and isinstance(inputs.get(parameter["name"]), dict):
                parameter["description"] = str(inputs[parameter["name"]].get("description", ""))

        def call(*args: Any, **kwargs: Any) -> Any:
            """By name: a tool that was sent later takes the call."""
            received = [_received(item) for item in args]
            return _sent(self.static_tools[name](*received, **{key: _received(item) for key, item in kwargs.items()}))

        call.__signature__ = inspect.signature(declared)  # type: ignore[attr-defined]
        made.function = call
        return made

    def _answer(self, code: str, value: Any) -> Any:
        """The agent's final_answer may be a tool of its own, with any parameters."""
        args, kwargs = [value], {}
        if isinstance(value, dict) and isinstance(value.get("args"), list) and isinstance(value.get("kwargs"), dict):
            args, kwargs = value["args"], value["kwargs"]  # else the code called Python's final_answer itself
        args = [_received(item) for item in args]
        kwargs = {str(name): _received(item) for name, item in kwargs.items()}
        own = self.static_tools.get("final_answer")
        if own is not None:
            try:
                return own(*args, **kwargs)
            except Exception as error:
                raise InterpreterError(f"Code execution failed at line '{statement_at(code, len(code.splitlines()))}' "
                                       f"due to: {type(error).__name__}: {error}") from error
        return args[0] if args else next(iter(kwargs.values()), None)


class CellFailed(InterpreterError, AgentError):
    """Both of what smolagents raises for code that fails: its local executor the one, its remote ones the other."""

    def __init__(self, message: str):
        Exception.__init__(self, message)
        self.message = message


def _error(code: str, result: Result, timeout: Optional[float]) -> Exception:
    if result.outcome == "timeout" and result.limit and result.limit["limit"] == "wall":
        seconds = timeout if timeout is not None else result.limit["value"]
        return ExecutionTimeoutError(f"Code execution exceeded the maximum execution time of {seconds} seconds")
    error = result.error
    if error is None:
        return CellFailed(f"Code execution failed: {result.outcome}")
    findings = (result.verdict or {}).get("findings") if result.outcome == "denied" else None
    if findings and findings[0]["rule"] == "syntax":
        return CellFailed(f"Code parsing failed on line {findings[0]['line']} due to: SyntaxError: {error.message}")
    line = (findings[0]["line"] if findings else _outermost_line(result)) or 1
    reason = "; ".join(map(_finding, findings)) if findings else f"{error.type}: {error.message}"
    return CellFailed(f"Code execution failed at line '{statement_at(code, line)}' due to: {reason}")




def _outermost_line(result: Result) -> int:
    """Where the cell's own text was when it failed; the error's line is the innermost, maybe in a function."""
    found = re.search(rf'File "<cell {result.cell}>", line (\d+), in <module>', result.error.traceback or "")
    return int(found[1]) if found else result.error.line


def _finding(finding: dict) -> str:
    """An import that is denied in the words by which CodeAgent tells its user what to do."""
    text = finding["message"]
    if finding["rule"] == "import":
        module = text.split("the module ", 1)[-1].split(" ", 1)[0]
        text = f"Import of {module} is not allowed: {text}"
    return f"InterpreterError: {text}" + (f" ({finding['hint']})" if finding.get("hint") else "")


def _adapted(policy: Policy, modules: Sequence[str]) -> Policy:
    """With these modules allowed, and PIL there before the first cell: else an image would arrive as bytes."""
    whole = policy.to_dict()
    whole["preload"] = sorted({*whole.get("preload", ()), "PIL.Image"})
    names = [module[:-2] if module.endswith(".*") else module for module in modules]
    imports = whole.setdefault("imports", {})
    for kind in ("deny", "ask"):  # what is asked for by name wins over a list that denies it
        imports[kind] = [name for name in imports.get(kind, ()) if name not in names and "*" not in names]
    imports["allow"] = sorted({*imports.get("allow", ()), *names})
    return Policy(whole)


def _exists_there(name: str, found: Any) -> bool:
    """Python's own functions are not called here: a session has them."""
    return (name in BASE_PYTHON_TOOLS and found is BASE_PYTHON_TOOLS[name]) or _is_builtin(name, found)


def _is_builtin(name: str, found: Any) -> bool:
    return found is getattr(builtins, name, None)


def _with_builtins(policy: Policy, functions: Mapping[str, Any]) -> Policy:
    """eval, exec and compile, where they are handed over: cells may use the session's."""
    named = sorted(name for name in ("compile", "eval", "exec") if name in functions and _is_builtin(name, functions[name]))
    if not named:
        return policy
    whole = policy.to_dict()
    whole["builtins"] = {"allow": sorted({*whole.get("builtins", {}).get("allow", ()), *named})}
    return Policy(whole)


def _declared_as(found: Any) -> Callable:
    """A function with the parameters and the docstring of a tool; of one whose parameters cannot be told, any."""
    described = getattr(found, "forward", found)

    def declared(*args: Any, **kwargs: Any) -> Any:
        """Takes what the function behind it takes."""

    try:
        signature = inspect.signature(described)
    except (TypeError, ValueError):
        return declared
    # A tool that smolagents makes of a function has a self that nobody passes.
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "self"]
    declared.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    declared.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters
                                if parameter.annotation is not parameter.empty}
    declared.__doc__ = inspect.getdoc(described)
    return declared


def _received(value: Union[Any, Foreign, Image]) -> Any:
    """A value of the session as smolagents wants it: images as PIL's."""
    return value.to_pil() if isinstance(value, Image) else value


def _sent(value: Any) -> Any:
    """What a tool returns, without the classes in which smolagents wraps images and text."""
    return value.to_raw() if hasattr(value, "to_raw") and type(value).__module__.startswith("smolagents") else value
