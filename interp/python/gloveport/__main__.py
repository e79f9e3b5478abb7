"""The command `gloveport`: `kernel` is of this package, everything else the program's."""
import os
import sys

from ._runtime import programs


def main() -> None:
    if sys.argv[1:2] == ["kernel"]:
        from .kernel.install import main as kernel
        sys.exit(kernel(sys.argv[2:]))
    program = os.path.join(programs(), "gloveport")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
