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
foreign_fork_hooks = []  # names of modules outside of the standard library that want to know of forks; read in C++


def import_modules(names, for_first_cell, of_standard_library):
    """Imports the modules; returns "name: reason" for each that is not to be had."""
    missing = []
    for name in FIRST_CELL if for_first_cell else ():
        importlib.import_module(name)
    register, os.register_at_fork = os.register_at_fork, _register_at_fork(os.register_at_fork)
    try:
        for name in names:
            if not of_standard_library and _is_standard(name):
                continue
            try:
                importlib.import_module(name)
            except Exception as error:
                missing.append(f"{name}: {error}")
    finally:
        os.register_at_fork = register
    return missing


def _is_standard(module):
    return module.partition(".")[0] in sys.stdlib_module_names


def _register_at_fork(register):
    def register_at_fork(**hooks):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if not _is_standard(caller):
            foreign_fork_hooks.append(caller)
        register(**hooks)
    return register_at_fork


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


def start_afresh(seed):
    """What a fork must not share with others: its thread's number, and random numbers; with a seed those repeat."""
    global _seed
    threading = sys.modules.get("threading")
    main_thread = threading.main_thread() if threading is not None else None
    if hasattr(main_thread, "_set_native_id"):
        main_thread._set_native_id()
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
