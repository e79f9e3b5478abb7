"""Loads the inspector as the child does: as modules of one package that is not on the path."""

import importlib
import json
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CASES = os.path.join(ROOT, "tests", "cases")
PARTS = os.path.join(ROOT, "interp", "child", "python")
PACKAGE = "inspector_under_test"

# The default policy of tests/cases/README.md.
ALLOWED = (
    "abc array asyncio base64 binascii bisect bz2 calendar cmath collections concurrent.futures contextlib "
    "contextvars "
    "copy csv dataclasses datetime decimal difflib enum fractions functools graphlib gzip hashlib heapq "
    "hmac html "
    "inspect io itertools json keyword locale logging lzma math numbers operator pathlib pprint queue "
    "random re secrets "
    "sqlite3 statistics string struct sys tempfile textwrap threading time timeit traceback types typing "
    "unicodedata "
    "urllib.parse uuid warnings weakref xml.etree xml.dom zipfile zlib zoneinfo numpy pandas matplotlib "
    "__future__"
).split()


def load(part="inspector"):
    if PACKAGE not in sys.modules:
        package = types.ModuleType(PACKAGE)
        package.__path__ = [PARTS]
        sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.{part}")


def rules(add=(), remove=(), tools=(), **more):
    allow = [name for name in (*ALLOWED, *add) if name not in remove]
    return {
        "imports": {"allow": allow, "deny": [], "ask": [name for name in ("pickle",) if name not in allow]},
        "tools": list(tools),
        "work_folder": "/workdir",
        "read": [],
        **more,
    }


def lines(name):
    with open(os.path.join(CASES, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
