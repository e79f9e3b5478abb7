"""Questions to the person at the notebook: buttons where the page has them, else input()."""
from __future__ import annotations

import contextlib
import html
import queue
import threading
import time
import uuid
from typing import Any, Callable, Iterator, Optional

from ._approval import ApprovalDecision, ApprovalRequest
from ._rich import publish, show_page

_VIEW_S = 8.0  # in which a page that has buttons shows them
_no_view = False  # once it was waited for in vain


def answer(request: ApprovalRequest, answers: queue.SimpleQueue, read: Optional[Callable] = None) -> None:
    """On the notebook's thread, which runs the cell: only there input() reaches the page. ``read`` is used instead of it,
    and of buttons."""
    try:
        decision = _by_input(request, read) if read else _by_buttons(request) or _by_input(request, input)
    except KeyboardInterrupt:
        answers.put(_denied("interrupted"))
        raise
    answers.put(decision)


def _denied(reason: str) -> ApprovalDecision:
    return ApprovalDecision(False, reason, by="notebook")


def question_of(request: ApprovalRequest) -> str:
    what = request.code if request.kind == "cell" else f"{request.tool}({request.args!r})"
    return _plain(f"{request.reason}\n    {what}")


def _plain(text: str) -> str:
    """The text with all that could hide or reorder some of it shown as an escape: control characters, colours, marks of
    direction."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _by_input(request: ApprovalRequest, read: Callable) -> ApprovalDecision:
    text = f"{question_of(request)}\nAllow it? y(es), a(lways: {_plain(request.grant)}), or a reason why not: "
    try:
        said = read(text).strip()
    except (EOFError, RuntimeError) as error:  # nobody can be asked here
        return _denied(f"nobody could be asked ({type(error).__name__})")
    allowed = said.lower() in ("y", "yes", "a", "always")
    return ApprovalDecision(allowed, "" if allowed else said, always=said.lower() in ("a", "always"), by="notebook")


# ---- buttons ----

def _by_buttons(request: ApprovalRequest) -> Optional[ApprovalDecision]:
    """None where there are none: no ipywidgets, a kernel that cannot hear them while a cell runs, a page that shows none."""
    global _no_view
    kernel = _listening_kernel()
    if kernel is None or _no_view:
        return None
    try:
        form = _Form(request)
    except ImportError:
        return None
    with form, _heard_during_cells(kernel, form.comms()):
        form.show()
        waits_until = time.monotonic() + _VIEW_S
        while not request.withdrawn.is_set():
            with contextlib.suppress(queue.Empty):
                return form.finish(form.answers.get(timeout=0.2))
            if not form.seen.is_set() and time.monotonic() > waits_until:
                _no_view = True
                form.finish(None)
                return None
        return form.finish(_denied("the question was withdrawn"))


class _Form:
    """The question with its buttons: ipywidgets, for as long as it is open."""

    def __init__(self, request: ApprovalRequest):
        import ipywidgets
        self.answers: queue.SimpleQueue = queue.SimpleQueue()
        self.seen = threading.Event()  # the page shows it
        self._request = request
        self._name = uuid.uuid4().hex
        allow = ipywidgets.Button(description="Allow", button_style="success")
        always = ipywidgets.Button(description="Always allow", tooltip=_plain(request.grant))
        deny = ipywidgets.Button(description="Deny", button_style="danger")
        self._why = ipywidgets.Text(placeholder="why not, for the model to read", layout={"width": "24em"})
        self._box = ipywidgets.VBox([ipywidgets.HTML(self._text("")), ipywidgets.HBox([allow, always, deny, self._why])])
        self._box._view_count = 0  # makes the page count its views
        self._box.observe(lambda change: self.seen.set() if change["new"] else None, "_view_count")
        allow.on_click(lambda button: self.answers.put(ApprovalDecision(True, by="notebook")))
        always.on_click(lambda button: self.answers.put(ApprovalDecision(True, always=True, by="notebook")))
        deny.on_click(lambda button: self.answers.put(_denied(self._why.value)))

    def _text(self, ending: str) -> str:
        grant = f"<div>Always: {html.escape(_plain(self._request.grant))}</div>" if not ending and self._request.grant else ""
        return f"<pre style='margin:0;padding:0'>{html.escape(question_of(self._request))}</pre>{grant}{ending}"

    def _widgets(self) -> Iterator[Any]:
        yield self._box
        for child in self._box.children:
            yield child
            yield from getattr(child, "children", ())

    def comms(self) -> dict:
        return {widget.comm.comm_id: widget.comm for widget in self._widgets()}

    def show(self) -> None:
        data = {**self._box._repr_mimebundle_(), "text/html": self._text(""), "text/plain": question_of(self._request)}
        publish("display_data", {"data": data, "metadata": {}, "transient": {"display_id": self._name}})

    def finish(self, decision: Optional[ApprovalDecision]) -> Optional[ApprovalDecision]:
        """What was decided takes the place of the buttons."""
        if decision is None:
            word = "the answer is asked for below"
        elif decision.allowed:
            word = "always allowed" if decision.always else "allowed"
        else:
            word = f"denied: {decision.reason}" if decision.reason else "denied"
        show_page(self._text(f"<b>{html.escape(_plain(word))}</b>"), f"{question_of(self._request)}\n{word}", self._name, update=True)
        return decision

    def __enter__(self) -> _Form:
        return self

    def __exit__(self, *exception: object) -> None:
        for widget in list(self._widgets()):
            widget.close()


def _listening_kernel() -> Any:
    """The kernel, where a thread of its own receives what the page sends (ipykernel 7) and a person may be there."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    kernel = getattr(get_ipython(), "kernel", None)
    listens = getattr(kernel, "shell_channel_thread", None) is not None and hasattr(kernel, "shell_channel_thread_main")
    return kernel if listens and getattr(kernel, "_allow_stdin", False) else None


@contextlib.contextmanager
def _heard_during_cells(kernel: Any, comms: dict) -> Iterator[None]:
    """Messages of these comms are handled where they come in, on the kernel's receiving thread. Elsewhere they would wait for
    the end of the cell that waits for them."""
    def receive(frames: list) -> Any:
        try:
            if _take(kernel, comms, frames):
                return None
        except Exception:  # malformed, or not for us: the kernel says what is wrong with it
            kernel.log.debug("not a message of a question", exc_info=True)
        return kernel.shell_channel_thread_main(frames)

    def use(callback: Callable) -> None:
        done = threading.Event()

        def change() -> None:  # on the thread that receives
            kernel.shell_stream.on_recv(callback, copy=False)
            done.set()

        kernel.shell_channel_thread.io_loop.add_callback(change)
        done.wait(10)

    use(receive)
    try:
        yield
    finally:
        use(kernel.shell_channel_thread_main)


def _take(kernel: Any, comms: dict, frames: list) -> bool:
    session = kernel.session
    _, parts = session.feed_identities(frames, copy=False)
    message = session.deserialize(parts, content=False, copy=False)
    if message["header"]["msg_type"] != "comm_msg":
        return False
    comm = comms.get(session.unpack(message["content"]).get("comm_id"))
    if comm is None:
        return False
    message = session.deserialize(parts, content=True, copy=False)
    for state in ("busy", "idle"):  # the page sends the next message when this one is done
        if state == "idle":
            comm.handle_msg(message)
        session.send(kernel.iopub_socket, "status", {"execution_state": state}, parent=message, ident=kernel._topic("status"))
    return True
