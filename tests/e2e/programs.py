"""Running the commands under test. ctest names them in the environment."""

import os
import subprocess
import tempfile
import unittest

GLOVEPORT = os.environ["GLOVEPORT"]
CONVERSION = os.environ["CONVERSION"]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(SOURCE, "examples", "conversion")

GOAL = "What is the average conversion of this campaign, and which month converts best?"
ANSWER = {"clients": 45211, "conversions": 5289, "conversion_percent": 11.698, "best_month": "mar",
          "best_month_percent": 51.99, "cost_per_conversion_eur": 32.57}

# Exit codes, as README.md lists them.
OK, FAILED, USAGE, DENIED, LIMIT, CONFINEMENT, MODEL = range(7)


def environment(**changes):
    """The environment of a command: no keys, no settings of the user's, but what `changes` sets."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OPENAI_", "ANTHROPIC_")) and not name.lower().endswith("_proxy")}
    return {**kept, "XDG_CONFIG_HOME": "/nonexistent", **changes}


def run(*command, stdin=None, timeout=120, cwd=None, **changes):
    """A finished command with text output."""
    return subprocess.run(command, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout, cwd=cwd, env=environment(**changes), check=False)


def gloveport(*arguments, **options):
    return run(GLOVEPORT, *arguments, **options)


def conversion(*arguments, **options):
    return run(CONVERSION, *arguments, **options)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="gloveport-e2e-")
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assertExit(self, code, done):
        self.assertEqual(code, done.returncode, f"stdout: {done.stdout[-2000:]}\nstderr: {done.stderr[-3000:]}")
