"""Approvals at the notebook by buttons: a kernel of Jupyter's, and a client that does what a page does."""
import os
import queue
import time

import pytest

pytest.importorskip("ipykernel")
jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipywidgets")

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
%load_ext gloveport
import gloveport._questions
def send(to: str):
    return f"sent to {to}"
with open("ask.json", "w") as file:
    file.write('{"extends": "default", "tools": {"rules": [{"tool": "send", "effect": "ask"}]}}')
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    from ipykernel.kernelspec import install
    prefix = tmp_path_factory.mktemp("prefix")
    install(prefix=str(prefix))
    before = dict(os.environ)
    os.environ.update(JUPYTER_PATH=str(prefix / "share" / "jupyter"), JUPYTER_RUNTIME_DIR=str(prefix / "runtime"),
                      IPYTHONDIR=str(prefix / "ipython"))
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3", startup_timeout=60, cwd=str(prefix))
    made = Page(manager, client)
    made.run(SETUP)
    yield made
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    os.environ.clear()
    os.environ.update(before)


class Page:
    """Runs cells, and knows the widgets that it was told of."""

    def __init__(self, manager, client):
        self.manager = manager
        self.client = client
        self.widgets = {}  # state by comm_id
        self.closed = set()

    def say(self, comm, data, subshell=None):
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        if subshell:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)

    def find(self, **state):
        return next(comm for comm, has in self.widgets.items()
                    if comm not in self.closed and all(has.get(key) == value for key, value in state.items()))

    def show(self, box, subshell=None):
        assert self.widgets[box]["_view_count"] == 0
        self.say(box, {"method": "update", "state": {"_view_count": 1}, "buffer_paths": []}, subshell)

    def click(self, button, subshell=None):
        self.say(self.find(description=button), {"method": "custom", "content": {"event": "click"}}, subshell)

    def run(self, code, on_buttons=None, on_input=None, allow_stdin=True):
        """The outputs of a cell as (kind, content), and the kernel's reply."""
        sent = self.client.execute(code, allow_stdin=allow_stdin)
        outputs, until = [], time.monotonic() + 60
        while time.monotonic() < until:
            try:
                on_input(self.client.get_stdin_msg(timeout=0)["content"])
            except (queue.Empty, TypeError):
                pass
            try:
                message = self.client.get_iopub_msg(timeout=0.1)
            except queue.Empty:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "comm_open":
                self.widgets[content["comm_id"]] = dict(content["data"].get("state", {}))
            elif kind == "comm_msg" and content["data"].get("method") == "update":
                self.widgets[content["comm_id"]].update(content["data"]["state"])
            elif kind == "comm_close":
                self.closed.add(content["comm_id"])
            elif kind == "display_data" and WIDGET in content["data"] and on_buttons:
                on_buttons(content["data"][WIDGET]["model_id"])
            if message["parent_header"].get("msg_id") == sent:
                if kind == "status" and content["execution_state"] == "idle":
                    return outputs, self.client.get_shell_msg(timeout=60)
                outputs.append((kind, content))
        raise TimeoutError(code)


def texts(outputs):
    return "".join(content.get("text", "") + content.get("data", {}).get("text/plain", "") for _, content in outputs)


CELL = "%%glove --policy ask.json --tools send -o sent\nsend('a<b>')"


def subshell_of(page):
    page.client.control_channel.send(page.client.session.msg("create_subshell_request"))
    return page.client.get_control_msg(timeout=60)["content"]["subshell_id"]


@pytest.fixture(autouse=True)
def fresh_session(page):
    page.run("%glove_policy default\n%glove_policy ask.json")


@pytest.mark.parametrize("own_subshell", [False, True], ids=["main_shell", "subshell"])
def test_buttons_answer_while_the_cell_runs(page, own_subshell):
    subshell = subshell_of(page) if own_subshell else None  # as newer pages have it for widgets

    def allow(box):
        page.show(box, subshell)
        page.click("Allow", subshell)

    outputs, _ = page.run(CELL, allow)
    assert "'sent to a<b>'" in texts(outputs)
    shown, = [content["data"] for kind, content in outputs if kind == "update_display_data"]
    assert "<b>allowed</b>" in shown["text/html"] and "a&lt;b&gt;" in shown["text/html"]
    assert not [comm for comm, state in page.widgets.items() if "description" in state and comm not in page.closed]

    def deny(box):
        page.show(box, subshell)
        why = page.find(placeholder="why not, for the model to read")
        page.say(why, {"method": "update", "state": {"value": "not <this> one"}, "buffer_paths": []}, subshell)
        page.click("Deny", subshell)

    outputs, _ = page.run(CELL, deny)
    assert "PermissionError" in texts(outputs) and "not <this> one" in texts(outputs)
    assert page.run("6 * 7")[0][-1][1]["data"]["text/plain"] == "42"  # the kernel takes messages as before


def test_always_is_asked_once(page):
    asked = []

    def always(box):
        asked.append(box)
        page.show(box)
        page.click("Always allow")

    outputs, _ = page.run("%%glove --policy ask.json --tools send\nsend('a'), send('a')", always)
    assert "('sent to a', 'sent to a')" in texts(outputs) and len(asked) == 1


def test_agent_asks_by_buttons(page):
    def allow(box):
        page.show(box)
        page.click("Allow")

    page.run("model = lambda messages: '<code>final_answer(send(\"b\"))</code>'")
    outputs, _ = page.run("%agent --model model --policy ask.json --tools send -o answer Send it.", allow)
    pages = [content["data"]["text/html"] for kind, content in outputs if kind == "update_display_data"]
    assert "sent to b" in pages[-1] and "allowed by a person" in pages[-1]
    assert page.run("answer")[0][-1][1]["data"]["text/plain"] == "'sent to b'"


def test_interrupt_is_a_denial_and_stops_the_cell(page):
    def interrupt(box):
        page.show(box)
        page.manager.interrupt_kernel()

    code = "try:\n    send('a')\nexcept PermissionError:\n    print('denied')\nwhile True: pass"
    outputs, _ = page.run(f"%%glove --policy ask.json --tools send\n{code}", interrupt)
    assert "KeyboardInterrupt" in texts(outputs)


def test_question_that_is_too_late_goes_away(page):
    policy = '{"extends": "default", "limits": {"approval_s": 1}, "tools": {"rules": [{"tool": "send", "effect": "ask"}]}}'
    page.run(f"with open('late.json', 'w') as file:\n    file.write('{policy}')")
    outputs, _ = page.run("%%glove --policy late.json --tools send\nsend('a')", page.show)
    assert "PermissionError" in texts(outputs) and "withdrawn" in texts(outputs)


def test_page_without_widgets_is_asked_by_input(page):
    page.run("gloveport._questions._VIEW_S = 0.1")
    asked = []

    def yes(content):
        asked.append(content["prompt"])
        page.client.input("y")

    for _ in range(2):  # the second time at once
        outputs, _ = page.run(CELL, None, yes)
        assert "'sent to a<b>'" in texts(outputs)
    assert len(asked) == 2 and "send({'to': 'a<b>'})" in asked[0]
    outputs, _ = page.run(CELL, allow_stdin=False)
    assert "nobody could be asked" in texts(outputs)
