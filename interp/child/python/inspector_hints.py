"""What a language model should do instead of what was refused."""

import difflib

from . import inspector_imports as imports

_NETWORK = frozenset(
    "requests urllib urllib2 urllib3 http httpx aiohttp socket ssl ftplib smtplib poplib imaplib telnetlib "
    "xmlrpc "
    "websocket websockets paramiko boto3 selenium playwright yfinance wget socketserver asyncore".split()
)
_PROCESSES = frozenset("subprocess multiprocessing pty popen2 sh pexpect".split())
_INSTALLERS = frozenset("pip ensurepip setuptools conda venv distutils".split())
_SYSTEM = frozenset("ctypes cffi mmap fcntl resource signal gc _ctypes posix nt".split())

# Module -> (allowed modules that do its job, how).
_INSTEAD = {
    "os": (["pathlib"],
           "pathlib.Path works with files in the work folder (iterdir, exists, stat, mkdir, unlink)"),
    "os.path": (["pathlib"], "pathlib.Path has exists, name, suffix, stem, parent and the / operator"),
    "glob": (["pathlib"], "pathlib.Path('.').glob(pattern) finds files in the work folder"),
    "shutil": (["pathlib"], "pathlib.Path has rename, unlink, read_bytes and write_bytes"),
    "codecs": (["io"], "open(path, encoding=...) and str.encode() do this"),
    "builtins": (["math"], "builtin functions need no import"),
    "importlib": (["math"], "an import statement does this for allowed modules"),
    "pickle": (["json"], "json.dumps() and json.loads() store plain data"),
    "yaml": (["json"], "json reads and writes structured text"),
    "toml": (["json"], "json reads and writes structured text"),
    "scipy": (["numpy"], "numpy and the module statistics cover most of it"),
    "sklearn": (["numpy"], "numpy.linalg.lstsq and numpy.polyfit fit simple models"),
    "statsmodels": (["numpy"], "numpy.linalg.lstsq and numpy.polyfit fit simple models"),
    "seaborn": (["matplotlib"], "matplotlib.pyplot draws"),
    "plotly": (["matplotlib"], "matplotlib.pyplot draws"),
    "altair": (["matplotlib"], "matplotlib.pyplot draws"),
    "polars": (["pandas"], "pandas has data frames"),
    "dask": (["pandas"], "pandas has data frames"),
    "openpyxl": (["pandas"], "pandas reads and writes tables"),
    "bs4": (["html"], "html.parser and re take HTML apart"),
    "lxml": (["xml.etree"], "xml.etree.ElementTree reads XML"),
    "dateutil": (["datetime"], "datetime and zoneinfo handle dates"),
    "pytz": (["zoneinfo"], "zoneinfo has time zones"),
    "argparse": (["sys"], "there is no command line; assign the values to variables"),
    "ast": (["json"], "json.loads() reads data"),
    "platform": (["sys"], "sys.version_info and sys.platform tell about Python"),
    "simplejson": (["json"], "json does this"),
    "ujson": (["json"], "json does this"),
    "pandas": (["csv"], "csv and statistics read and sum up tables"),
    "numpy": (["math"], "math, statistics and lists compute"),
    "inspect": (["traceback"], "traceback shows where errors happened"),
}


def tools(rules):
    """A sentence about the tools a cell may call, or nothing."""
    if not rules.tools:
        return ""
    named = ", ".join(f"{name}()" for name in rules.tools[:12])
    more = f" and {len(rules.tools) - 12} more" if len(rules.tools) > 12 else ""
    return f" Tools you can call: {named}{more}."


def network(rules):
    return f"Network is not available here: use files in the work folder {rules.work_folder}." + tools(rules)


def place(rules, why):
    if rules.read and "read" not in why:
        also = f", or one that may be read: {', '.join(rules.read[:4])}"
    else:
        also = ""
    return (f"Use a relative path or one below {rules.work_folder}{also}; other folders do not exist for the "
            f"cell.")


def _allowed_some(rules):
    names = rules.examples()
    usual = [name for name in ("math", "json", "re", "datetime", "collections", "numpy", "pandas")
             if name in names]
    shown = usual or names[:7]
    return f" Allowed modules are, among others: {', '.join(shown)}." if shown else " No module is allowed."


def _typing_error(rules, root):
    if root in imports.STDLIB:
        return None
    close = difflib.get_close_matches(root[:64], rules.examples(), 1, 0.8)
    return f"Did you mean {close[0]}?" if close else None


def module(rules, name, imported=()):
    """What to do instead of importing `name` (and from it the names `imported`)."""
    root = name.partition(".")[0]
    for tool in (root, name.rpartition(".")[2], *imported):
        if tool in rules.tools:
            return f"{tool}() is a tool and is there already: call it without importing it."
    if root in _NETWORK:
        return network(rules)
    if root in _PROCESSES:
        return ("No process can be started here: compute in this one; concurrent.futures.ThreadPoolExecutor "
                "runs threads.")
    if root in _INSTALLERS:
        return "Nothing can be installed here." + _allowed_some(rules)
    if root in _SYSTEM:
        return "The system below Python is out of reach here: use plain Python." + tools(rules)
    needed, how = _INSTEAD.get(name) or _INSTEAD.get(root) or ((), "")
    if how and all(rules.effect(item) == imports.ALLOW for item in needed):
        return f"Use what is there instead: {how}."
    return _typing_error(rules, root) or "Do without it." + _allowed_some(rules) + tools(rules)


def syntax(message, line_text):
    """What to do about a syntax error, given the line it is on."""
    text = line_text.strip()
    if text[:1] in ("!", "%"):
        return "Shell escapes and notebook magics are not Python: write the Python code itself."
    if text.startswith("```"):
        return "Leave the code fence out: send the code only."
    if "nested too deeply" in message:
        return "Split the expression, or use a loop."
    if "characters" in message:
        return "Split the cell, and put data into a file in the work folder."
    if "null bytes" in message:
        return "Write the character as \\x00 inside a text."
    if "nested parentheses" in message:
        return "Split the expression, or use a loop."
    if "Missing parentheses" in message:
        return "Write print(...) with parentheses."
    if "indent" in message:
        return "Indent blocks with four spaces each, and do not indent the cell as a whole."
    if "invalid character" in message or "non-printable" in message:
        return ("Use plain Python only: no typographic characters outside of texts, and no prose between the "
                "lines.")
    if "unterminated" in message or "never closed" in message or "EOF" in message:
        return "Send the whole cell: something that was opened is not closed."
    return "Send the corrected cell, complete."
