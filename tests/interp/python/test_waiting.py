"""Threads, asyncio, Ctrl-C, fork."""
import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import gloveport


def test_other_threads_go_on_while_a_cell_runs(runtime):
    """A cell waits for what another Python thread of this process does: a GIL that is kept would be a deadlock."""
    ready = threading.Event()

    def wait_for_thread():
        return ready.wait(20)

    with runtime.open(tools=[wait_for_thread]) as session:
        threading.Timer(0.1, ready.set).start()
        assert session.eval("wait_for_thread()") is True


def test_sessions_run_beside_each_other(runtime):
    barrier = threading.Barrier(3, timeout=30)

    def meet():
        barrier.wait()
        return True

    def use(results):
        with runtime.open(tools=[meet]) as session:
            results.append(session.eval("meet()"))

    results = []
    threads = [threading.Thread(target=use, args=(results,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 3


def test_asyncio_runs_many(runtime):
    async def main():
        async with await runtime.open_async() as one, await runtime.open_async() as two:
            results = await asyncio.gather(one.run_async("1"), two.run_async("2"), one.run_async("3"))
            await one.set_async("x", 5)
            return [result.value for result in results], await one.get_async("x"), await one.eval_async("x + 1")

    assert asyncio.run(main()) == ([1, 2, 3], 5, 6)


def test_every_call_that_waits_has_an_async_variant():
    for name in ("run", "eval", "set", "get", "put_file", "get_file", "list_files", "remove_file", "complete", "inspect",
                 "is_complete", "checkpoint", "rollback", "forget", "branch", "close"):
        assert asyncio.iscoroutinefunction(getattr(gloveport.Session, f"{name}_async")), name


def test_cancelling_stops_the_cell(runtime):
    async def main():
        with runtime.open() as session:
            task = asyncio.create_task(session.run_async("x = 1\nwhile True: pass"))
            while (await session_started(session)) is False:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await session.get_async("x")  # waits for the cell to end

    async def session_started(session):
        return started.is_set()

    started = threading.Event()
    original = gloveport._session._Events.__call__

    def heard(self, kind, data):
        if kind == "cell_start":
            threading.Timer(0.2, started.set).start()
        original(self, kind, data)

    gloveport._session._Events.__call__ = heard
    try:
        assert asyncio.run(main()) == 1
    finally:
        gloveport._session._Events.__call__ = original


def test_interrupt_from_another_thread(runtime):
    started = threading.Event()
    with runtime.open(tools={"started": started.set}) as session:
        def stop():
            started.wait(20)
            session.interrupt()
        thread = threading.Thread(target=stop)
        thread.start()
        result = session.run("started()\nwhile True: pass")
        thread.join()
        assert result.error.type == "KeyboardInterrupt"


def test_ctrl_c_stops_the_cell_and_keeps_the_session(runtime):
    def press():
        os.kill(os.getpid(), signal.SIGINT)

    with runtime.open(tools={"press": press}) as session:
        with pytest.raises(KeyboardInterrupt) as caught:
            session.run("x = 5\npress()\nwhile True: pass")
        assert caught.value.result.error.type == "KeyboardInterrupt"
        assert session["x"] == 5


def python(code):
    """Runs code in a fresh interpreter, for what should not happen to that of the tests."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                          check=False)


def test_fork_has_a_clear_error_and_harms_nobody():
    done = python("""
        import os, gloveport
        session = gloveport.Session()
        session.run("x = 7")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                session.run("x")
            except gloveport.ForkedProcess as error:
                code = 0 if "fork" in str(error) and "gloveport.Runtime" in error.hint else 2
            del session
            import gc; gc.collect()
            if gloveport.Session().eval("6 * 7") != 42:  # one of its own
                code = 3
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print(session.eval("x"))
    """)
    assert done.stdout.strip() == "7", done.stderr


def test_program_that_closes_nothing_ends():
    done = python("""
        import gloveport
        session = gloveport.Session(on_event=lambda kind, data: None, tools={"f": lambda: 1})
        print(session.eval("f()"))
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_session_that_is_forgotten_ends_its_process():
    done = python("""
        import gc, gloveport
        ended = []
        runtime = gloveport.Runtime(min_ready=0)
        session = runtime.open(on_event=lambda kind, data: ended.append(kind), tools={"f": lambda: 1})
        session.run("f()")
        del session
        gc.collect()
        print(ended[-1])
    """)
    assert done.stdout == "session_close\n", done.stderr


def test_module_needs_no_libpython():
    from gloveport import _native
    needed = subprocess.run(["ldd", _native.__file__], capture_output=True, text=True, check=True).stdout
    assert "libpython" not in needed and "libc.so" in needed


def test_stopping_a_queued_run_stops_that_one_only(runtime):
    async def main():
        with runtime.open(tools={"started": started.set, "wait": lambda: going.wait(20)}) as session:
            first = asyncio.create_task(session.run_async("started(); wait()"))
            await asyncio.to_thread(started.wait, 20)
            second = asyncio.create_task(session.run_async("x = 1\nwhile True: pass"))
            await asyncio.sleep(0.2)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            going.set()
            return (await first).value, await session.eval_async("1 + 1", timeout=20)

    started, going = threading.Event(), threading.Event()
    assert asyncio.run(main()) == (True, 2)


def test_letting_go_waits_for_tools_without_the_lock_that_they_need():
    done = python("""
        import threading, time, gloveport
        started = threading.Event()
        def slow():
            started.set()
            time.sleep(2)
        agent = gloveport.Agent(lambda messages: "<code>slow()</code>", tools={"slow": slow})
        agent.run("Wait.", timeout=1)
        session = gloveport.Session(tools={"slow": slow})
        session.run("slow()", timeout=0.5)
        del agent, session
        print("ended")
    """)
    assert done.stdout == "ended\n", done.stderr


def test_forks_of_what_runs_coroutines_and_agents():
    done = python("""
        import os, gloveport
        async def answer():
            return 42
        asked = iter(["<code>final_answer(await answer())</code>"] * 2)
        agent = gloveport.Agent(lambda messages: next(asked), tools=[answer])
        kept = agent._native("Go.", None, None, None)
        print(kept.run()["answer"], flush=True)
        child = os.fork()
        if child == 0:
            del kept, agent
            with gloveport.Session(tools=[answer]) as session:
                os._exit(0 if session.eval("await answer()", timeout=20) == 42 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr


def test_tool_that_would_wait_for_its_own_cell_is_told_so(runtime):
    def calls(what):
        return {"run": lambda: session.run("1"), "get": lambda: session["x"], "put_file": lambda: session.put_file("a", "b"),
                "branch": session.branch, "close": session.close}[what]()

    with runtime.open(tools=[calls]) as session, runtime.open(tools={"other": lambda: session.run("1 + 1").value}) as outer:
        for what in ("run", "get", "put_file", "branch", "close"):
            error = session.run(f"calls({what!r})").error
            assert error.type == "ToolError" and "WouldDeadlock" in error.message, what
        assert outer.run("other()").value == 2  # another session's cell is none of its own


def test_approval_that_would_wait_for_its_own_cell_is_told_so(runtime):
    told = []

    def decide(request):
        try:
            session.run("1")
        except gloveport.WouldDeadlock as error:
            told.append(error)
        return True

    with runtime.open({"extends": "default", "tools": {"default": "ask"}}, tools={"f": lambda: 1}, approve=decide) as session:
        assert session.run("f()").value == 1
    assert told[0].what == "Session.run"


def test_blocking_call_on_the_loop_of_a_pending_run_is_refused(runtime):
    async def answer():
        started.set()
        await going.wait()
        return 42

    async def main():
        nonlocal started, going
        started, going = asyncio.Event(), asyncio.Event()
        with runtime.open(tools=[answer]) as session, session.branch()[0] as copy, runtime.open() as other:
            pending = asyncio.create_task(session.run_async("await answer()"))
            await started.wait()
            for call in (lambda: session.run("1"), lambda: session["x"], lambda: copy.run("await answer()")):
                with pytest.raises(gloveport.WouldDeadlock, match="_async"):
                    call()
            assert other.run("1 + 1").value == 2  # has no tools on this loop
            going.set()
            assert (await pending).value == 42
            assert (await asyncio.to_thread(session.run, "await answer()")).value == 42  # on another thread
            return session.run("1 + 1").value  # and when nothing is pending

    started = going = None
    assert asyncio.run(main()) == 2
