"""The kernel: Jupyter's own tests of kernels, and what they do not ask."""
import os
import sys

import pytest

pytest.importorskip("ipykernel")
jupyter_kernel_test = pytest.importorskip("jupyter_kernel_test")
import jupyter_client  # noqa: E402

from gloveport.kernel import install  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def kernel_name(tmp_path_factory):
    """A kernel specification in a folder of its own, installed as a user does it."""
    prefix = tmp_path_factory.mktemp("prefix")
    before = dict(os.environ)
    os.environ["JUPYTER_PATH"] = str(prefix / "share" / "jupyter")
    os.environ["JUPYTER_RUNTIME_DIR"] = str(prefix / "runtime")
    policy = prefix / "policy.json"
    policy.write_text('{"extends": "default", "imports": {"allow": ["os"]}}')
    assert install.main(["install", "--prefix", str(prefix), "--policy", str(policy), "--name", "glove"]) == 0
    yield "glove"
    os.environ.clear()
    os.environ.update(before)


class TestKernel(jupyter_kernel_test.KernelTests):
    kernel_name = "glove"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys\nprint('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}, {"text": "pri", "matches": {"print"}}]
    complete_code_samples = ["1", "print('hello')", "def f(x):\n  return 2*x\n\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2", "for i in range(3):"]
    invalid_code_samples = ["import = 7q", "1 +"]
    code_execute_result = [{"code": "1+2+3", "result": "6"}, {"code": "'text'", "result": "'text'"}]
    code_display_data = [{"code": "class H:\n    def _repr_html_(self): return '<b>x</b>'\ndisplay(H())", "mime": "text/html"},
                         {"code": "import matplotlib.pyplot as plt\nplt.plot([1, 2]);", "mime": "image/png"}]
    code_clear_output = "clear_output()"
    code_generate_error = "raise ValueError('no')"
    code_inspect_sample = "zip"
    supported_history_operations = ("tail", "search", "range")
    code_history_pattern = "1?2*"


@pytest.fixture(scope="module")
def client(kernel_name):
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name=kernel_name, startup_timeout=60)
    client.manager = manager
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code, **options):
    """(reply, messages) of a cell."""
    messages = []
    reply = client.execute_interactive(code, output_hook=messages.append, timeout=60, **options)
    return reply["content"], [(message["msg_type"], message["content"]) for message in messages
                              if message["msg_type"] not in ("status", "execute_input")]


def test_trailing_value_is_the_result_and_rich(client):
    code = "import pandas as pd\nprint('before')\ndisplay(1)\npd.DataFrame({'a': [1]})"
    reply, messages = run(client, code)
    assert reply["status"] == "ok"
    assert [kind for kind, _ in messages] == ["stream", "display_data", "execute_result"]
    assert "<table" in messages[2][1]["data"]["text/html"]
    assert messages[2][1]["execution_count"] == reply["execution_count"]


def test_figures_are_images(client):
    _, messages = run(client, "import matplotlib.pyplot as plt\nfig = plt.figure()\nfig.gca().plot([1, 2])\nfig")
    assert [kind for kind, _ in messages] == ["execute_result"]  # once, and not as the cell's figure again
    assert messages[0][1]["data"]["image/png"].startswith("iVBOR")


def test_value_before_figures_is_shown_once(client):
    code = "import pandas as pd\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\npd.DataFrame({'a': [1]})"
    _, messages = run(client, code)
    assert [sorted(content["data"]) for _, content in messages] == [["text/html", "text/plain"], ["image/png", "text/plain"]]
    assert [kind for kind, _ in run(client, "display(5)\n5")[1]] == ["display_data", "execute_result"]


@pytest.mark.parametrize("code, kinds", [
    ("5;", []), ("5; # five\n\n", []), ("'a;'", ["execute_result"]), ("5 # ;", ["execute_result"]), ("x = 5;\nx", ["execute_result"]),
    ("import pandas as pd\npd.DataFrame({'a': [1]});", []), ("import pandas as pd; pd.DataFrame({'a': [1]})", ["execute_result"]),
    ("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", ["display_data"])])
def test_semicolon_hides_the_value(client, code, kinds):
    assert [kind for kind, _ in run(client, code)[1]] == kinds


def test_display_updates(client):
    _, messages = run(client, "shown = display('one', display_id='d')")
    assert messages[0][1]["transient"] == {"display_id": "d"}
    _, messages = run(client, "shown.update('two')")
    assert messages == [("update_display_data", {"data": {"text/plain": "'two'"}, "metadata": {},
                                                 "transient": {"display_id": "d"}})]


