"""Runs pytest with the Python of a venv; exit code 77 with the reason where there is none.

Usage: run_pytest.py VENV [pytest's arguments]
"""
import os
import subprocess
import sys


def main():
    python = os.path.join(sys.argv[1], "bin", "python")
    if subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False).returncode if os.path.exists(
            python) else True:
        print(f"no pytest in {sys.argv[1]}: scripts/test makes it with tests/interp/python/requirements.txt")
        return 77
    done = subprocess.run([python, "-m", "pytest", "-W", "ignore::UserWarning:smolagents.tools", "-rs", *sys.argv[2:]], stdin=subprocess.DEVNULL, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
