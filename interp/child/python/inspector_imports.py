"""Which modules a cell may name, and which members of allowed modules lead to modules it may not.

Nothing is imported to find out: a member is judged by its name and by the tables below, made by looking
through the standard library, numpy, pandas and matplotlib once.
"""

import sys

from . import inspector_names as internals

ALLOW, ASK, DENY = "allow", "ask", "deny"
STDLIB = sys.stdlib_module_names

# Modules that unpickle, which runs code; refusals of these carry the rule "pickle".
PICKLERS = frozenset("pickle _pickle cPickle dill cloudpickle shelve".split())

# Modules that give what a session does not have. Under any package, a member of such a name is taken for the
# module.
CAPABILITIES = frozenset(
    "os posix nt ntpath posixpath sys subprocess socket ssl ctypes importlib imp builtins pickle marshal "
    "shutil runpy "
    "pty multiprocessing mmap fcntl gc pkgutil zipimport pydoc glob urllib http ftplib smtplib webbrowser "
    "tarfile "
    "atexit requests".split()
)
_RENAMED = {"bltns": "builtins", "pkl": "pickle"}

# Members of standard modules that merely have the name of another standard module.
_NAMESAKES = frozenset(
    "shutil.copy multiprocessing.sharedctypes.copy unicodedata.decimal locale.gettext optparse.gettext "
    "typing.io "
    "typing.re sys.platform ssl.socket os.stat posix.stat ast.keyword ast.operator datetime.time queue.time "
    "socketserver.time importlib.abc collections.abc importlib.resources.abc wsgiref.types inspect.trace "
    "re._compiler.dis pickletools.dis imaplib.datetime xmlrpc.client.datetime cgitb.html site.venv "
    "pty.select "
    "copyreg.pickle unittest.loader.fnmatch distutils.sysconfig distutils.cmd re._code re._pickle "
    "numpy._pickle".split()
)


class Member:
    """What a member of an allowed module gives: `rule` of the refusal, `needs` (a module that, when the
    policy allows it, makes the member allowed too; None: never allowed), `why`."""

    __slots__ = ("rule", "needs", "why")

    def __init__(self, rule, needs, why):
        self.rule = rule
        self.needs = needs
        self.why = why


def _members():
    frames = "leads to the frames of running code"
    process = "starts processes"
    network = "opens network connections"
    hooks = "changes how Python runs or imports code"
    return {
        "sys": {
            "_getframe _current_frames _current_exceptions": ("attribute", None, frames),
            "settrace setprofile addaudithook call_tracing breakpointhook": ("attribute", None, hooks),
            "meta_path path_hooks path_importer_cache setdlopenflags": ("attribute", None, hooks),
        },
        "inspect": {
            "currentframe stack trace getouterframes getinnerframes": ("attribute", None, frames),
            "getclosurevars": ("attribute", None, "leads to the globals of functions"),
        },
        "traceback": {"walk_stack walk_tb": ("attribute", None, frames)},
        "threading": {"settrace setprofile": ("attribute", None, hooks)},
        "types": {"CodeType": ("attribute", None, "makes code objects")},
        "asyncio": {
            "create_subprocess_exec create_subprocess_shell subprocess": ("attribute", "subprocess", process),
            "open_connection start_server open_unix_connection start_unix_server": ("network", "socket",
                                                                                    network),
        },
        "concurrent.futures": {"ProcessPoolExecutor process": ("attribute", "multiprocessing", process)},
        "logging.handlers": {
            "SocketHandler DatagramHandler SysLogHandler SMTPHandler HTTPHandler": ("network", "socket",
                                                                                    network),
        },
        "logging.config": {"listen": ("network", "socket", network)},
        "numpy": {
            "ctypeslib": ("attribute", "ctypes", "leads to the module ctypes"),
            "f2py distutils": ("attribute", "subprocess", process),
        },
        "numpy.testing": {"runstring rundocs": ("dynamic-code", None, "runs code given as text")},
        "pandas": {"read_pickle": ("pickle", "pickle", "unpickles, which can run code")},
        "pandas.io.pickle": {"read_pickle": ("pickle", "pickle", "unpickles, which can run code")},
        "pandas.compat": {"pickle_compat": ("pickle", "pickle", "unpickles, which can run code")},
    }


MEMBERS = {
    f"{module}.{name}": Member(*facts)
    for module, table in _members().items()
    for names, facts in table.items()
    for name in names.split()
}


def _names(value):
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple, set)) else []


