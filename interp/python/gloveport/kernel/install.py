"""gloveport kernel install: a kernel specification for Jupyter."""
from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from typing import Optional, Sequence

from .. import Policy
from ..errors import Error

POLICY = "GLOVEPORT_KERNEL_POLICY"    # what the specification tells the kernel
WORKDIR = "GLOVEPORT_KERNEL_WORKDIR"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        print("gloveport kernel install: jupyter_client is not installed; pip install 'gloveport[notebook]'", file=sys.stderr)
        return 1
    name = given.name.lower()
    if not re.fullmatch(r"[a-z0-9._-]+", name):
        print(f"gloveport kernel install: the name {given.name!r} may have letters, digits, '.', '_' and '-'", file=sys.stderr)
        return 2
    try:
        specification = make_specification(given)
    except Error as error:
        print(f"gloveport kernel install: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(specification, file, indent=1)
        os.chmod(folder, 0o755)
        prefix = sys.prefix if given.sys_prefix else given.prefix
        where = KernelSpecManager().install_kernel_spec(folder, name, user=not prefix and not given.system, prefix=prefix)
    print(where)
    return 0


def make_specification(given: argparse.Namespace) -> dict:
    """The text of kernel.json; an Error where the policy is none."""
    policy = os.path.abspath(given.policy) if os.path.exists(given.policy) else given.policy
    Policy(policy)
    environment = {POLICY: policy}
    if given.workdir is not None:
        environment[WORKDIR] = given.workdir
    return {"argv": [sys.executable, "-m", "gloveport.kernel", "-f", "{connection_file}"],
            "display_name": given.display_name or f"Python, confined ({os.path.basename(policy)})", "language": "python",
            "interrupt_mode": "signal", "env": environment, "metadata": {"debugger": False}}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gloveport kernel", description="The kernel for Jupyter.")
    install = parser.add_subparsers(dest="command", required=True, metavar="install").add_parser(
        "install", help="make it known to Jupyter", description="Makes a kernel known to Jupyter whose cells run confined.")
    where = install.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user (what is done without another choice)")
    where.add_argument("--sys-prefix", action="store_true", help="for the environment of this Python")
    where.add_argument("--prefix", help="for the environment in this folder")
    where.add_argument("--system", action="store_true", help="for all users")
    install.add_argument("--policy", default="default", help="a preset's name or a policy file (default: %(default)s)")
    install.add_argument("--name", default="gloveport", help="of the specification (default: %(default)s)")
    install.add_argument("--display-name", help="what people see")
    install.add_argument("--workdir", help="a folder that cells read and write, instead of a fresh one; '.' is the "
                                           "notebook's")
    return parser


if __name__ == "__main__":
    sys.exit(main())
