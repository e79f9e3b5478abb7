"""GloveportExecutor with smolagents' own CodeAgent; tests/peers/smolagents runs smolagents' tests besides."""
import pytest

pytest.importorskip("smolagents")
import smolagents  # noqa: E402

import gloveport  # noqa: E402
from gloveport.integrations.smolagents import GloveportExecutor  # noqa: E402


class Scripted(smolagents.Model):
    def __init__(self, *answers):
        super().__init__()
        self.answers = list(answers)
        self.asked = []

    def generate(self, messages, **options):
        self.asked.append(messages)
        return smolagents.ChatMessage(role=smolagents.MessageRole.ASSISTANT, content=self.answers.pop(0))


@smolagents.tool
def contact_cost(contacts: int, channel: str = "cellular") -> float:
    """Cost in EUR of contacting clients.

    Args:
        contacts: number of contacts
        channel: how
    """
    return contacts * (0.8 if channel == "cellular" else 1.2)


@pytest.fixture
def executor(runtime):
    made = GloveportExecutor(runtime=runtime)
    yield made
    made.cleanup()


def test_agent_runs_with_tools_state_and_final_answer(executor):
    model = Scripted("<code>\ncost = contact_cost(contacts=10, channel='telephone')\nprint('so far', cost)\n</code>",
                     "<code>\nfinal_answer({'cost': cost + extra})\n</code>")
    agent = smolagents.CodeAgent(tools=[contact_cost], model=model, executor=executor, verbosity_level=-1)
    assert agent.run("How much?", additional_args={"extra": 1}) == {"cost": 13.0}
    assert "so far 12.0" in str(model.asked[1])
    assert executor.last_result.outcome == "ok"


def test_import_that_is_denied_is_told_in_smolagents_words(executor):
    with pytest.raises(smolagents.local_python_executor.InterpreterError, match="Import of os is not allowed"):
        executor("import os")
    allowed = GloveportExecutor(additional_authorized_imports=["os"])
    allowed("import os")
    allowed.cleanup()


def test_tools_stay_in_this_process(executor):
    secret = {"key": "value"}
    executor.send_tools({"lookup": lambda name: secret[name]})
    assert executor("lookup('key')").output == "value"
    with pytest.raises(smolagents.local_python_executor.InterpreterError, match="KeyError"):
        executor("lookup('other')")


def test_tool_with_the_same_declaration_takes_over_and_keeps_variables(executor):
    executor.send_tools({"f": lambda: 1})
    assert executor("x = f()").output == 1
    executor.send_tools({"f": lambda: 2})
    assert executor("x + f()").output == 3
    executor.send_variables({"sent": 5})
    executor.send_tools({"g": lambda: 3})
    assert executor("g() + sent").output == 8


def test_managed_agents_are_tools(executor):
    inner = smolagents.CodeAgent(tools=[], model=Scripted("<code>\nfinal_answer('found it')\n</code>"), name="searcher",
                                 description="Finds things.", verbosity_level=-1)
    outer = smolagents.CodeAgent(tools=[], managed_agents=[inner], executor=executor, verbosity_level=-1,
                                 model=Scripted("<code>\nfinal_answer(searcher(task='look'))\n</code>"))
    assert "found it" in outer.run("Look")


def test_tool_that_takes_anything(executor):
    """As those that smolagents makes of an MCP server's tools."""
    class Remote(smolagents.Tool):
        name = "remote"
        description = "Echoes."
        inputs = {"text": {"type": "string", "description": "what"}}
        output_type = "string"
        skip_forward_signature_validation = True

        def forward(self, *args, **kwargs):
            return f"{args} {kwargs}"

    executor.send_tools({"remote": Remote()})
    assert executor("remote('a')").output == "('a',) {}"
    assert executor("remote(text='a')").output == "() {'text': 'a'}"


def test_images_are_images_on_both_sides(executor):
    image_module = pytest.importorskip("PIL.Image")
    executor.send_variables({"picture": image_module.new("RGB", (4, 3), (255, 0, 0))})
    assert executor("picture.size").output == (4, 3)
    assert executor("final_answer(picture)").output.getpixel((0, 0)) == (255, 0, 0)


def test_answer_that_goes_around_the_wrapper_is_an_answer(executor):
    executor.send_tools({"final_answer": smolagents.FinalAnswerTool()})
    output = executor("final_answer('x')")
    assert (output.output, output.is_final_answer) == ("x", True)
    for value in ("text", {"args": 1}, {"args": [1], "kwargs": 2}, None):
        assert executor._answer("final_answer(...)", value) == value
    assert executor._answer("final_answer(1)", {"args": [1], "kwargs": {}}) == 1


def test_policy_rules_name_the_tools(runtime):
    policy = {"extends": "default", "tools": {"rules": [{"tool": "send", "effect": "ask", "where": {"to": {"matches": "x"}}}]}}
    asked = []
    executor = GloveportExecutor(policy, runtime=runtime, approve=lambda request: asked.append(request) or False)
    executor.send_tools({"send": lambda to: "sent"})
    assert executor("send('a')").output == "sent"
    with pytest.raises(smolagents.local_python_executor.InterpreterError, match="PermissionError"):
        executor("send(to='x')")
    assert asked[0].args == {"to": "x"}
    executor.cleanup()


def test_time_limit(runtime):
    executor = GloveportExecutor(runtime=runtime, timeout_seconds=0.5)
    with pytest.raises(smolagents.local_python_executor.ExecutionTimeoutError, match="0.5 seconds"):
        executor("while True: pass")
    assert executor("1").output == 1
    executor.cleanup()


@pytest.mark.parametrize("code, expected", [("x = 3", 3), ("a, b = 1, 2", (1, 2)), ("x = 1\nx += 2", 3), ("y: int = 4", 4),
                                            ("x = y = 5", 5), ("for i in range(2): pass", None), ("# nothing", None)])
def test_value_of_the_last_statement(executor, code, expected):
    assert executor(code).output == expected


def test_interpreter_that_ends_is_told(runtime):
    executor = GloveportExecutor("open", runtime=runtime)
    executor.send_variables({"sent": 2})
    with pytest.raises(smolagents.local_python_executor.InterpreterError):
        executor("import os\nos.abort()")
    assert gloveport.Result is type(executor.last_result) and executor.last_result.outcome == "crashed"
    assert executor("final_answer(answer=sent)").output == 2
    executor.cleanup()
