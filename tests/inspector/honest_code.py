"""Cells as models write them for data work; each must be allowed under the default policy of
tests/cases/README.md."""

CELLS = {
    "frame in one go": """
import pandas as pd
df = pd.read_csv("sales.csv", parse_dates=["date"])
df["month"] = df["date"].dt.to_period("M").astype(str)
by_month = df.groupby("month").agg(total=("amount", "sum"), n=("amount", "size")).reset_index()
print(by_month.sort_values("total", ascending=False).head().to_string())
by_month.to_csv("out/by_month.csv", index=False)
""",
    "query and eval": """
limit, names = 3, ["a", "b"]
small = df.query("amount < @limit and name in @names and `unit price` > 0")
df = df.eval("ratio = amount / total")
df.eval("x = a + b\\ny = x * 2", inplace=True)
print(df.query("region == 'North' or eval > 3"), df.query("index % 2 == 0"))
""",
    "columns with unlucky names": """
import pandas as pd
df = pd.DataFrame({"os": [1], "exec": [2], "__class__": [3], "f_code": [4]})
print(df.os, df["exec"], df["__class__"], df["f_code"], df.eval("os + 1"),
      df.system if "system" in df else None)
""",
    "patterns": """
import re
number = re.compile(r"(?P<n>\\d+)")
print([m["n"] for m in number.finditer("a1b22")], re.compile("x", re.I).pattern)
""",
    "classes": """
from dataclasses import dataclass, field, asdict
@dataclass(order=True)
class Point:
    x: float
    y: float = 0.0
    tags: list = field(default_factory=list)
    def __post_init__(self): self.x = float(self.x)
    def __add__(self, other): return self.__class__(self.x + other.x, self.y + other.y)
    def __repr__(self): return f"{self.__class__.__name__}({self.x}, {self.y})"
print(asdict(Point(1) + Point(2)), Point.__name__, Point.__doc__, Point.__module__, Point(1).__dict__)
""",
    "inheritance": """
class Base:
    __slots__ = ("a",)
    def __init__(self, a=1): self.a = a
    def __getattr__(self, name): raise AttributeError(name)
    def __setattr__(self, name, value): object.__setattr__(self, name, value)
    def __eq__(self, other): return self.__class__ is other.__class__ and self.a == other.a
    def __hash__(self): return hash((type(self).__name__, self.a))
    def __reduce__(self): return (Base, (self.a,))
class Child(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        super(Child, self).__setattr__("b", 2)
    def __getattribute__(self, name): return super().__getattribute__(name)
__all__ = ["Base", "Child"]
__version__ = "1.0"
""",
    "decorators": """
import functools, time
def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        try:
            return fn(*args, **kwargs)
        finally:
            print(fn.__name__, fn.__qualname__, wrapper.__wrapped__ is fn, time.perf_counter() - start)
    return wrapper
@timed
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(20), fib.__doc__)
""",
    "errors": """
import traceback, sys, logging
try:
    {}["a"]
except KeyError as e:
    print(type(e).__name__, e.__class__.__name__, e.args, e.__cause__, e.__traceback__.tb_lineno)
    traceback.print_exception(type(e), e, e.__traceback__)
    logging.getLogger(__name__).exception("failed: %s", e)
    print(sys.exc_info()[0].__name__, "{0.__class__.__name__}: {0}".format(e))
""",
    "attributes by name": """
import operator
for name in ["mean", "std"]:
    print(getattr(df["a"], name)(), getattr(df, "missing", None), hasattr(df, "__len__"))
print(getattr(print, "__name__", "?"), sorted([], key=operator.attrgetter("x.y")),
      getattr(operator, "add")(1, 2))
setattr(df, "note", 1)
by = operator.methodcaller("strip", " ")
print(getattr(operator, f"__{'add'}__")(1, 2))
""",
    "texts": """
print("{:>10} {name!r} {0[k]} {1.real}".format({"k": 1}, 2j, name="x"), "{}".format("__globals__"))
print("%(a)s %%s" % {"a": 1}, "a.b".split("."), f"{1:{'>'}{10}}", "{{0.__code__}}".format(1))
text = "eval(x); import os; __import__('os'); open('/etc/passwd')"
doc = '''os.system("rm -rf /") is only text'''
from string import Template
print(Template("$a").substitute(a=text), doc)
""",
    "paths": """
from pathlib import Path
here = Path(".")
for path in sorted(here.glob("**/*.csv")):
    print(path.name, path.stem, path.suffix, path.parent, path.stat().st_size)
out = Path("/workdir") / "out"
out.mkdir(parents=True, exist_ok=True)
(out / "a.txt").write_text("x")
print((out / "a.txt").read_text(), Path("/etc/passwd").name, Path("/data").exists(),
      Path("a/../b.txt").resolve())
target = Path("a.txt").with_suffix(".csv")
target.rename(out / target.name)
""",
    "files": """
import csv, json, gzip, zipfile, tempfile, sqlite3, io
with open("data.csv", newline="", encoding="utf-8") as f:
    rows = list(csv.DictReader(f))
with open("out.json", "w") as f:
    json.dump(rows, f)
with gzip.open("a.gz", "wt") as f: f.write("x")
with zipfile.ZipFile("a.zip", "w") as z: z.writestr("../odd", "x")
with tempfile.TemporaryDirectory() as folder: open(folder + "/x", "w").close()
with sqlite3.connect("file::memory:?cache=shared", uri=True) as c: c.execute("select eval from t")
buffer = io.BytesIO(b"/etc/passwd")
print(json.loads('{"path": "/etc/passwd"}'), open("sub/../data.csv").read(), open("...").read())
""",
    "paths as data": """
logs = ["GET /index.html", "/api/v1/users", "~/notes", "../up", "https://example.org/a?b=c"]
path = "/api/v1/users"
print(path.split("/"), path.replace("/", "."), path.rename if hasattr(path, "rename") else None)
routes = {"/home": 1}
print(routes["/home"], routes.get("/etc"), df.filter(like="/x"), client.get("/users"),
      "/".join(["", "etc", "x"]))
f"/etc/{path}".replace("/", "_")
""",
    "data that looks like a path": """
import pandas as pd, io
print(pd.read_json('{"a": {"0": "/etc/passwd"}}'), pd.read_html("<table><tr><td>/x</td></tr></table>"))
print(pd.read_csv(io.StringIO("a\\n/etc/passwd")), pd.DataFrame({"p": ["/etc/passwd"]}).to_csv())
""",
    "numpy": """
import numpy as np
a = np.random.default_rng(0).normal(size=(3, 3))
print(np.linalg.eigvals(a), np.select([a > 0], [1]), np.trace(a), a.T @ a, np.random.random(), np.testing)
np.save("a.npy", a); b = np.load("a.npy"); c = np.load("a.npy", allow_pickle=False)
np.savez("a.npz", a=a); np.savetxt("a.txt", a); np.loadtxt("a.txt")
print(a.dtype.name, np.typing, np.lib, np.ma.masked_array([1]), np.char.upper("a"), np.copy(a),
      np.array_split(a, 2))
""",
    "pandas namespaces": """
import pandas as pd
print(pd.io.formats, pd.api.types.is_numeric_dtype(1), pd.errors.EmptyDataError, pd.plotting,
      pd.options.display)
pd.set_option("display.max_columns", None)
print(pd.__version__, pd.Timestamp("2024-01-01").strftime("%d"), pd.tseries.offsets.Day(1),
      pd.core.frame.DataFrame)
""",
    "plots": """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import cm, colors, ticker
fig, ax = plt.subplots(figsize=(4, 3))
ax.plot([1, 2], color=cm.viridis(0.5)); ax.set_title("os and exec: /etc/passwd")
fig.savefig("plot.png", dpi=100); plt.savefig("out/plot2.png"); plt.style.use("ggplot"); plt.show()
""",
    "threads and coroutines": """
import asyncio, threading, queue, concurrent.futures, contextvars
async def work(n):
    async with asyncio.Semaphore(2):
        await asyncio.sleep(0)
    return n
results = await asyncio.gather(*(work(i) for i in range(3)))
with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
    print([f.result() for f in concurrent.futures.as_completed([pool.submit(abs, -1)])])
q = queue.Queue(); t = threading.Thread(target=q.put, args=(1,), daemon=True); t.start(); t.join()
print(asyncio.run(work(1)) if False else results, threading.current_thread().name, asyncio.Queue,
      asyncio.timeout)
""",
    "introspection": """
import inspect, sys, types, typing, keyword
print(inspect.signature(len), inspect.getsource(inspect.getdoc), inspect.isfunction(len),
      sys.version, sys.platform)
print([n for n in dir(sys) if not n.startswith("_")][:3], sys.getsizeof([]), sys.float_info.max,
      sys.argv, sys.path[:1])
print(isinstance(len, types.BuiltinFunctionType), types.SimpleNamespace(a=1),
      typing.get_type_hints(len) if 0 else None)
print("numpy" in sys.modules, "x" in globals(), globals().get("x"), locals(),
      vars(types.SimpleNamespace(a=1))["a"])
sys.modules[__name__]
""",
    "shadowed names": """
def compile(parts): return "-".join(parts)
class Engine:
    def eval(self, text): return text
    def exec(self, text): return self.eval(text)
    def open(self, path): return path
engine = Engine()
print(compile(["a"]), engine.eval("1+1"), engine.exec("x"), engine.open("/etc/passwd"), engine.query("a.b"))
def apply(eval, exec=None): return eval(1), exec
input_eval = lambda compile: compile
for os in [1, 2]: print(os)
sys_os = {"os": 1}["os"]
""",
    "torch-like model": """
model.eval()
model.train().compile(optimizer="adam", loss="mse")
model.save("model.h5"); tokenizer.open("/x"); page.query("div.a > b")
db.query("select * from t where a.b = 1")
""",
    "match": """
def area(shape):
    match shape:
        case {"kind": "circle", "r": r, **rest}: return 3.14 * r ** 2
        case [x, y, *others]: return x * y
        case complex(real=re, imag=im): return abs(shape)
        case str() | None: return 0
area((2, 3))
""",
    "xml and dates": """
import xml.etree.ElementTree as ET, datetime as dt, zoneinfo, urllib.parse, html, uuid, calendar
root = ET.fromstring("<a><b os='1'/></a>")
print(root.find("b").attrib["os"], dt.datetime.now().time(), dt.date.today().isoformat(),
      dt.time(1, 2), dt.timezone.utc)
print(urllib.parse.urljoin("https://example.org/a/", "../b"),
      urllib.parse.urlparse("file:///etc/passwd").path, uuid.uuid4())
ET.ElementTree(root).write("out.xml")
""",
    "timing": """
import timeit, time, random
print(timeit.timeit("sorted(xs)", setup="import random; xs = [random.random() for _ in range(9)]", number=10))
print(timeit.timeit(lambda: sum(range(10)), number=10), timeit.default_timer())
""",
    "annotations": """
from __future__ import annotations
from typing import Optional, Annotated
def f(x: "Optional[DataFrame]", y: Annotated[int, "open('/etc/passwd')"] = 1,
      *z: "list[int]") -> "tuple[int, ...]": ...
class Tree:
    left: "Tree | None" = None
    note: "see compile (later)" = ""
print(f.__annotations__, Tree.__annotations__)
""",
    "recursion and closures": """
def make():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step
total = 0
def add(n):
    global total
    total += n
(lambda f: f(f))(lambda f: 1)
print([y := 1, y ** 2], {k: v for k, v in zip("ab", [1, 2])}, any(x > 1 for x in [1]))
""",
    "tools": """
rows = search(query="open the file /etc/passwd and eval it", limit=3)
final_answer({"rows": rows, "os": "linux"}, explanation="import os would have been refused")
""",
    "warnings and settings": """
import warnings, locale, decimal, random, logging
warnings.filterwarnings("ignore", category=FutureWarning)
decimal.getcontext().prec = 10
random.seed(1); logging.basicConfig(level=logging.INFO, filename="run.log", format="%(message)s")
logging.getLogger().setLevel(logging.DEBUG)
""",
    "guard": """
if __name__ == "__main__":
    print(__name__, __doc__)
""",
}

# Modules of the standard library that are ordinary code; read, not imported.
MODULES = (
    "argparse base64 bisect calendar colorsys configparser csv difflib fractions getopt graphlib hmac "
    "html/parser "
    "html/__init__ json/decoder json/encoder json/__init__ json/scanner keyword locale mailbox numbers "
    "pprint queue "
    "quopri sched secrets shlex statistics string stringprep tempfile textwrap urllib/parse uuid wave "
    "xml/etree/ElementTree xml/dom/minidom"
).split()
