"""The magics, in an IPython shell of the tests' own process."""
import contextlib
import io
import sys

import pytest

pytest.importorskip("IPython")
from IPython.core.error import UsageError  # noqa: E402
from IPython.testing.globalipapp import get_ipython, start_ipython  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402


@pytest.fixture(scope="module")
def shell():
    made = start_ipython() or get_ipython()
    made.run_line_magic("load_ext", "gloveport")
    yield made
    magics(made).close()
    magics(made).runtime.close()


def magics(shell):
    return shell.magics_manager.registry["GloveMagics"]


@pytest.fixture(autouse=True)
def fresh(shell):
    magics(shell).close()
    magics(shell).policy = "default"
    magics(shell).tools = []


def run(shell, line, cell):
    with capture_output() as captured:
        shell.run_cell_magic("glove", line, cell)
    return captured


def test_cell_runs_confined_and_keeps_variables(shell):
    run(shell, "", "import sys\nx = 20\nprint('shown')")
    captured = run(shell, "-o taken", "x + 1")
    assert shell.user_ns["taken"] == 21 and "x" not in shell.user_ns
    assert captured.outputs[0].data == {"text/plain": "21"}
    assert run(shell, "", "print('a')\nprint('b', file=sys.stderr)").stdout == "a\n"


def test_rich_displays(shell):
    captured = run(shell, "", "import pandas as pd\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\npd.DataFrame({'a': [1]})")
    assert any("<table" in output.data.get("text/html", "") for output in captured.outputs)
    assert any("image/png" in output.data for output in captured.outputs)


def test_output_is_cleared(shell, monkeypatch):
    import IPython.display
    cleared = []
    monkeypatch.setattr(IPython.display, "clear_output", cleared.append)
    captured = run(shell, "", "from IPython.display import clear_output\nprint('a')\nclear_output()\nclear_output(wait=True)\n5")
    assert cleared == [False, True] and captured.outputs[0].data == {"text/plain": "5"}
    assert "not allowed" in run(shell, "--policy sandboxed_python", "import IPython").stderr


def test_script_in_a_display_is_gone(shell):
    code = "class H:\n    def _repr_html_(self): return '<b>x</b><script>alert(1)</script>'\nH()"
    assert run(shell, "", code).outputs[0].data["text/html"] == "<b>x</b>"


def test_errors_are_coloured(shell):
    captured = run(shell, "-o unset", "1 / 0")
    assert "\x1b[31mZeroDivisionError" in captured.stderr and "unset" not in shell.user_ns
    assert "not allowed" in run(shell, "", "import socket").stderr


def test_notebook_functions_are_tools(shell):
    def twice(n: int) -> int:
        """Doubles."""
        return 2 * n

    shell.user_ns["twice"] = twice
    run(shell, "--tools twice -o taken", "twice(21)")
    assert shell.user_ns["taken"] == 42
    with capture_output() as captured:
        shell.run_line_magic("glove_tools", "")
    assert captured.stdout == "twice(n: int) -> int    Doubles.\n"
    with pytest.raises(UsageError, match="no function 'missing'"):
        shell.run_cell_magic("glove", "--tools missing", "1")


def test_policy_is_shown_and_set(shell):
    assert "denied" not in run(shell, "", "import json").stderr
    with capture_output() as captured:
        shell.run_line_magic("glove_policy", "open")
    assert "open" in captured.outputs[0].data["text/html"]
    assert run(shell, "", "import socket").stderr == ""
    run(shell, "", "x = 1")
    assert run(shell, "--policy open", "x").outputs[0].data["text/plain"] == "1"  # the same: no new session
    assert "new session" in run(shell, "--policy sandboxed_python", "1").stdout


def test_timeout(shell):
    assert "wall time" in run(shell, "--timeout 0.3", "while True: pass").stderr


def test_branches(shell):
    run(shell, "", "x = 1")
    with capture_output():
        shell.run_line_magic("glove_branch", "other")
    run(shell, "--on other", "x = 2")
    assert run(shell, "", "x").outputs[0].data["text/plain"] == "1"
    assert run(shell, "--on other", "x").outputs[0].data["text/plain"] == "2"
    with capture_output() as captured:
        shell.run_line_magic("glove_branch", "other")  # as where the notebook is run once more
    assert "is closed" in captured.stdout
    assert run(shell, "--on other", "x").outputs[0].data["text/plain"] == "1"
    assert run(shell, "-o kept", "x;").outputs == [] and shell.user_ns["kept"] == 1
    for name in ("main", "other --of other"):
        with pytest.raises(UsageError, match="would go on from"):
            shell.run_line_magic("glove_branch", name)
    with pytest.raises(UsageError, match="no branch"):
        shell.run_cell_magic("glove", "--on nowhere", "1")


def test_audit(shell, tmp_path):
    run(shell, "", "sum(range(10))")
    with capture_output() as captured:
        shell.run_line_magic("glove_audit", "")
    assert "holds" in captured.outputs[0].data["text/html"]
    with capture_output():
        shell.run_line_magic("glove_audit", str(tmp_path / "copy.jsonl"))
    import gloveport
    assert gloveport.audit_check(str(tmp_path / "copy.jsonl"))["holds"]


