#!/usr/bin/python3
"""`gloveport session` as a client meets it: the protocol, and what is left when a client vanishes."""

import json
import os
import select
import signal
import subprocess
import threading
import time
import unittest

from processes import alive, descendants, wait_until_gone
from programs import Case, GLOVEPORT, environment
from protocol_client import Client, RequestError

OPEN = {"extends": "open"}


def client():
    return Client([GLOVEPORT, "session"], env=environment())


class Protocol(unittest.TestCase):
    def setUp(self):
        self.client = client()
        self.addCleanup(self.client.close)

    def refused(self, op, **members):
        with self.assertRaises(RequestError) as caught:
            self.client.call(op, **members)
        return caught.exception

    def test_state_output_values_and_errors(self):
        with self.client.open("default") as session:
            self.assertTrue(session.layers["seccomp"]["active"])
            first = session.run("x = 20\nprint('hi')\nx + 1")
            self.assertEqual(("ok", 21, "21", "int", "hi\n"),
                             tuple(first[key] for key in ("outcome", "value", "repr", "type", "stdout")))
            self.assertEqual("hi\n", "".join(e["text"] for e in session.events if e["event"] == "stdout"))
            second = session.run("x\n1 / 0")
            self.assertEqual(("error", 1), (second["outcome"], second["cell"]))
            self.assertEqual(("ZeroDivisionError", 2, 1), tuple(second["error"][key] for key in ("type", "line", "cell")))
            self.assertEqual(20, session.run("x")["value"])

    def test_the_policy_check_refuses_and_its_twin_runs(self):
        with self.client.open("default") as session:
            denied = session.run("import subprocess")
            self.assertEqual("denied", denied["outcome"])
            self.assertEqual(("import", 1), tuple(denied["verdict"]["findings"][0][key] for key in ("rule", "line")))
            self.assertEqual("ok", session.run("import json")["outcome"])
            with self.assertRaises(RequestError) as caught:
                session.run("1", inspect=False)
            self.assertEqual("denied", caught.exception.code)

    def test_values_that_json_lacks_travel_both_ways(self):
        forms = [{"$bytes": "aGk="}, {"$int": str(2**80)}, {"$float": "nan"}, {"$float": "-inf"}, {"$tuple": [1, [2]]},
                 {"$set": [1]}, {"$complex": [1.5, -2.0]}, {"$date": "2024-02-29"}, {"$decimal": "1.10"},
                 {"$map": [[1, "a"]]}, {"$range": [0, 10, 2]}, 1.5, True, None, "é", {"a": [1]}]
        with self.client.open("open") as session:
            for form in forms:
                with self.subTest(form=form):
                    session.set("v", form)
                    self.assertEqual(form, session.get("v"))
                    self.assertEqual(form, session.run("v", inspect=False)["value"])
            with self.assertRaises(RequestError) as caught:
                session.get("nothing_of_that_name")
            self.assertEqual("not_found", caught.exception.code)

    def test_files_of_the_work_folder(self):
        with self.client.open("default") as session:
            session.put_file("in/a.csv", b"1,2\n")
            self.assertEqual("1,2\n", session.run("open('in/a.csv').read()")["value"])
            session.run("open('out.txt', 'w').write('done')")
            self.assertEqual({"in/a.csv": 4, "out.txt": 4}, session.list_files())
            self.assertEqual(b"done", session.get_file("out.txt"))
            session.remove_file("out.txt")
            self.assertEqual({"in/a.csv": 4}, session.list_files())
            for path in ("../etc/passwd", "/etc/passwd", "in/../../x"):
                with self.subTest(path=path), self.assertRaises(RequestError):
                    session.get_file(path)

    def test_tools_of_the_client(self):
        declared = [{"name": "add", "description": "a + b",
                     "parameters": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer", "default": 1}]}]
        calls = []

        def add(args):
            calls.append(args)
            return args["a"] + args["b"]
        with self.client.open("default", declared, {"add": add}) as session:
            self.assertEqual(5, session.run("add(2, b=3)")["value"])
            self.assertEqual(3, session.run("add(2)")["value"])
            self.assertEqual([{"a": 2, "b": 3}, {"a": 2, "b": 1}], calls)
            wrong = session.run("add('x')")
            self.assertEqual(("TypeError", 2), (wrong["error"]["type"], len(calls)))

    def test_calls_from_threads_of_a_cell_wait_together(self):
        # Each call is answered only when both have arrived.
        both = threading.Barrier(2)

        def answer(message):
            both.wait(timeout=60)
            self.client.send_raw(json.dumps({"op": "tool_reply", "call": message["call"], "value": message["args"]["n"]}))
        threads = []

        def on_event(message):
            if message["event"] == "tool_call":
                threads.append(threading.Thread(target=answer, args=(message,)))
                threads[-1].start()
        with self.client.open("default", [{"name": "meet", "parameters": [{"name": "n"}]}]) as session:
            exchange = session.start("from concurrent.futures import ThreadPoolExecutor\n"
                                     "with ThreadPoolExecutor(2) as pool:\n    numbers = list(pool.map(meet, [1, 2]))\nnumbers")
            reply = self.client.finish(exchange, on_event)
            self.assertEqual([1, 2], reply["result"]["value"])
        for thread in threads:
            thread.join()

    def test_a_cell_stops_in_time_though_the_client_does_not_answer(self):
        with self.client.open("default", [{"name": "ask", "parameters": []}]) as session:
            reply = self.client.finish(session.start("ask()", timeout_s=1))  # nobody answers the event
            self.assertEqual("timeout", reply["result"]["outcome"])
            self.assertEqual(2, session.run("1 + 1")["value"])

    def test_interrupt_is_a_keyboard_interrupt_and_state_is_kept(self):
        with self.client.open("default") as session:
            session.run("kept = 7")
            started = threading.Event()
            exchange = session.start("print('started', flush=True)\nwhile True: pass")
            threading.Thread(target=lambda: (started.wait(60), session.interrupt())).start()
            result = session.finish(exchange, on_event=lambda message: started.set())
            self.assertEqual("KeyboardInterrupt", result["error"]["type"])
            self.assertEqual(7, session.run("kept")["value"])

    def test_a_busy_session_does_not_hold_up_another(self):
        with self.client.open("default") as busy, self.client.open("default") as other:
            exchange = busy.start("print('started', flush=True)\nwhile True: pass")
            self.assertEqual(4, other.run("2 + 2")["value"])
            self.assertEqual("allow", self.client.call("check", code="1")["verdict"]["decision"])
            busy.close()
            self.assertNotEqual("ok", busy.finish(exchange)["outcome"])
            self.assertEqual(5, other.run("2 + 3")["value"])

    def test_seed_makes_runs_repeat(self):
        numbers = []
        for seed in (1, 1, 2):
            with self.client.open("default", seed=seed) as session:
                numbers.append(session.run("import random\nrandom.random()")["value"])
        self.assertEqual(numbers[0], numbers[1])
        self.assertNotEqual(numbers[0], numbers[2])

    def test_clock_and_seed_together_make_runs_repeat(self):
        code = "import time, uuid\nstr(uuid.uuid4()), list({'alpha', 'beta', 'gamma'}), int(time.time()) // 3600"
        seen = []
        for _ in range(2):
            with self.client.open("default", seed=3, clock="2020-02-29T12:00:00Z") as session:
                seen.append(session.run(code)["repr"])
        self.assertEqual(seen[0], seen[1])
        self.assertIn(str(1582977600 // 3600), seen[0])
        with self.assertRaises(RequestError) as caught:
            self.client.open("default", clock="noon")
        self.assertIn("clock", str(caught.exception))

    def test_questions_about_code_and_values(self):
        verdict = self.client.call("check", policy={"extends": "default", "imports": {"deny": ["json"]}},
                                   code="x = 1\nimport json")["verdict"]
        self.assertEqual(("deny", 2), (verdict["decision"], verdict["findings"][0]["line"]))
        self.assertEqual("allow", self.client.call("check", code="import json")["verdict"]["decision"])
        action = self.client.call("parse", text="Add.\n```python\n1 + 1\n```")["action"]
        self.assertEqual(("1 + 1", None, "Add."), tuple(action[key] for key in ("code", "error", "thought")))
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        self.assertEqual([], self.client.call("validate", value={"n": 2**70}, schema=schema)["errors"])
        errors = self.client.call("validate", value={"n": "x"}, schema=schema)["errors"]
        self.assertEqual(["/n"], [error["path"] for error in errors])
        self.assertEqual("invalid_argument", self.refused("validate", value=1, schema={"type": "nonsense"}).code)

    def test_malformed_lines_are_answered_and_the_connection_goes_on(self):
        for line, found in [('{"id":"m1","op":"open"', "m1"), ('{"id":"m2","op":"open","op":"open"}', "m2"),
                            ("nonsense", None), (b'{"id":"m3","op":"\xff"}', "m3"), ("[1]", None), ('{"id":"m4"}', "m4"),
                            ('{"id":"m5","op":"run","x":' + "[" * 100_000, "m5")]:
            with self.subTest(line=line[:40]):
                self.client.send_raw(line)
        self.assertEqual("allow", self.client.call("check", code="1")["verdict"]["decision"])
        replies = {(reply["id"], reply["error"]["code"]) for reply in self.client.unsolicited}
        self.assertEqual({(name, "invalid_argument") for name in ("m1", "m2", "m3", "m4", "m5", None)}, replies)

    def test_a_decision_that_nobody_waits_for_is_refused(self):
        self.assertEqual("not_found", self.refused("approve", approval=1, decision="allow").code)

    def test_an_editor_gets_completions_help_and_indents(self):
        tools = [{"name": "lookup", "description": "Finds a word.", "parameters": [{"name": "word", "type": "string"}]}]

        def ask(op, code, **members):
            return self.client.call(op, session=session.name, code=code, **members)
        with self.client.open("default", tools) as session:
            session.run("class Box:\n    width = 1\n    weight = 2\nbox = Box()")
            found = ask("complete", "x = box.w")
            self.assertEqual((["weight", "width"], 8, 9), (found["matches"], found["start"], found["end"]))
            self.assertIn("lookup", ask("complete", "loo(1)", cursor=3)["matches"])
            tool = ask("inspect", "lookup")
            self.assertTrue(tool["signature"].startswith("lookup(word"), tool)
            self.assertIn("Finds a word.", tool["doc"])
            self.assertEqual("1", ask("inspect", "box.width")["repr"])
            self.assertFalse(ask("inspect", "nothing_here")["found"])
            self.assertEqual([("complete", ""), ("incomplete", "    "), ("invalid", "")],
                             [(state["status"], state["indent"]) for state in
                              (ask("is_complete", code) for code in ("x = 1", "if x:", "x = = 1"))])
            self.assertEqual("invalid_argument", self.refused("complete", session=session.name, code="x", cursor=2).code)

    def test_an_object_that_hangs_holds_up_nobody(self):
        with self.client.open(OPEN) as session:
            session.run("class Slow:\n    def __dir__(self):\n        while True: pass\nslow, kept = Slow(), 7", inspect=False)
            self.assertEqual("deadline_exceeded", self.refused("complete", session=session.name, code="slow.").code)
            self.assertEqual(7, session.run("kept", inspect=False)["value"])
            session.run("import os\nclass End:\n    def __dir__(self): os._exit(0)\nend = End()", inspect=False)
            self.assertIn("variables are lost", self.refused("complete", session=session.name, code="end.").message)
            self.assertEqual(2, session.run("1 + 1", inspect=False)["value"])

    def test_sessions_end_after_their_time(self):
        with self.client.open(OPEN, time_to_live_s=1) as session:
            self.assertNotEqual("ok", session.run("while True: pass", inspect=False)["outcome"])
            refused = self.refused("run", session=session.name, code="1")
            self.assertEqual(("closed", True), (refused.code, "time to live" in refused.message))
        with self.client.open(OPEN, idle_timeout_s=60) as session:
            self.assertEqual(1, session.run("1", inspect=False)["value"])

    def test_checkpoints_and_rollbacks(self):
        with self.client.open({"extends": "open", "limits": {"wall_s": 30}}) as session:
            session.run("x = 1")
            name = self.client.call("checkpoint", session=session.name)["checkpoint"]
            session.run("x = 2")
            self.client.call("rollback", session=session.name, checkpoint=name)
            self.assertEqual(1, session.run("x")["value"])
            self.assertEqual("lost", session.run("import os; os._exit(3)")["state"])
            self.client.call("rollback", session=session.name)
            self.assertEqual(1, session.run("x")["value"])
            self.client.call("forget", session=session.name, checkpoint=name)
            self.assertEqual("not_found", self.refused("rollback", session=session.name).code)

    def test_branches_answer_to_their_own_names(self):
        numbers = [{"name": "add", "parameters": [{"name": "a"}, {"name": "b"}]}]
        with self.client.open("default", numbers, {"add": lambda args: args["a"] + args["b"]}) as session:
            session.run("x = 40")
            names = self.client.call("branch", session=session.name, count=2)["sessions"]
            self.assertEqual(2, len(set(names) - {session.name}))
            for number, name in enumerate(names):
                branch = session.like(name)
                result = branch.run(f"x += {number}\nprint('from', x)\nadd(x, 2)")
                self.assertEqual((42 + number, f"from {40 + number}\n"), (result["value"], result["stdout"]))
                self.assertEqual(["stdout", "tool_call"], sorted(event["event"] for event in branch.events))
                branch.close()
            self.assertEqual(40, session.run("x")["value"])
            refused = self.refused("branch", session=session.name, count=99)
            self.assertEqual("resource_exhausted", refused.code)

    def test_a_cell_that_crashes_costs_only_itself(self):
        with self.client.open({"extends": "open", "checkpoint": "each_cell"}) as session:
            session.run("x = 1")
            result = session.run("x = 2\nimport os; os._exit(1)")
            self.assertEqual(("crashed", "restored"), (result["outcome"], result["state"]))
            self.assertEqual(1, session.run("x")["value"])


class Endings(Case):
    """However it ends, no process is left."""

    def start(self):
        process = client()
        self.addCleanup(process.process.stdout.close)
        self.addCleanup(process.discard_input)
        self.addCleanup(process.process.kill)
        return process

    def run_for_ever(self, process):
        """A session with a cell that does not end; its processes and the exchange of the run."""
        session = process.open("default")
        started = threading.Event()
        exchange = session.start("print('started', flush=True)\nwhile True: pass", timeout_s=30)
        threading.Thread(target=self.drain, args=(process, exchange, started), daemon=True).start()
        self.assertTrue(started.wait(60))
        below = descendants(process.process.pid)
        self.assertNotEqual(set(), below)
        return below

    @staticmethod
    def drain(process, exchange, started):
        try:
            process.finish(exchange, lambda message: started.set())
        except Exception:  # noqa: BLE001 - the ends of these tests differ, none of them matters here
            pass

    def assertGone(self, process, below, timeout=20):
        process.process.wait(timeout)
        self.assertEqual(set(), wait_until_gone(below))

    def test_end_of_input_closes_all_sessions(self):
        process = self.start()
        for _ in range(3):
            process.open("default").run("1")
        below = descendants(process.process.pid)
        self.assertNotEqual(set(), alive(below))
        self.assertEqual(0, process.close())
        self.assertEqual(set(), wait_until_gone(below))

    def test_end_of_input_ends_a_cell_that_would_go_on(self):
        process = self.start()
        below = self.run_for_ever(process)
        process.process.stdin.close()
        self.assertGone(process, below)
        self.assertEqual(0, process.process.returncode)

    def test_a_client_that_vanishes_ends_everything(self):
        # The client is a program of its own, whose end closes both pipes at once.
        script = ("import subprocess, sys, os, signal\n"
                  "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
                  "p.stdin.write(b'{\"id\":1,\"op\":\"open\"}\\n')\n"
                  "p.stdin.write(b'{\"id\":2,\"op\":\"run\",\"session\":\"s1\",\"code\":\"print(1, flush=True)\\\\nwhile True: pass\"}\\n')\n"
                  "p.stdin.flush()\n"
                  "p.stdout.readline(), p.stdout.readline()\n"
                  "print(p.pid, flush=True)\n"
                  "signal.pause()\n")
        vanishing = subprocess.Popen(["/usr/bin/python3", "-c", script, GLOVEPORT, "session"], stdout=subprocess.PIPE,
                                     env=environment())
        self.addCleanup(vanishing.stdout.close)
        server = int(vanishing.stdout.readline())
        below = descendants(vanishing.pid)
        self.assertIn(server, {pid for pid, _ in below})
        self.assertGreater(len(below), 1)
        vanishing.kill()
        vanishing.wait()
        self.assertEqual(set(), wait_until_gone(below, timeout=5))

    def test_a_host_that_is_killed_leaves_nothing(self):
        process = self.start()
        below = self.run_for_ever(process)
        process.process.send_signal(signal.SIGKILL)
        self.assertGone(process, below)

    def test_a_host_that_is_terminated_leaves_nothing(self):
        process = self.start()
        below = self.run_for_ever(process)
        process.process.terminate()
        self.assertGone(process, below)

    def test_requests_by_a_pipe_that_ends_are_answered(self):
        lines = [{"id": 1, "op": "open", "policy": "default"},
                 {"id": 2, "op": "run", "session": "s1", "code": "6 * 7"}]
        done = subprocess.run([GLOVEPORT, "session"], input="\n".join(map(json.dumps, lines)), text=True,
                              capture_output=True, timeout=60, env=environment(), check=False)
        replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(42, replies[2]["result"]["value"])

    def test_a_client_that_does_not_read_does_not_stop_the_clock(self):
        process = subprocess.Popen([GLOVEPORT, "session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        os.chmod(self.folder, 0o777)
        for line in ({"id": 1, "op": "open", "options": {"workdir": self.folder}},
                     {"id": 2, "op": "run", "session": "s1", "timeout_s": 1,
                      "code": "import time\nwhile True:\n  print('x' * 100_000)\n  time.sleep(0.001)"},
                     {"id": 3, "op": "run", "session": "s1", "code": "open('after', 'w').close()"}):
            process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        # Nothing is read until the cell behind the endless one has left its mark.
        deadline = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.folder, "after")) and time.monotonic() < deadline:
            select.select([], [], [], 0.02)
        replies = {}
        for line in process.stdout:
            message = json.loads(line)
            if "ok" in message:
                replies[message["id"]] = message
            if 3 in replies:
                break
        self.assertEqual(["timeout", "ok"], [replies[n]["result"]["outcome"] for n in (2, 3)])
        process.stdin.close()
        self.assertEqual(0, process.wait(20))


if __name__ == "__main__":
    unittest.main()
