"""Sessions: cells, variables, files, questions, copies, ends."""
import threading

import pytest

import gloveport


def test_cell_returns_value_output_and_error(session):
    result = session.run("import sys\nprint('out'); print('err', file=sys.stderr)\n[1, 2]")
    assert (result.ok, result.value, result.repr, result.type) == (True, [1, 2], "[1, 2]", "list")
    assert (result.stdout, result.stderr) == ("out\n", "err\n")
    failed = session.run("x = 1\nx / 0")
    assert (failed.outcome, failed.error.type, failed.error.line, failed.error.cell) == ("error", "ZeroDivisionError", 2, 1)


def test_state_is_kept_over_cells(session):
    session.run("total = 41")
    assert session.run("total + 1").value == 42


def test_denied_cell_has_findings(session):
    result = session.run("import socket")
    assert result.outcome == "denied"
    assert result.verdict["findings"][0]["rule"] == "import"
    assert session.run("import json; json.loads('1')").value == 1


def test_raise_for_outcome(session):
    assert session.run("1").raise_for_outcome().value == 1
    with pytest.raises(gloveport.CellError) as caught:
        session.eval("{}['missing']")
    assert caught.value.result.error.type == "KeyError"
    assert caught.value.where == "cell 1, line 1"


def test_timeout_is_an_outcome(session):
    result = session.run("while True: pass", timeout=0.3)
    assert result.outcome == "timeout"
    assert result.limit["limit"] == "wall"


def test_final_answer(session):
    answer = session.run("final_answer({'a': 1}, 'because')").final_answer
    assert (answer.value, answer.explanation) == ({"a": 1}, "because")


def test_killed_interpreter_is_replaced(runtime):
    with runtime.open(gloveport.Policy("open", checkpoint="each_cell")) as session:
        session.run("kept = 5")
        result = session.run("import os; os.abort()")
        assert (result.outcome, result.state) == ("crashed", "restored")
        assert session["kept"] == 5


def test_variables_go_in_and_come_out(session):
    session["name"] = {"a": (1, 2)}
    assert session.run("name['a']").value == (1, 2)
    session.run("result = {'b': b'bytes'}")
    assert session["result"] == {"b": b"bytes"}
    with pytest.raises(gloveport.NotFound) as caught:
        session.get("missing")
    assert (caught.value.what, caught.value.where) == ("Session.get", "missing")


def test_variable_that_cannot_cross_is_a_type_error(session):
    with pytest.raises(TypeError, match="cannot cross to the session"):
        session["lock"] = object()


def test_files(session, tmp_path):
    source = tmp_path / "b.bin"
    source.write_bytes(b"\0\1")
    session.put_file("folder/a.txt", "text")
    session.put_file("b.bin", source)
    session.run("open('c.txt', 'w').write('from the cell')")
    assert session.list_files() == {"folder/a.txt": 4, "b.bin": 2, "c.txt": 13}
    assert session.get_file("c.txt") == b"from the cell"
    session.remove_file("b.bin")
    assert "b.bin" not in session.list_files()
    for path in ("../out", "/etc/passwd"):
        with pytest.raises(gloveport.InvalidArgument):
            session.get_file(path)


def test_workdir_is_a_folder_of_the_host(runtime, tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "in.txt").write_text("in")
    with runtime.open(workdir=tmp_path) as session:
        assert session.eval("open('in.txt').read()") == "in"


def test_questions_of_an_editor(session):
    session.run("def price(amount: int) -> float:\n    'What it costs.'\n    return 1.5 * amount")
    assert session.complete("pri").matches[:2] == ["price", "print"]
    info = session.inspect("price(3)", 2)
    assert (info.found, info.signature, info.doc) == (True, "price(amount: int) -> float", "What it costs.")
    assert session.is_complete("1 +")[0] == "invalid"
    assert session.is_complete("if True:") == ("incomplete", "    ")
    assert session.is_complete("1")[0] == "complete"


def test_checkpoint_rollback_forget(session):
    session.run("x = 1")
    name = session.checkpoint()
    session.run("x = 2")
    session.rollback(name)
    assert session["x"] == 1
    session.forget(name)
    with pytest.raises(gloveport.NotFound):
        session.rollback(name)


def test_branches_go_on_each_on_its_own(session):
    session.run("x = 1")
    left, right = session.branch(2)
    with left, right:
        left.run("x += 1")
        assert (left["x"], right["x"], session["x"]) == (2, 1, 1)


