"""Where modules may come from, and what is said about those that a cell may not name.

None of this protects anything: a cell can reach any module that some other module has loaded. It explains early what
the kernel's layers refuse late.
"""
import importlib
import importlib.machinery
import os
import sys
from importlib.machinery import FileFinder, PathFinder

import _gloveport_native as native

_roots = None  # folders that modules may come from; None: any (before the session begins)


class TrustedPathFinder(PathFinder):
    """Finds modules on sys.path, but only below the read-only folders: the work folder is data, not code."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        spec = super().find_spec(fullname, path, target)
        if spec is None:
            return None
        if _roots is not None:
            _check_origin(spec)
        after = AFTER_IMPORT.get(fullname)
        if after is not None and spec.loader is not None:
            spec.loader = _LoaderWithHook(spec.loader, after)
        return spec


class _LoaderWithHook:
    """Runs a function on a module when it has been loaded."""

    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        module.__loader__ = module.__spec__.loader = self._loader
        self._hook(module)


def _seen_pyplot(module):
    from . import display
    display.patch_pyplot(module)


def _seen_ipython_display(module):
    from . import display
    display.patch_ipython(module)


def _seen_numpy_random(module):
    from . import warmup
    warmup.seed_numpy(module)


def _seen_random(module):
    from . import warmup
    warmup.seed_random(module)


AFTER_IMPORT = {"matplotlib.pyplot": _seen_pyplot, "numpy.random": _seen_numpy_random, "random": _seen_random,
                "IPython.display": _seen_ipython_display}


class StandIns:
    """Finder of modules of ours under the names of others that are not here: IPython.display."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in ("IPython", "IPython.display"):
            return importlib.machinery.ModuleSpec(name, cls, origin="embedded", is_package=name == "IPython")
        return None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        if module.__name__ == "IPython.display":
            from . import ipython_display
            module.__all__ = ipython_display.__all__
            for name in module.__all__:
                setattr(module, name, getattr(ipython_display, name))


def after_import(name, hook):
    """Runs the hook on the module: now if it is loaded, else once it is."""
    module = sys.modules.get(name)
    if module is None:
        AFTER_IMPORT[name] = hook
    else:
        hook(module)


def _check_origin(spec):
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    for place in places:
        if not any(os.path.abspath(place).startswith(root + "/") for root in _roots):
            raise ImportError(
                f"module {spec.name!r} is not imported from {os.path.dirname(place)!r}: files of the work folder are "
                "data. Put the code into a cell, where every later cell can use it", name=spec.name)


def install():
    """In the template: our finder takes PathFinder's place; no zip files, no hooks of others."""
    sys.meta_path[:] = [TrustedPathFinder if finder is PathFinder else finder for finder in sys.meta_path]
    sys.meta_path.append(StandIns)
    sys.path_hooks[:] = [FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES))]
    sys.path_importer_cache.clear()
    _name_files_of_frozen_modules()


def _name_files_of_frozen_modules():
    """Those that were imported before sys._stdlib_dir was known; elsewhere they have a __file__ too."""
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        state = getattr(spec, "loader_state", None)
        name = getattr(state, "origname", None)
        if name and getattr(spec, "origin", None) == "frozen" and not hasattr(module, "__file__"):
            path = os.path.join(sys._stdlib_dir, *name.lstrip("<").split("."))
            is_package = spec.submodule_search_locations is not None
            module.__file__ = path + ("/__init__.py" if is_package else ".py")
            state.filename = module.__file__
            if is_package:
                module.__path__ = spec.submodule_search_locations = [path]


def close():
    """At the start of a session: from now on only the folders that are on sys.path now."""
    global _roots
    _roots = tuple(os.path.abspath(folder) for folder in sys.path if folder)


# ---- refusals ----

def refuse(name, effect, imported):
    """Raises the ImportError for a module that the policy does not allow by name."""
    if effect == "ask":
        text = f"the import of {name!r} needs a person's approval, which this cell does not have."
    else:
        text = f"module {name!r} is not allowed here."
    raise ImportError(f"{text} {_hint(name, imported)}".rstrip(), name=name)


def _hint(name, imported):
    from . import inspector_hints, inspector_imports, tools
    policy = native.import_rules()
    rules = inspector_imports.Rules({"imports": policy, "tools": tools.names(), "work_folder": os.getcwd()})
    try:
        return inspector_hints.module(rules, name, tuple(imported))
    except Exception:
        return ""
