"""Makes the embedded parts importable as _gloveport.<part>. Run once, by hand, with PARTS in its globals."""
import marshal
import sys
from importlib.machinery import ModuleSpec


class EmbeddedLoader:
    """Finder and loader of the parts that are compiled into the binary: as text, or as marshalled code."""

    PACKAGE = "_gloveport"

    def __init__(self, parts):
        self._parts = parts

    def find_spec(self, name, path=None, target=None):
        if name == self.PACKAGE:
            return ModuleSpec(name, self, origin="embedded", is_package=True)
        package, _, part = name.partition(".")
        if package == self.PACKAGE and part in self._parts:
            return ModuleSpec(name, self, origin="embedded")
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        part = module.__name__.partition(".")[2]
        if part:
            content = self._parts[part]
            if isinstance(content, str):
                code = compile(content, f"<gloveport/{part}>", "exec", dont_inherit=True)
            else:
                code = marshal.loads(content)
            exec(code, module.__dict__)


sys.meta_path.insert(0, EmbeddedLoader(PARTS))  # noqa: F821 - given by the caller