def test_events_tell_what_happens_as_it_happens(runtime):
    heard = []
    with runtime.open(on_event=lambda kind, data: heard.append((kind, data)), tools={"f": lambda x: x + 1}) as session:
        session.run("print('ü' * 3)\nf(1)")
        during = []
        session.run("print('second')", on_event=lambda kind, data: during.append((kind, data)))
        session.run("print('third')")
    kinds = [kind for kind, _ in heard]
    assert kinds[0] == "session_open" and kinds[-1] == "session_close"
    assert [data["text"] for kind, data in heard if kind == "stdout"] == ["üüü\n", "second\n", "third\n"]
    assert next(data for kind, data in heard if kind == "tool_start")["args"] == {"x": 1}
    assert [data["text"] for kind, data in during if kind == "stdout"] == ["second\n"]


def test_each_of_several_runs_hears_its_own_cell(session):
    import asyncio

    async def main():
        heard = [[], []]
        await asyncio.gather(*[session.run_async(f"print({i})", on_event=lambda kind, data, i=i: heard[i].append((kind, data)))
                               for i in range(2)])
        return [[data["text"] for kind, data in events if kind == "stdout"] for events in heard]

    assert asyncio.run(main()) == [["0\n"], ["1\n"]]


def test_callback_that_raises_changes_nothing(runtime, monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", told.append)

    def bad(kind, data):
        raise RuntimeError("no")

    with runtime.open(on_event=bad) as session:
        assert session.run("print(1); 2").value == 2
    assert told and isinstance(told[0].exc_value, RuntimeError)


def test_sessions_close_themselves(runtime):
    with runtime.open(time_to_live_s=0.5) as session:
        session.run("while True: pass")
        with pytest.raises(gloveport.Closed, match="time to live"):
            session.run("1")
    with runtime.open(idle_timeout_s=0.1) as session, pytest.raises(gloveport.Closed, match="idle"):
        for _ in range(20):  # a call sets the clock back
            session.run("1")
            threading.Event().wait(1)


def test_closed_session_says_so(runtime):
    session = runtime.open()
    session.close()
    session.close()
    with pytest.raises(gloveport.Closed):
        session.run("1")


def test_closed_runtime_closes_its_sessions():
    runtime = gloveport.Runtime()
    session = runtime.open()
    runtime.close()
    with pytest.raises(gloveport.Closed):
        session.run("1")
    with pytest.raises(gloveport.Closed):
        runtime.open()


def test_seed_repeats_random_numbers(runtime):
    def draw():
        with runtime.open(seed=7) as session:
            return session.eval("import random; random.random()")

    assert draw() == draw()


def test_check_validate_and_layers(runtime):
    assert runtime.check("import json")["decision"] == "allow"
    assert runtime.check("import ctypes")["decision"] == "deny"
    assert runtime.validate({"a": 1}, {"type": "object"}) == []
    (path, message), = runtime.validate({"a": 1}, {"properties": {"a": {"type": "string"}}})
    assert path == "/a" and "string" in message
    assert runtime.probe_layers()["seccomp"]["active"]


def test_audit_log_is_written_sealed_and_summarised(tmp_path):
    path = tmp_path / "run.jsonl"
    with gloveport.Runtime(audit=path) as runtime, runtime.open() as session:
        session.run("sum(range(10))")
        head = runtime.audit_head
    check = gloveport.audit_check(str(path))
    assert check["end"] == "sealed" and check["holds"] and len(head) == 64
    assert gloveport.audit_summary(str(path))["cells"] == {"ok": 1}
    path.write_bytes(path.read_bytes().replace(b"range(10)", b"range(11)"))
    assert not gloveport.audit_check(str(path))["holds"]


def test_files_from_any_buffer(session):
    session.put_file("strided", memoryview(b"abcdef")[::2])
    assert session.get_file("strided") == b"ace"
    with pytest.raises(BufferError):
        session._native.put_file("strided", memoryview(b"abcdef")[::2])


def test_output_and_displays_are_heard_in_order(session):
    def heard(code, *kinds):
        told = []

        def hear(kind, data):
            if kind in kinds:
                told.append(data["text"] if "text" in data else f"<{data['bundle'].get('text/plain', 'clear')}>")

        return session.run(code, on_event=hear), "".join(told)

    code = ("import sys\nfor i in range(80):\n    print('a', i)\n    display(i)\n    print('b', i, end=' ')\n"
            "    print('e', i, file=sys.stderr)\n    display(-i)")
    assert heard(code, "stdout", "display")[1] == "".join(f"a {i}\n<{i}>b {i} <{-i}>" for i in range(80))
    assert heard(code, "stderr", "display")[1] == "".join(f"<{i}>e {i}\n<{-i}>" for i in range(80))
    code = "print('a')\nfor i in range(1000):\n    clear_output(wait=True)\n    display(i)\nprint('z')"
    result, told = heard(code, "stdout", "display")
    assert told == "a\n" + "".join(f"<clear><{i}>" for i in range(1000)) + "z\n"
    assert result.displays == [{"text/plain": "999"}] and result.stdout == "a\nz\n"  # what is there in the end
