#!/usr/bin/python3
"""`gloveport exec`, `doctor` and the command line: output, messages and exit codes."""

import base64
import json
import os
import pty
import re
import signal
import struct
import subprocess
import unittest
import zlib

from processes import descendants, wait_until_gone
from programs import (CONFINEMENT, DENIED, FAILED, GLOVEPORT, LIMIT, OK, USAGE, Case, environment, gloveport)


def exec_code(code, *arguments, **options):
    return gloveport("exec", "-c", code, *arguments, **options)


def on_terminal(*arguments, cwd=None, **changes):
    """What a command writes to a terminal that is its stdout and stderr."""
    master, slave = pty.openpty()
    process = subprocess.Popen([GLOVEPORT, *arguments], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, cwd=cwd,
                               env=environment(**changes))
    os.close(slave)
    written = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the other end is closed
            break
        written += piece
    os.close(master)
    process.wait(30)
    return written


class Exec(Case):
    def test_output_then_value_as_in_a_notebook(self):
        done = exec_code("print('hi')\n1 + 1")
        self.assertExit(OK, done)
        self.assertEqual(("hi\n2\n", ""), (done.stdout, done.stderr))

    def test_nothing_where_there_is_no_value(self):
        for code in ("x = 1", "None", "print('', end='')", ""):
            with self.subTest(code=code):
                done = exec_code(code)
                self.assertExit(OK, done)
                self.assertEqual("", done.stdout)

    def test_code_from_a_file_and_from_standard_input(self):
        self.assertEqual("'file'\n", gloveport("exec", self.write("a.py", "'file'")).stdout)
        self.assertEqual("'stdin'\n", gloveport("exec", "-", stdin="'stdin'").stdout)

    def test_the_streams_of_the_cell_are_those_of_the_command(self):
        done = exec_code("import sys\nprint('out')\nprint('err', file=sys.stderr)")
        self.assertEqual(("out\n", "err\n"), (done.stdout, done.stderr))

    def test_an_error_is_told_with_its_line_and_what_was_printed_stays(self):
        done = exec_code("print('before')\ndef f():\n    raise ValueError('bad')\nf()")
        self.assertExit(FAILED, done)
        self.assertEqual("before\n", done.stdout)
        self.assertRegex(done.stderr, r"(?s)Traceback.*line 3.*ValueError: bad")

    def test_a_refusal_names_rule_line_and_hint_and_nothing_ran(self):
        done = exec_code("print('before')\nimport socket")
        self.assertExit(DENIED, done)
        self.assertEqual("", done.stdout)
        self.assertRegex(done.stderr, r"(?s)line 2, column 8: \[import\].*socket.*hint: ")
        self.assertExit(OK, exec_code("print('before')\nimport json"))

    def test_limits_end_the_code_and_say_which(self):
        for code, arguments, word in [("while True: pass", ["--timeout", "1"], "wall time: 1 s"),
                                      ("x = bytearray(2**31)", [], "memory: 512 MiB")]:
            with self.subTest(code=code):
                done = exec_code(code, *arguments)
                self.assertExit(LIMIT, done)
                self.assertIn(word, done.stderr)
        self.assertExit(OK, exec_code("x = bytearray(2**20)", "--timeout", "20"))

    def test_output_beyond_the_limit_is_cut_and_reported(self):
        policy = self.write("small.json", '{"extends": "default", "limits": {"output_kib": 1}}')
        done = exec_code("print('x' * 5000)", "--policy", policy)
        self.assertExit(OK, done)
        self.assertLessEqual(len(done.stdout), 1025)
        self.assertIn("stdout was longer than the limit", done.stderr)

    def test_json_is_one_object_and_nothing_else(self):
        done = exec_code("print('hi')\n1 / 0", "--json")
        self.assertExit(FAILED, done)
        result = json.loads(done.stdout)
        self.assertEqual("", done.stderr)
        self.assertEqual(("error", "hi\n", "ZeroDivisionError", 2),
                         (result["outcome"], result["stdout"], result["error"]["type"], result["error"]["line"]))
        self.assertGreater(result["usage"]["max_rss_bytes"], 0)

    def test_json_of_what_could_not_start(self):
        done = exec_code("1", "--json", "--policy", "nonsense")
        self.assertExit(USAGE, done)
        self.assertEqual("not_found", json.loads(done.stdout)["error"]["code"])

    def test_a_work_folder_of_the_host_is_written_through(self):
        os.chmod(self.folder, 0o777)
        self.write("in.txt", "from outside")
        done = exec_code("text = open('in.txt').read()\nopen('out.txt', 'w').write(text.upper())", "--workdir", self.folder)
        self.assertExit(OK, done)
        with open(os.path.join(self.folder, "out.txt"), encoding="utf-8") as file:
            self.assertEqual("FROM OUTSIDE", file.read())

    def test_a_final_answer_is_printed_as_json(self):
        done = exec_code("final_answer({'a': (1, 2.5)}, 'because')")
        self.assertExit(OK, done)
        self.assertEqual({"a": {"$tuple": [1, 2.5]}}, json.loads(done.stdout))
        self.assertIn("because", done.stderr)

    def test_a_layer_that_is_missing_stops_everything_before_it_starts(self):
        layers = json.loads(gloveport("doctor", "--json").stdout)["layers"]
        missing = [name for name, layer in layers.items() if not layer["active"]]
        if not missing:
            self.skipTest("every layer holds here")
        policy = self.write("strict.json", json.dumps(
            {"extends": "default", "layers": {"require": ["seccomp", "own_root", missing[0]]}}))
        done = exec_code("print('ran')", "--policy", policy)
        self.assertExit(CONFINEMENT, done)
        self.assertEqual("", done.stdout)
        self.assertIn(missing[0], done.stderr)

    def test_an_interrupt_stops_the_code(self):
        process = subprocess.Popen([GLOVEPORT, "exec", "-c", "print('started', flush=True)\nwhile True: pass"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.assertEqual("started\n", process.stdout.readline())
        below = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(FAILED, process.returncode)
        self.assertIn("KeyboardInterrupt", err)
        self.assertEqual(set(), wait_until_gone(below))

    def test_a_reader_that_has_enough_ends_the_code(self):
        process = subprocess.Popen([GLOVEPORT, "exec", "-c", "while True: print('y')"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=environment())
        self.assertEqual(b"y\n", process.stdout.readline())
        process.stdout.close()
        process.wait(20)  # far below the 30 s of the policy

    def test_what_the_code_writes_cannot_drive_a_terminal(self):
        code = "print('a\\x1b[31mred\\x07')"
        self.assertEqual("a\x1b[31mred\x07\n", exec_code(code).stdout)  # data for a program stays as it is
        self.assertEqual(b"a\\x1b[31mred\\x07\r\n", on_terminal("exec", "-c", code))

    def test_colours_on_a_terminal_unless_they_are_not_wanted(self):
        arguments = ("exec", "-c", "import socket")
        self.assertIn(b"\x1b[31m", on_terminal(*arguments, TERM="xterm", NO_COLOR=""))
        self.assertNotIn(b"\x1b", on_terminal(*arguments, TERM="xterm", NO_COLOR="1"))
        self.assertNotIn("\x1b", exec_code("import socket").stderr)


PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nNone"
PNG_START = b"\x89PNG\r\n\x1a\n"
# An object with one rich form; the text is the value's repr.
SHOWN = """
class Shown:
    def {method}(self): return {data!r}
    def __repr__(self): return '<shown>'
"""


def showing(method, data):
    return SHOWN.format(method=method, data=data)


class Displays(Case):
    def exec_here(self, code, *arguments, **options):
        return exec_code(code, *arguments, cwd=self.folder, **options)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.folder))

    def assertPng(self, data, width, height):
        """By its chunks and checksums, to the last one: not by what the command thinks is a PNG."""
        self.assertEqual(PNG_START, data[:8])
        at, names = 8, []
        while at < len(data):
            size, name = struct.unpack(">I4s", data[at:at + 8])
            self.assertEqual(zlib.crc32(data[at + 4:at + 8 + size]), *struct.unpack(">I", data[at + 8 + size:at + 12 + size]))
            names.append(name)
            at += 12 + size
        self.assertEqual((b"IHDR", b"IEND"), (names[0], names[-1]))
        self.assertEqual((width, height), struct.unpack(">II", data[16:24]))

    def test_a_figure_becomes_a_png_file_and_stderr_says_where(self):
        done = self.exec_here(PLOT)
        self.assertExit(OK, done)
        self.assertEqual("", done.stdout)
        told = re.fullmatch(r"figure 1: figure-1\.png, (\d+) x (\d+), \d+\.\d KiB\n", done.stderr)
        self.assertTrue(told, done.stderr)
        self.assertEqual(["figure-1.png"], self.files())
        self.assertPng(self.read("figure-1.png"), int(told[1]), int(told[2]))

    def test_names_follow_the_file_and_nothing_is_written_over(self):
        code = self.write("plot.py", PLOT)
        self.write("plot-figure-1.png", "mine")
        os.symlink("elsewhere", os.path.join(self.folder, "plot-figure-2.png"))
        done = gloveport("exec", code, cwd=self.folder)
        self.assertExit(OK, done)
        self.assertIn("figure 1: plot-figure-3.png, ", done.stderr)
        self.assertEqual(b"mine", self.read("plot-figure-1.png"))
        self.assertEqual(["plot-figure-1.png", "plot-figure-2.png", "plot-figure-3.png", "plot.py"], self.files())

    def test_figures_go_into_the_folder_that_is_named(self):
        done = self.exec_here(PLOT, "--figures", "new/pictures")
        self.assertExit(OK, done)
        self.assertIn("figure 1: new/pictures/figure-1.png, ", done.stderr)
        self.assertEqual(["new"], self.files())
        self.assertEqual(PNG_START, self.read("new/pictures/figure-1.png")[:8])
        self.write("file", "")
        done = self.exec_here("print('ran')", "--figures", "file")
        self.assertExit(USAGE, done)
        self.assertEqual("", done.stdout)
        self.assertIn("--figures: cannot ", done.stderr)

    def test_json_has_the_image_and_files_come_only_where_a_folder_is_named(self):
        done = self.exec_here(PLOT, "--json")
        self.assertEqual(("", []), (done.stderr, self.files()))
        image = base64.b64decode(json.loads(done.stdout)["displays"][0]["image/png"]["$bytes"])
        self.assertEqual(PNG_START, image[:8])
        done = self.exec_here(PLOT, "--json", "--figures", "out")
        self.assertExit(OK, done)
        image = base64.b64decode(json.loads(done.stdout)["displays"][0]["image/png"]["$bytes"])
        self.assertEqual(image, self.read("out/figure-1.png"))

    def test_what_is_no_image_is_not_written(self):
        for method, data in [("_repr_png_", b"#!/bin/sh\n"), ("_repr_jpeg_", PNG_START), ("_repr_svg_", "<html></html>")]:
            with self.subTest(method=method):
                code = showing(method, data) + "display(Shown())"
                done = self.exec_here(code)
                self.assertExit(OK, done)
                self.assertRegex(done.stderr, r"^figure 1 was not saved: .*image/")
                self.assertExit(FAILED, self.exec_here(code, "--figures", "."))
                self.assertEqual([], self.files())
        svg = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'
        done = self.exec_here(showing("_repr_svg_", svg) + "display(Shown())")
        self.assertIn("figure 1: figure-1.svg, ", done.stderr)
        self.assertEqual(svg.encode(), self.read("figure-1.svg"))

    def test_texts_are_printed_in_the_order_they_came_and_the_value_once(self):
        code = showing("_repr_markdown_", "# Title\n") + "display('one', Shown(), 3)\n4"
        done = self.exec_here(code)
        self.assertEqual(("'one'\n# Title\n3\n4\n", ""), (done.stdout, done.stderr))
        table = showing("_repr_html_", "<table/>")
        for last, expected in [("Shown()", "<shown>\n"), ("display(Shown())\nShown()", "<shown>\n<shown>\n"),
                               ("display(Shown())", "<shown>\n")]:
            with self.subTest(last=last):
                done = self.exec_here(table + last)
                self.assertEqual((expected, ""), (done.stdout, done.stderr))

    def test_other_forms_are_named(self):
        done = self.exec_here(showing("_repr_pdf_", b"%PDF") + "display(Shown())")
        self.assertEqual("<shown>\n", done.stdout)
        self.assertIn("application/pdf, 4 bytes", done.stderr)

    def test_texts_cannot_drive_a_terminal(self):
        code = showing("_repr_markdown_", "a\x1b[31mred\x07") + "display(Shown())"
        self.assertEqual("a\x1b[31mred\x07\n", self.exec_here(code).stdout)
        self.assertEqual(b"a\\x1b[31mred\\x07\r\n", on_terminal("exec", "-c", code, cwd=self.folder))

    def test_a_terminal_that_shows_images_gets_the_png(self):
        plain = {"KITTY_WINDOW_ID": "", "NO_COLOR": "1"}
        written = on_terminal("exec", "-c", PLOT, cwd=self.folder, TERM="xterm-kitty", TERM_PROGRAM="", **plain)
        chunks = re.findall(rb"\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\", written)
        self.assertGreater(len(chunks), 1)
        self.assertEqual(b"a=T,f=100,q=2,m=1", chunks[0][0])
        self.assertEqual({b"q=2,m=1"} if len(chunks) > 2 else set(), {keys for keys, _ in chunks[1:-1]})
        self.assertEqual(b"q=2,m=0", chunks[-1][0])
        self.assertEqual(self.read("figure-1.png"), base64.b64decode(b"".join(data for _, data in chunks)))

        written = on_terminal("exec", "-c", PLOT, cwd=self.folder, TERM="xterm", TERM_PROGRAM="iTerm.app",
                              **plain)
        image = re.search(rb"\x1b\]1337;File=inline=1;size=(\d+):([A-Za-z0-9+/=]*)\x07", written)
        self.assertEqual(self.read("figure-2.png"), base64.b64decode(image[2]))
        self.assertEqual(len(self.read("figure-2.png")), int(image[1]))

        written = on_terminal("exec", "-c", PLOT, cwd=self.folder, TERM="xterm", TERM_PROGRAM="", **plain)
        self.assertNotIn(b"\x1b", written)
        self.assertNotIn("\x1b", self.exec_here(PLOT, TERM="xterm-kitty").stderr)  # no terminal


class Usage(Case):
    def test_wrong_arguments(self):
        both = self.write("a.py", "1")
        for arguments in ([], ["fly"], ["exec"], ["exec", "-c", "1", both], ["exec", "-c", "1", "--timeout", "-1"],
                          ["exec", "-c", "1", "--colour"], ["run", "goal"], ["run", "goal", "--model", "nonsense:x"]):
            with self.subTest(arguments=arguments):
                done = gloveport(*arguments)
                self.assertExit(USAGE, done)
                self.assertEqual("", done.stdout)
                self.assertNotEqual("", done.stderr)

    def test_files_that_are_not_there_or_no_policy(self):
        missing = os.path.join(self.folder, "missing.py")
        broken = self.write("broken.json", '{"extends": "default",\n "limits": {"wal_s": 5}}')
        for arguments, pattern in [
                (["exec", missing], r"cannot open .*missing\.py: No such file"),
                (["exec", "-c", "1", "--policy", missing], r"missing\.py.* is neither a preset nor a policy file"),
                (["exec", "-c", "1", "--policy", broken], r"broken\.json:2:\d+: .*wal_s"),
                (["exec", "-c", "1", "--policy", self.folder], r"it is a directory")]:
            with self.subTest(arguments=arguments):
                done = gloveport(*arguments)
                self.assertExit(USAGE, done)
                self.assertRegex(done.stderr, pattern)

    def test_a_policy_that_may_not_be_read(self):
        policy = self.write("secret.json", "{}")
        os.chmod(policy, 0)
        if os.access(policy, os.R_OK):
            self.skipTest("this user may read every file")
        done = exec_code("1", "--policy", policy)
        self.assertExit(USAGE, done)
        self.assertRegex(done.stderr, r"secret\.json: Permission denied")

    def test_help_lists_the_exit_codes_and_version_the_version(self):
        done = gloveport("--help")
        self.assertExit(OK, done)
        for text in ("0 ok", "1 the program failed", "2 usage", "3 denied", "4 a limit", "5 confinement", "6 model"):
            self.assertIn(text, done.stdout)
        self.assertRegex(gloveport("--version").stdout, r"^gloveport \d+\.\d+\.\d+\n$")


class Doctor(Case):
    def test_says_what_holds_and_that_code_can_run(self):
        done = gloveport("doctor")
        self.assertExit(OK, done)
        for pattern in (r"ok +gloveport-interp", r"ok +seccomp +\S", r"ok +default", "Code can run here"):
            self.assertRegex(done.stdout, pattern)

    def test_a_missing_layer_comes_with_its_remedy(self):
        report = json.loads(gloveport("doctor", "--json").stdout)
        for name, layer in report["layers"].items():
            with self.subTest(layer=name):
                self.assertNotEqual("", layer["detail"])

    def test_json(self):
        done = gloveport("doctor", "--json")
        self.assertExit(OK, done)
        report = json.loads(done.stdout)
        self.assertTrue(report["can_run"])
        self.assertTrue(report["policies"]["default"]["ok"])
        self.assertTrue(report["layers"]["seccomp"]["active"])
        self.assertRegex(report["python"], r"^3\.\d+")

    def test_without_the_interpreter_nothing_can_run_and_it_says_where_it_looked(self):
        done = gloveport("doctor", GLOVEPORT_INTERP=os.path.join(self.folder, "nothing"))
        self.assertExit(CONFINEMENT, done)
        self.assertIn("FAILED   gloveport-interp", done.stdout)
        self.assertTrue(re.search("what to do: ", done.stdout))


if __name__ == "__main__":
    unittest.main()