def _prefixes(module):
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]


class Rules:
    """A policy as the inspector sees it. Unknown or misshapen parts count as empty, which denies."""

    def __init__(self, rules):
        rules = rules if isinstance(rules, dict) else {}
        imports = rules.get("imports")
        imports = imports if isinstance(imports, dict) else {}
        self.allowed = frozenset(_names(imports.get("allow")))
        self.denied = frozenset(_names(imports.get("deny")))
        self.asked = frozenset(_names(imports.get("ask")))
        self.tools = sorted(set(_names(rules.get("tools"))))
        folder = rules.get("work_folder")
        self.work_folder = folder.rstrip("/") or "/" if isinstance(folder, str) and folder else "/workdir"
        self.read = [path.rstrip("/") or "/" for path in _names(rules.get("read"))]
        self.parents = frozenset(p for name in self.allowed | self.asked for p in _prefixes(name)[:-1])
        self._effects = {}
        attributes = rules.get("attributes")
        attributes = attributes if isinstance(attributes, dict) else {}
        self.attributes_denied = frozenset(_names(attributes.get("deny")))
        self.attributes_allowed = frozenset(_names(attributes.get("allow"))) - self.attributes_denied
        self.internals = internals.INTERNALS
        if self.attributes_allowed or self.attributes_denied:
            kept = {name: why for name, why in internals.INTERNALS.items()
                    if name not in self.attributes_allowed or internals.rule_of(name) == "builtin"}
            own = dict.fromkeys(self.attributes_denied, internals.REFUSED_BY_POLICY)
            self.internals = {**own, **kept}
        self.cost = rules.get("cost") if isinstance(rules.get("cost"), dict) else {}
        builtins = rules.get("builtins")
        self.builtins = frozenset(_names(builtins.get("allow")) if isinstance(builtins, dict) else ())

    def effect(self, module):
        """allow, ask or deny for importing `module` by this name."""
        found = self._effects.get(module)
        if found is None:
            found = self._effects[module] = self._effect(module)
        return found

    def _effect(self, module):
        covers = ["*", *_prefixes(module)]
        for names, effect in ((self.denied, DENY), (self.asked, ASK), (self.allowed, ALLOW)):
            if any(name in names for name in covers):
                return effect
        return DENY

    def is_parent(self, module):
        """Whether `module` itself is not allowed but some of its submodules are (`urllib` for
        `urllib.parse`)."""
        return module in self.parents and self.effect(module) != ALLOW

    def examples(self):
        """A few allowed top-level modules, for hints."""
        return sorted(name for name in self.allowed
                      if "." not in name and not name.startswith("_") and name != "*")


def module_named(attribute, base):
    """The module that a member called `attribute` of `base` is taken for, or None."""
    tail = base.rpartition(".")[2]
    if not attribute or attribute == tail or f"{base}.{attribute}" in _NAMESAKES or (tail[:1].isupper()
                                                                                     and attribute[0] != "_"):
        return None
    name = attribute.lstrip("_")
    name = _RENAMED.get(name, name)
    if base.partition(".")[0] in STDLIB:
        return attribute if attribute in STDLIB else name if name in STDLIB else None
    return name if name in CAPABILITIES else None


def _explicit(rules, path):
    """Whether deny or ask name `path` or a submodule between it and its allowed root."""
    if path in rules.denied:
        return DENY
    return ASK if path in rules.asked else None


def judge_member(rules, base, attribute):
    """None when `base.attribute` may be used, else (effect, rule, why)."""
    path = f"{base}.{attribute}"
    known = MEMBERS.get(path) if path not in rules.attributes_allowed else None
    if known is not None:
        effect = DENY if known.needs is None else rules.effect(known.needs)
        return None if effect == ALLOW else (effect, known.rule, known.why)
    explicit = _explicit(rules, path)
    if explicit is not None:
        return explicit, "attribute", f"the policy does not allow the module {path}"
    if rules.is_parent(base):
        effect = rules.effect(path)
        if effect == ALLOW or path in rules.parents or attribute.startswith("__"):
            return None
        return effect, "attribute", f"of {base} only some submodules are allowed, not {attribute}"
    module = module_named(attribute, base)
    if module is None or rules.effect(path) == ALLOW and path in rules.allowed:
        return None
    effect = rules.effect(module)
    if effect == ALLOW or rules.is_parent(module):
        return None
    return effect, "attribute", f"it is the module {module}, which the policy does not allow"
