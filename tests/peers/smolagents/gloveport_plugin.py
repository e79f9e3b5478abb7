"""A plug-in for pytest that runs smolagents' own tests with Gloveport in the place of its local executor.

What the tests hand to the local interpreter (code, a state, tools) goes to a session; what they look at (the value, the
state, the printed text, the exception) comes from there. Nothing of a test's text is changed.

expected_skips.txt names what is not run, each with its reason. The security tests name the words with which the local
interpreter refuses; here they are asserted by effect (effects.py).
"""
import ast
import contextlib
import fnmatch
import os
import sys
import types

import effects
import pytest
import smolagents.local_python_executor as local
from smolagents import CodeAgent, Tool

import gloveport
from gloveport.integrations.smolagents import GloveportExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SECURITY = "TestLocalPythonExecutorSecurity"
RUNTIME = gloveport.Runtime(min_ready=0)


# ---- the seam: what the tests call ----

def policy_of(authorized_imports):
    """The limits of the preset `default`, and no module but those that the test allows."""
    names = ["*"] if "*" in authorized_imports else [name[:-2] if name.endswith(".*") else name for name in authorized_imports]
    return gloveport.Policy({"imports": {"allow": names}})


class PeerExecutor(GloveportExecutor):
    """With the constructor and the attributes of LocalPythonExecutor."""

    _check = local.LocalPythonExecutor._check_authorized_imports_are_installed

    def __init__(self, additional_authorized_imports, max_print_outputs_length=None, additional_functions=None,
                 timeout_seconds=30):
        self.additional_authorized_imports = additional_authorized_imports
        self.authorized_imports = list(set(local.BASE_BUILTIN_MODULES) | set(additional_authorized_imports))
        self._check()
        super().__init__(policy_of(self.authorized_imports), additional_functions=additional_functions,
                         timeout_seconds=timeout_seconds, max_print_outputs_length=max_print_outputs_length,
                         runtime=RUNTIME, on_event=effects.heard)

    def send_tools(self, tools):
        super().send_tools({**tools, **{name: found for name, found in local.BASE_PYTHON_TOOLS.items() if name not in tools}})


def evaluate_python_code(code, static_tools=None, custom_tools=None, state=None,
                         authorized_imports=local.BASE_BUILTIN_MODULES,
                         max_print_outputs_length=local.DEFAULT_MAX_LEN_OUTPUT, timeout_seconds=30):
    """As smolagents' own: the value of the last statement, and the state with all variables afterwards."""
    state = {} if state is None else state
    executor = GloveportExecutor(policy_of(authorized_imports), timeout_seconds=timeout_seconds, runtime=RUNTIME,
                                 max_print_outputs_length=max_print_outputs_length)
    try:
        executor.send_tools({**(static_tools or {}), **(custom_tools or {})})
        executor.send_variables({name: value for name, value in state.items() if not name.startswith("_")})
        before = set(executor.session.eval("list(globals())"))
        printed = state["_print_outputs"] = local.PrintContainer()
        try:
            output = executor(code)
        finally:
            printed.value = executor.state.get("_print_outputs", "")
            if executor.last_result.state == "kept":
                read_back(executor, state, before, code)
        return output.output, output.is_final_answer
    finally:
        executor.cleanup()


def read_back(executor, state, before, code):
    """Variables that the code made or changed; those that it deleted are gone."""
    names = [name for name in executor.session.eval("list(globals())")
             if name.isidentifier() and not name.startswith("_") and (name not in before or name in state)]
    for name in set(state) - set(names):
        if not name.startswith("_"):
            del state[name]
    for name in names:
        state[name] = executor.session.get(name)


def evaluate_expression(node, state, static_tools, custom_tools, authorized_imports):
    """evaluate_boolop and its like: the same node, as the text that it came from."""
    try:
        return evaluate_python_code(ast.unparse(node), static_tools, custom_tools, state, authorized_imports)[0]
    finally:
        state.pop("_print_outputs", None)


SEAM = {"evaluate_python_code": evaluate_python_code, "LocalPythonExecutor": PeerExecutor,
        "evaluate_boolop": evaluate_expression, "evaluate_condition": evaluate_expression,
        "evaluate_subscript": evaluate_expression, "evaluate_delete": evaluate_expression}


def without_counter(self, one, other):
    """As the test's own helper; the number of operations is the local interpreter's way to stop endless loops."""
    def plain(state):
        return {name: value for name, value in state.items() if name not in ("_print_outputs", "_operations_count")}
    assert plain(one) == plain(other)


# ---- what the repository of smolagents has beside its tests, and its source distribution lacks ----

