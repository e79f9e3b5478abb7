"""Files and addresses: which calls name one, and whether a session has it.

Only what the text spells out is judged, and only by its letters: links, mounts and names that are put
together at run time are for the confinement.
"""

import posixpath
import re
from urllib.parse import unquote

URL = re.compile(
    r"\s*(https?|ftps?|sftp|ssh|s3[an]?|gs|gcs|hdfs|abfss?|adl|az|wasbs?|smb|github|webdavs?|wss?)://",
    re.IGNORECASE
)
READ, WRITE = "read", "write"
_DEVICES = frozenset(("/dev/null", "/dev/zero"))


class Place:
    """A refused place: `rule` is path or network, `why` completes "X is ..."."""

    __slots__ = ("rule", "why")

    def __init__(self, rule, why):
        self.rule = rule
        self.why = why


def _below(path, folder):
    return path == folder or folder == "/" or path.startswith(folder + "/")


def _known_part(text, whole):
    """The part of a text that surely names a folder: all of it, or up to the last slash."""
    return text if whole else text[: text.rfind("/") + 1]


def _judge_path(rules, text, whole, purpose):
    known = _known_part(text, whole)
    if known == "~" or known.startswith("~/"):
        return Place("path", "in the home folder, and a session has none")
    if not known:
        return None
    path = posixpath.normpath(posixpath.join(rules.work_folder, known))
    if path.startswith("//"):
        path = path[1:]
    if _below(path, rules.work_folder) or path in _DEVICES:
        return None
    readable = any(_below(path, folder) for folder in rules.read)
    if readable and purpose == READ:
        return None
    if not whole and any(_below(folder, path) for folder in [rules.work_folder, *rules.read]):
        return None  # the rest may still lead into a folder that is granted
    if readable:
        return Place("path", "in a folder that can only be read")
    return Place("path", f"outside the work folder {rules.work_folder}")


def judge(rules, text, whole, purpose):
    """None, or the Place that `text` names and a session does not have."""
    if len(text) > 4096 or "\n" in text or "\0" in text or text.lstrip()[:1] in ("{", "[", "<"):
        return None  # data, not the name of a file
    if URL.match(text):
        return Place("network", "an address on a network")
    if text[:5].lower() == "file:":
        text = unquote(text[5:]).partition("?")[0]
        text = "/" + text.lstrip("/") if text.startswith("//") else text
    if text == ":memory:":
        return None
    return _judge_path(rules, text, whole, purpose)


def _table(purpose, position, keyword, names):
    return {name: ((purpose, position, keyword),) for name in names.split()}


def _pandas_readers():
    by_keyword = {
        "filepath_or_buffer": "read_csv read_table read_fwf read_stata read_sas read_pickle",
        "io": "read_excel read_html",
        "path_or_buf": "read_json read_hdf",
        "path_or_buffer": "read_xml",
        "path": "read_parquet read_feather read_orc read_spss",
        "path_or_buffer ": "ExcelFile",
    }
    table = {}
    for keyword, names in by_keyword.items():
        table.update(_table(READ, 0, keyword.strip(), " ".join("pandas." + n for n in names.split())))
    return {**table, **_table(WRITE, 0, "path", "pandas.ExcelWriter pandas.HDFStore")}


_PACKED = "gzip.open bz2.open lzma.open gzip.GzipFile bz2.BZ2File lzma.LZMAFile"
_TWO = "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree"

# Function -> which arguments name a place: (purpose, position, keyword). Purpose "mode": as its mode argument
# says.
FUNCTIONS = {
    **_table("mode", 0, "file", "builtins.open io.open io.FileIO io.open_code _io.open"),
    **_table("mode", 0, "filename", _PACKED),
    **_table("mode", 0, "filename", "codecs.open"),
    **_table("mode", 0, "file", "zipfile.ZipFile"),
    **_table("mode", 0, "name", "tarfile.open"),
    **_table(WRITE, 0, "database", "sqlite3.connect"),
    **_table(WRITE, 0, "path", "os.remove os.unlink os.mkdir os.makedirs os.rmdir os.removedirs os.truncate"),
    **_table(READ, 0, "path", "os.open os.listdir os.scandir os.chdir"),
    **_table(READ, 0, "top", "os.walk"),
    **_table(WRITE, 0, "path", "shutil.rmtree"),
    **{name: ((READ, 0, "src"), (WRITE, 1, "dst")) for name in _TWO.split()},
    **{name: ((WRITE, 0, "src"), (WRITE, 1, "dst")) for name in "os.rename os.replace shutil.move".split()},
    **_table(READ, 0, "pathname", "glob.glob glob.iglob"),
    **_table(WRITE, None, "dir",
             "tempfile.NamedTemporaryFile tempfile.TemporaryFile tempfile.mkstemp tempfile.mkdtemp "
                                 "tempfile.TemporaryDirectory tempfile.SpooledTemporaryFile"),
    **_table(WRITE, 0, "filename", "logging.FileHandler logging.handlers.RotatingFileHandler "
                                   "logging.handlers.TimedRotatingFileHandler "
                                   "logging.handlers.WatchedFileHandler"),
    **_table(WRITE, None, "filename", "logging.basicConfig"),
    **_table(READ, 0, "source", "xml.etree.ElementTree.parse xml.etree.ElementTree.iterparse"),
    **_table(READ, 1, "file", "xml.etree.ElementTree.ElementTree"),
    **_table(READ, 0, "file", "xml.dom.minidom.parse"),
    **_pandas_readers(),
    **_table(READ, 0, "file", "numpy.load numpy.fromfile"),
    **_table(READ, 0, "fname", "numpy.loadtxt numpy.genfromtxt"),
    **_table(WRITE, 0, "file", "numpy.save numpy.savez numpy.savez_compressed"),
    **_table(WRITE, 0, "fname", "numpy.savetxt"),
    **_table(WRITE, 0, "filename", "numpy.memmap"),
    **_table(READ, 0, "fname", "matplotlib.pyplot.imread matplotlib.image.imread"),
    **_table(WRITE, 0, "fname", "matplotlib.pyplot.imsave matplotlib.image.imsave"),
    **_table(READ, 0, "fp", "PIL.Image.open"),
}

# Method of whatever object -> the same. Only names that hardly mean anything else.
METHODS = {
    **_table(WRITE, 0, "path_or_buf", "to_csv to_json to_hdf"),
    **_table(WRITE, 0, "excel_writer", "to_excel"),
    **_table(WRITE, 0, "path", "to_parquet to_feather to_stata to_orc to_pickle"),
    **_table(WRITE, 0, "buf", "to_html to_latex to_markdown"),
    **_table(WRITE, 0, "path_or_buffer", "to_xml"),
    **_table(WRITE, 0, "fname", "savefig"),
    **_table(WRITE, 0, "fid", "tofile"),
    **_table(WRITE, 0, "path", "extractall"),
}

# Method of a pathlib path -> purpose.
PATH_METHODS = {
    **dict.fromkeys("read_text read_bytes iterdir glob rglob readlink".split(), READ),
    **dict.fromkeys("write_text write_bytes touch mkdir rmdir unlink rename replace chmod".split(), WRITE),
    **dict.fromkeys("symlink_to hardlink_to".split(), WRITE),
    "open": "mode",
}


def purpose_of_mode(modes):
    """modes: the texts a mode argument may be; a file that may be written counts as written."""
    return WRITE if any(set(mode) & set("wax+") for mode in modes) else READ
