"""What the template does before any session exists, and what a fork of it does first."""
import importlib
import os
import sys

# What a first cell is likely to touch, and what our own parts use late.
FIRST_CELL = (
    "abc", "ast", "asyncio", "codecs", "codeop", "collections", "concurrent.futures.thread", "contextlib",
    "contextvars", "copy", "dataclasses", "datetime", "enum", "functools", "inspect", "io", "itertools", "json",
    "linecache", "math", "operator", "os", "pydoc", "random", "re", "string", "threading", "time", "tokenize",
    "traceback", "types", "typing", "warnings", "weakref", "_sitebuiltins", "_gloveport.introspect",
)

_seed = None


def import_modules(names, for_first_cell, of_standard_library):
    """Imports the modules; returns "name: reason" for each that is not to be had."""
    missing = []
    for name in FIRST_CELL if for_first_cell else ():
        importlib.import_module(name)
    for name in names:
        if not of_standard_library and name.partition(".")[0] in sys.stdlib_module_names:
            continue
        try:
            importlib.import_module(name)
        except Exception as error:
            missing.append(f"{name}: {error}")
    return missing


def clean_up():
    """Leaves no trace of the throw-away cells, and no thread."""
    import linecache
    import threading
    from . import sources
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join(10)
    namespace = sys.modules["__main__"].__dict__
    for name in [name for name in namespace if not (name.startswith("__") and name.endswith("__"))]:
        del namespace[name]
    for name in sources.texts:
        linecache.cache.pop(name, None)
    sources.texts.clear()


def reseed(seed):
    """Random number generators start afresh in every session; with a seed they repeat."""
    global _seed
    _seed = seed
    if seed is not None:
        os.getrandom = _getrandom
    random = sys.modules.get("random")
    if random is not None:
        seed_random(random)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        seed_numpy(numpy_random)


def seed_random(random):
    """Also called when a session is the first to import random."""
    random.seed(_seed)


def _getrandom(size, flags=0):
    """The original makes its system call by number, past the function of the C library that a seed governs."""
    return os.urandom(size)


def seed_numpy(numpy_random):
    """Also called when a session is the first to import numpy.random."""
    numpy_random.seed(None if _seed is None else _seed % 2**32)