@pytest.fixture
def custom_executor():
    """For the tests of the Docker executor, which look at an executor from outside only."""
    executor = GloveportExecutor("default", additional_authorized_imports=["io", "PIL", "base64"], runtime=RUNTIME)
    yield executor
    executor.cleanup()


@pytest.fixture
def test_tool():
    class TestTool(Tool):
        name = "test_tool"
        description = "A test tool"
        inputs = {"input": {"type": "string", "description": "Input value"}}
        output_type = "string"

        def forward(self, input):
            if input == "error":
                raise Exception("Tool execution error")
            return f"Processed: {input}"

    return TestTool()


@pytest.fixture
def shared_datadir(tmp_path):
    import PIL.Image
    PIL.Image.new("RGB", (16, 16), (255, 0, 0)).save(tmp_path / "000000039769.png")
    return tmp_path


@pytest.fixture(autouse=True)
def quiet_agents(monkeypatch):
    from smolagents.agents import MultiStepAgent
    original = MultiStepAgent.__init__

    def quiet(self, *args, verbosity_level=-1, **kwargs):
        original(self, *args, verbosity_level=verbosity_level, **kwargs)
    monkeypatch.setattr(MultiStepAgent, "__init__", quiet)


# ---- hooks ----

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: of smolagents")
    CodeAgent.create_python_executor = create_python_executor
    local.evaluate_python_code = evaluate_python_code
    effects.start_watching()
    try:
        import docker  # noqa: F401 - imported by tests of executors that are not run
    except ImportError:
        sys.modules["docker"] = types.ModuleType("docker")


def create_python_executor(agent):
    if agent.executor_type != "local":
        raise ValueError(f"Unsupported executor type: {agent.executor_type}")
    return PeerExecutor(agent.additional_authorized_imports,
                        **{"max_print_outputs_length": agent.max_print_outputs_length} | agent.executor_kwargs)


def read_skips():
    with open(os.path.join(HERE, "expected_skips.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                pattern, _, reason = line.strip().partition("  ")
                yield pattern, reason.strip()


def pytest_collection_modifyitems(config, items):
    skips = list(read_skips())
    used = set()
    for item in items:
        module = item.module
        if module.__name__.endswith("test_local_python_executor"):
            for name, replacement in SEAM.items():
                setattr(module, name, replacement)
            module.TestEvaluatePythonCode.assertDictEqualNoPrint = without_counter
        name = item.nodeid.split("/")[-1]
        for pattern, reason in skips:
            if fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")):
                item.add_marker(pytest.mark.skip(reason=reason))
                used.add(pattern)
                break
    items[:] = [item for item in items if wanted(item)]
    files = {item.nodeid.split("/")[-1].split("::")[0] for item in items}
    unused = [pattern for pattern, _ in skips if pattern not in used and pattern.split("::")[0] in files]
    if unused and not config.option.keyword:
        raise pytest.UsageError(f"expected_skips.txt names what is not there: {unused}")


def wanted(item):
    """Of the remote executors only the class that knows nothing of Docker."""
    if item.module.__name__.endswith("test_remote_executors"):
        return item.cls is not None and item.cls.__name__ == "TestGloveportExecutor"
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_pycollect_makeitem(collector, name, obj):
    outcome = yield
    if name == "CommonDockerExecutorIntegration":
        cls = type("TestGloveportExecutor", (obj,), {"__module__": obj.__module__})
        setattr(collector.module, "TestGloveportExecutor", cls)
        outcome.force_result(pytest.Class.from_parent(collector, name="TestGloveportExecutor", obj=cls))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """A security test passes where nothing of what it tries has an effect, whatever words refuse it."""
    if item.cls is None or item.cls.__name__ != SECURITY:
        yield
        return
    with effects.watched() as seen, words_do_not_matter(item.module):
        outcome = yield
    if outcome.excinfo is None or issubclass(outcome.excinfo[0], local.InterpreterError):
        outcome.force_result(None)
        try:
            seen.assert_none()
        except AssertionError as error:
            outcome.force_exception(error)


@contextlib.contextmanager
def words_do_not_matter(module):
    original = module.pytest

    class Relaxed:
        def __getattr__(self, name):
            return getattr(original, name)

        @staticmethod
        @contextlib.contextmanager
        def raises(expected, match=None):
            seen = type("Info", (), {"value": None})()
            try:
                yield seen
            except expected as error:
                seen.value = effects.AnyWords(error)
            else:
                seen.value = effects.AnyWords(None)

    module.pytest = Relaxed()
    try:
        yield
    finally:
        module.pytest = original