def test_output_is_cleared_and_displays_are_updated_by_name(client):
    code = ("from IPython.display import HTML, clear_output, display, update_display\nprint('gone')\nclear_output(wait=True)\n"
            "display(HTML('<b>1</b>'), display_id='n')\nupdate_display(HTML('<b>2</b>'), display_id='n')\nclear_output()\n7")
    _, messages = run(client, code)
    assert [kind for kind, _ in messages] == ["stream", "clear_output", "display_data", "update_display_data", "clear_output",
                                              "execute_result"]
    assert messages[1][1] == {"wait": True} and messages[4][1] == {"wait": False}
    assert messages[2][1]["transient"] == messages[3][1]["transient"] == {"display_id": "n"}
    assert messages[3][1]["data"]["text/html"] == "<b>2</b>"
    reply, _ = run(client, "import IPython")
    assert reply["status"] == "error" and "not allowed" in "\n".join(reply["traceback"])


def test_output_comes_while_the_cell_runs(client):
    heard = []

    def hook(message):
        heard.append(message["msg_type"])
        if message["msg_type"] == "stream":
            client.manager.interrupt_kernel()

    reply = client.execute_interactive("x = 5\nprint('started', flush=True)\nwhile True: pass", output_hook=hook, timeout=60)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert run(client, "x")[1][0][1]["data"]["text/plain"] == "5"


def test_errors_are_coloured_and_denials_have_hints(client):
    reply, messages = run(client, "def f():\n    return 1 / 0\nf()")
    assert reply["ename"] == "ZeroDivisionError" and messages[-1][0] == "error"
    assert any("\x1b[31m" in line and "ZeroDivisionError" in line for line in reply["traceback"])
    reply, _ = run(client, "import socket")
    assert "not allowed" in "\n".join(reply["traceback"]) and "hint" in "\n".join(reply["traceback"])


def test_input_is_refused_clearly(client):
    reply, _ = run(client, "input('name? ')")
    assert reply["ename"] == "EOFError" and "nobody is there to type" in reply["evalue"]


def test_approvals_are_asked_at_the_notebook(client):
    asked = []

    def answer(said):
        def hook(message):
            asked.append(message["content"]["prompt"])
            client.input(said)
        return hook

    reply, _ = run(client, "import pickle", allow_stdin=True, stdin_hook=answer("not now"))
    assert "not now" in reply["evalue"] and "import pickle" in asked[0]
    assert run(client, "import pickle\npickle.HIGHEST_PROTOCOL", allow_stdin=True, stdin_hook=answer("y"))[0]["status"] == "ok"
    assert "nobody could be asked" in run(client, "import pickle", allow_stdin=False)[0]["evalue"]


def test_cell_that_kills_the_interpreter_costs_only_itself(client):
    run(client, "kept = [1, 2]")
    reply, _ = run(client, "import os\nos.abort()")
    assert reply["status"] == "error"
    assert "from before the cell" in "\n".join(reply["traceback"])
    assert run(client, "kept")[1][0][1]["data"]["text/plain"] == "[1, 2]"


def test_user_expressions_and_silent(client):
    reply, _ = run(client, "y = 2", user_expressions={"good": "y + 1", "bad": "1 / 0"})
    assert reply["user_expressions"]["good"]["data"] == {"text/plain": "3"}
    assert reply["user_expressions"]["bad"]["ename"] == "ZeroDivisionError"
    assert run(client, "print('unheard')", silent=True)[1] == []


def test_value_with_hostile_html_and_help_has_an_answer(client):
    code = ("class Odd:\n    __doc__ = 'doc \\x07'\n    def _repr_html_(self):\n        return '<![x[y]]>'\n"
            "    def __repr__(self):\n        return 'odd'\nodd = Odd()\nodd")
    reply, messages = run(client, code)
    assert reply["status"] == "ok" and messages[-1][1]["data"]["text/plain"] == "odd"
    text = client.inspect("odd", reply=True, timeout=60)["content"]["data"]["text/plain"]
    assert "doc \u2407" in text and "\x07" not in text


def test_install_refuses_what_makes_no_kernel(capsys, tmp_path):
    assert install.main(["install", "--prefix", str(tmp_path), "--policy", "no_such_preset"]) == 2
    assert "no_such_preset" in capsys.readouterr().err
    assert install.main(["install", "--prefix", str(tmp_path), "--name", "a/b"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_command_knows_the_kernel(tmp_path):
    import json
    import subprocess
    policy = tmp_path / "mine.json"
    policy.write_text('{"extends": "default", "limits": {"wall_s": 3}}')
    done = subprocess.run([sys.executable, "-m", "gloveport", "kernel", "install", "--prefix", str(tmp_path / "p"), "--policy",
                           str(policy)], capture_output=True, text=True, check=True)
    with open(os.path.join(done.stdout.strip(), "kernel.json"), encoding="utf-8") as file:
        made = json.load(file)
    assert made["env"] == {"GLOVEPORT_KERNEL_POLICY": str(policy)} and made["language"] == "python"