def test_wrong_options_say_what_is_right(shell):
    with pytest.raises(UsageError, match="usage: %%glove"):
        shell.run_cell_magic("glove", "--no-such", "1")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        shell.run_cell_magic("glove", "--help", "1")
    assert "--timeout" in printed.getvalue()


def test_approval_asks_at_the_notebook(shell, tmp_path, monkeypatch):
    policy = tmp_path / "ask.json"
    policy.write_text('{"extends": "default", "tools": {"rules": [{"tool": "send", "effect": "ask"}]}}')
    shell.user_ns["send"] = lambda to: f"sent to {to}"
    answers = ["y", "not this one"]
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answers.pop(0))
    run(shell, f"--policy {policy} --tools send -o taken", "send('a')")
    assert shell.user_ns["taken"] == "sent to a" and "send({'to': 'a'})" in asked[0]
    assert "not this one" in run(shell, "", "send('b')").stderr


def test_agent_shows_its_steps(shell):
    answers = iter(["I try the net.\n<code>\nimport socket\n</code>",
                    "<code>\nprint('<script>')\nfinal_answer(twice(21))\n</code>"])
    shell.user_ns["model"] = lambda messages: next(answers)
    shell.user_ns["twice"] = lambda n: 2 * n
    with capture_output() as captured:
        shell.run_cell_magic("agent", "--model model --tools twice -o answer What is twice 21?", "Be brief.")
    assert shell.user_ns["answer"] == 42
    page = captured.outputs[-1].data["text/html"]
    for part in ("What is twice 21?", "I try the net.", "denied", "twice(n=21)", "42", "&lt;script&gt;", "<details>", "Evidence"):
        assert part in page
    assert "<script>" not in page


@pytest.mark.parametrize("cell", ["%agent --model model -o answer What is 6 * 7?", "%%agent --model model -o answer What is 6 * 7?",
                                  "%%agent --model model -o answer What is 6 * 7?\n\n", "x = 1\n%agent --model model -o answer What"])
def test_goal_needs_no_more_than_a_line(shell, cell):
    asked = []
    shell.user_ns["model"] = lambda messages: asked.append(str(messages)) or "<code>final_answer(42)</code>"
    shell.user_ns["answer"] = None
    with capture_output():
        assert shell.run_cell(cell).success
    assert shell.user_ns["answer"] == 42 and cell.strip().rpartition("answer ")[2] in asked[0]


def test_ctrl_c_stops_the_cell(shell):
    import os
    import signal
    shell.user_ns["press"] = lambda: os.kill(os.getpid(), signal.SIGINT)
    captured = run(shell, "--tools press", "x = 5\npress()\nwhile True: pass")
    assert "KeyboardInterrupt" in captured.stderr
    assert run(shell, "", "x").outputs[0].data["text/plain"] == "5"
    assert sys.exc_info()[0] is None


def test_function_defined_anew_is_the_one_that_is_called(shell):
    shell.run_cell("def newest(n: int) -> int:\n    return n")
    run(shell, "--tools newest -o taken", "kept = 1\nnewest(1)")
    shell.run_cell("def newest(n: int) -> int:\n    return n + 1")
    run(shell, "--tools newest -o taken", "newest(1) + kept")
    assert shell.user_ns["taken"] == 3


def test_progress_is_shown_while_a_tool_runs(shell):
    import gloveport

    def copy(n: int):
        for i in range(n):
            gloveport.current_call().progress(i, n, f"file <{i}>")
        return n

    shell.user_ns["copy"] = copy
    captured = run(shell, "--tools copy", "print('a')\ncopy(1000)")
    first, *updates = [output.data for output in captured.outputs if "text/html" in output.data]
    assert first["text/plain"] == "copy: 0 of 1000, file <0>" and "<progress value='0' max='1000'>" in first["text/html"]
    assert "file &lt;0&gt;" in first["text/html"]
    assert len(updates) < 500 and updates[-1] == {"text/html": "", "text/plain": ""}
    answers = iter(["<code>copy(2)\nfinal_answer(1)</code>"])
    shell.user_ns["model"] = lambda messages: next(answers)
    with capture_output() as captured:
        shell.run_line_magic("agent", "--model model --tools copy Copy.")
    pages = [output.data["text/html"] for output in captured.outputs]
    assert any("<progress" in page for page in pages) and "<progress" not in pages[-1]


def test_questions_cannot_be_disguised(monkeypatch):
    import queue

    from gloveport import ApprovalRequest, _questions
    asked = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "n")
    request = ApprovalRequest(1, "s", 1, "cell", "bad()\r\x08\x1b[8m\u202egood()", "", None, "", "why", "it")
    _questions.answer(request, queue.SimpleQueue())
    assert "bad()\\r\\x08\\x1b[8m\\u202egood()" in asked[0]


def test_what_cannot_be_shown_leaves_no_cell_behind():
    from gloveport import _notebook

    def hear(kind, data):
        raise ValueError(kind)

    assert _notebook.pump(lambda tell: tell("x", {}) or 5, hear, lambda: None) == 5
