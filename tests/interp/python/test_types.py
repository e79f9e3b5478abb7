"""What type checkers see: the stub of the module is true, and the package is typed."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

# What pybind11 makes of every class.
OF_PYBIND11 = r"""
gloveport\._native\.(Agent|CallContext|Policy|Runtime|Session)
gloveport\._native\.(Agent|CallContext|Policy|Runtime|Session)\.__init__
"""

PROGRAM = """
import gloveport

def contact_cost(contacts: int, channel: str = "cellular") -> float:
    return contacts * 0.8

async def main() -> str:
    async with gloveport.Session("default", tools=[contact_cost]) as session:
        result: gloveport.Result = await session.run_async("1", timeout=2.0)
        session["x"] = 1
        files: dict[str, int] = session.list_files()
        return result.stdout if result.ok and files else session.policy.name
"""


def mypy(tmp_path, *arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "MYPYPATH": os.environ.get("PYTHONPATH", "").partition(os.pathsep)[0]}, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_stub_says_what_the_module_has(tmp_path):
    (tmp_path / "allowed.txt").write_text(OF_PYBIND11)
    status, text = mypy(tmp_path, "mypy.stubtest", "gloveport._native", "--allowlist", "allowed.txt", "--ignore-unused-allowlist")
    assert status == 0, text


def test_programs_are_checked_against_the_package(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    status, text = mypy(tmp_path, "mypy", "good.py", "--follow-imports=silent")
    assert status == 0, text
    (tmp_path / "bad.py").write_text(PROGRAM + "\ngloveport.Session().run(5)\ngloveport.Runtime(min_ready='2')\n")
    status, text = mypy(tmp_path, "mypy", "bad.py", "--follow-imports=silent")
    assert status == 1 and text.count(" error: ") == 2, text
