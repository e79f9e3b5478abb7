// What a session is to the code that runs in it: errors, output, sources, editors' requests, the interpreter.
// What it may import: session_imports_test.cc.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "gloveport/interp/child/python_ref.h"
#include "gloveport/tests/interp/child/session_fixture.h"

namespace gloveport::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Session : public SessionFixture {
 protected:
  std::string Ask(const std::string& op, const std::string& code, int cursor) {
    return DumpJson(Decoded(session().Ask(op, Value::Object({{"code", code}, {"cursor", cursor}})).value));
  }
};

// ---- the interpreter ----

TEST_F(Session, InterpreterIsIsolated) {
  EXPECT_EQ(
      Eval("import sys\n[sys.flags.isolated, sys.flags.no_site, sys.flags.utf8_mode, sys.flags.safe_path, "
           "sys.flags.dont_write_bytecode, 'site' in sys.modules, '' in sys.path, sys.argv, sys.orig_argv]"),
      R"([1,1,1,true,1,false,false,["gloveport"],["gloveport"]])");
  EXPECT_EQ(Eval("import os\n[p for p in sys.path if not os.path.isabs(p) or os.getcwd().startswith(p)]"),
            "[]");
  EXPECT_EQ(Eval("[sys.executable.startswith('/usr/bin/python3'), sys._base_executable == sys.executable, "
                 "sys.prefix, "
                 "os.__file__ == sys._stdlib_dir + '/os.py']"),
            R"([true,true,"/usr",true])");
}

TEST_F(Session, SeedMakesRandomNumbersRepeat) {
  const auto numbers = [&](std::optional<std::uint64_t> seed) {
    SessionProcess process(config_, folder_.path(), seed);
    return Json(process.Run("import random\nrandom.random(), __import__('numpy').random.rand()"));
  };
  EXPECT_EQ(numbers(7), numbers(7));
  EXPECT_NE(numbers(7), numbers(8));
  EXPECT_NE(numbers(std::nullopt), numbers(std::nullopt));
}

// ---- errors ----

struct Failing {
  const char* name;
  const char* code;
  const char* traceback;  // the whole text
};

std::string NameOf(const ::testing::TestParamInfo<Failing>& test) { return test.param.name; }

class Errors : public Session, public ::testing::WithParamInterface<Failing> {};

// The texts are those of CPython 3.11. Later ones mark other columns, and their library has other lines.
// A display without what the host needs to tell it in order.
Value WithoutOrder(Value bundle) {
  std::erase_if(bundle.as_map(), [](const auto& form) {
    return form.first == Value("application/vnd.gloveport.written-before");
  });
  return bundle;
}

std::string OfThisPython(const std::string& text) {
#if PY_VERSION_HEX >= 0x030c0000
  const std::string unmarked = std::regex_replace(text, std::regex("\n[ ~^]+(?=\n)"), "");
  return std::regex_replace(unmarked, std::regex("(/usr/lib/python3)[.0-9]+(/[^\"]+\", line )[0-9]+"),
                            "$1$2N");
#else
  return text;
#endif
}

TEST_P(Errors, AreToldExactly) {
  EXPECT_EQ(OfThisPython(Traceback(Run(GetParam().code))), OfThisPython(GetParam().traceback));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Errors,
    ::testing::Values(
        Failing{"Line", "x = 1\n1 / 0\n",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 2, in <module>\n    1 / 0\n   "
                " ~~^~~\n"
                "ZeroDivisionError: division by zero\n"},
        Failing{"TrailingValueAfterASemicolon", "x = {}; x['a'][0]",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 1, in <module>\n    x = {}; "
                "x['a'][0]\n"
                "            ~^^^^^\nKeyError: 'a'\n"},
        Failing{"NearMissOfAName", "number = 1\nnumbr",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 2, in <module>\n    numbr\n"
                "NameError: name 'numbr' is not defined. Did you mean: 'number'?\n"},
        Failing{"NearMissOfAnAttribute", "'a'.uper()",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 1, in <module>\n    "
                "'a'.uper()\n    ^^^^^^^^\n"
                "AttributeError: 'str' object has no attribute 'uper'. Did you mean: 'upper'?\n"},
        Failing{"ForgottenImport", "math.pi",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 1, in <module>\n    math.pi\n "
                "   ^^^^\n"
                "NameError: name 'math' is not defined. Did you forget to import 'math'?\n"},
        Failing{"NearMissOfAnImport", "from math import sqrtt",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 1, in <module>\n    from math "
                "import sqrtt\n"
                "ImportError: cannot import name 'sqrtt' from 'math' "
                "(unknown location). Did you mean: 'sqrt'?\n"},
        Failing{"Syntax", "x = 1\nif x > 0\n    y\n",
                "  File \"<cell 0>\", line 2\n    if x > 0\n            ^\nSyntaxError: expected ':'\n"},
        Failing{"Cause", "try:\n    int('x')\nexcept ValueError as e:\n    raise RuntimeError('bad') from e",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 2, in <module>\n    int('x')\n"
                "ValueError: invalid literal for int() with base 10: 'x'\n\nThe above exception was the "
                "direct cause of the "
                "following exception:\n\nTraceback (most recent call last):\n  File \"<cell 0>\", line 4, in "
                "<module>\n"
                "    raise RuntimeError('bad') from e\nRuntimeError: bad\n"},
        Failing{"Notes", "e = ValueError('v')\ne.add_note('first')\ne.add_note('second')\nraise e",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 4, in <module>\n    raise e\n"
                "ValueError: v\nfirst\nsecond\n"},
        Failing{"LongRunOfLibraryFrames", "import json\njson.loads('{')",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 2, in <module>\n    "
                "json.loads('{')\n"
                "  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n    return "
                "_default_decoder.decode(s)\n"
                "           ^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
                "  File \"/usr/lib/python3.11/json/decoder.py\", line 353, in raw_decode\n"
                "    obj, end = self.scan_once(s, idx)\n               ^^^^^^^^^^^^^^^^^^^^^^\n"
                "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 "
                "column 2 (char 1)\n"},
        Failing{"Input", "name = input('? ')",
                "Traceback (most recent call last):\n  File \"<cell 0>\", line 1, in <module>\n    name = "
                "input('? ')\n"
                "           ^^^^^^^^^^^\nEOFError: input() cannot be answered: nobody is there to type. Put "
                "the value into the "
                "code, read it from a file, or ask for it in your answer\n"}),
    NameOf);

TEST_F(Session, AwaitedErrorShowsFramesOfTheCellOnly) {
  const std::string text = Traceback(
      Run("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 1 / 0\nawait f()"));
  EXPECT_THAT(text, HasSubstr("line 5, in <module>\n    await f()\n"));
  EXPECT_THAT(text, HasSubstr("line 4, in f\n"));
  EXPECT_THAT(text, Not(HasSubstr("base_events")));
  EXPECT_THAT(text, Not(HasSubstr("gloveport")));
}

TEST_F(Session, DeepRecursionIsFolded) {
  const CellRun run = Run("def f(n):\n    return f(n + 1)\nf(0)");
  EXPECT_EQ(ErrorType(run), "RecursionError");
  EXPECT_THAT(Traceback(run), HasSubstr("[Previous line repeated"));
  EXPECT_LT(Traceback(run).size(), 2000u);
}

TEST_F(Session, HugeMessageIsCut) {
  const CellRun run = Run("raise ValueError('x' * 3_000_000 + 'end')");
  EXPECT_LT(Traceback(run).size(), 100'000u);
  EXPECT_THAT(Traceback(run), HasSubstr("characters cut"));
  EXPECT_THAT(Traceback(run), HasSubstr("end"));
}

TEST_F(Session, PrinterNeverOpensAPathThatCodeClaimsToComeFrom) {
  std::ofstream(folder_.path() / "secret.txt") << "the first line\n";
  const CellRun run = Run("exec(compile('1/0', 'secret.txt', 'exec'))");
  EXPECT_THAT(Traceback(run), HasSubstr("secret.txt"));
  EXPECT_THAT(Traceback(run), Not(HasSubstr("the first line")));
  const CellRun fifo =
      Run("import os\nos.mkfifo('pipe')\nexec(compile('1/0', 'pipe', 'exec'))", std::chrono::seconds(10));
  EXPECT_EQ(ErrorType(fifo), "ZeroDivisionError");
}

TEST_F(Session, ExceptionOfAThreadIsToldWithTheLinesOfTheCell) {
  const CellRun run =
      Run("import threading\ndef work():\n    return 1 / 0\nt = threading.Thread(target=work, name='w')\n"
          "t.start(); t.join()");
  EXPECT_EQ(Status(run), "ok");
  EXPECT_THAT(run.err, StartsWith("Exception in thread w:\nTraceback"));
  EXPECT_THAT(run.err, HasSubstr("return 1 / 0\n           ~~^~~\nZeroDivisionError"));
}

TEST_F(Session, ExceptionThatCannotBeShownIsStillAnError) {
  const CellRun run =
      Run("class E(Exception):\n    __name__ = property(lambda s: 1/0)\n    def __str__(self): 1/0\n"
          "    def __repr__(self): 1/0\n    @property\n    def __notes__(self): 1/0\nraise E()");
  EXPECT_EQ(Status(run), "error");
  EXPECT_EQ(ErrorType(run), "E");
  EXPECT_EQ(Eval("'next'"), "\"next\"");
}

TEST_F(Session, ExitWithoutACodeEndsTheCellQuietly) {
  EXPECT_EQ(Json(Run("import sys\nprint('a')\nsys.exit()\nprint('b')")), "null");
  EXPECT_EQ(Json(Run("exit(0)")), "null");
  EXPECT_EQ(ErrorType(Run("sys.exit(3)")), "SystemExit");
  EXPECT_EQ(Message(Run("sys.exit('why')")), "why");
}

TEST_F(Session, MemoryErrorHasAStatusOfItsOwn) {
  const CellRun run = Run("x = [0] * (1 << 60)");
  EXPECT_EQ(Status(run), "memory");
  EXPECT_EQ(Eval("'next'"), "\"next\"");
}

// ---- output ----

TEST_F(Session, OutputIsSeenWhileItIsWritten) {
  bool seen_early = false;
  session().set_watch(
      [&](const CellRun& run) { seen_early = seen_early || (run.out == "tick" && !run.done); });
  Run("import time\nprint('tick', end='', flush=True)\ntime.sleep(0.3)\nprint()");
  EXPECT_TRUE(seen_early);
}

TEST_F(Session, StreamsAreRestoredAfterEachCell) {
  for (const char* damage :
       {"import sys, io\nsys.stdout = io.StringIO()", "import sys\nsys.stdout.close()",
        "import sys\nsys.stdout = None", "import sys\ndel sys.stdout", "import sys\nsys.stdout.detach()",
        "import os\nos.close(1)", "import os\nos.close(1); os.close(2)\nopen('f')",
        "import sys\nsys.stdout.buffer.close()"}) {
    Run(damage);
    const CellRun run = Run("import sys\nprint('out')\nprint('err', file=sys.stderr)");
    EXPECT_EQ(run.out, "out\n") << damage;
    EXPECT_EQ(run.err, "err\n") << damage;
  }
}

TEST_F(Session, BytesAndSurrogatesAreNotLost) {
  const CellRun run = Run(
      "import sys\nprint('a\\ud83db')\nsys.stdout.buffer.write(b'\\xff\\x00')\nsys.stdout.write('c\\r\\n')");
  EXPECT_EQ(run.out, std::string("a\\ud83db\n\xff\0c\r\n", 14));
}

TEST_F(Session, ReprIsCutAndSaysSo) {
  const CellRun run = Run("'x' * 1_000_000");
  EXPECT_LT(run.done->repr.size(), 70'000u);
  EXPECT_THAT(run.done->repr, HasSubstr("cut"));
  const CellRun list = Run("list(range(10**6))");
  EXPECT_THAT(list.done->repr, StartsWith("[0, 1, 2, "));
  EXPECT_THAT(list.done->repr, HasSubstr("1000000 items in all"));
}

TEST_F(Session, RichFormsAreShown) {
  const CellRun run = Run(
      "class H:\n    def _repr_html_(self): return '<b>h</b>'\n    def __repr__(self): return 'H'\n"
      "class M:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n"
      "        return {'image/png': b'png', 'text/plain': 'no'}, {}\n    def __repr__(self): return 'M'\n"
      "class Bad:\n    def _repr_html_(self): 1/0\n    def __repr__(self): return 'Bad'\n"
      "class Any:\n    def __getattr__(self, n): return lambda *a: n\n    def __repr__(self): return 'Any'\n"
      "display(1, H(), M(), Bad(), Any())\nH()");
  std::vector<std::string> shown;
  for (const wire::Display& display : run.displays)
    shown.push_back(DumpJson(WithoutOrder(Decoded(display.bundle))));
  EXPECT_THAT(shown, ::testing::ElementsAre(
                         R"({"text/plain":"1"})", R"({"text/html":"<b>h</b>","text/plain":"H"})",
                         R"({"image/png":{"$bytes":"cG5n"},"text/plain":"M"})", R"({"text/plain":"Bad"})",
                         R"({"text/plain":"Any"})", R"({"text/html":"<b>h</b>","text/plain":"H"})"));
  EXPECT_THAT(run.err, HasSubstr("ZeroDivisionError"));
}

TEST_F(Session, WhatIsShownCanBeUpdatedAndCleared) {
  const CellRun run =
      Run("from IPython.display import HTML, Image, Markdown, clear_output as clear, display as show\n"
          "show(HTML('<b>h</b>'), Markdown('*m*'))\nclear(wait=True)\ndisplay(1, display_id='a')\n"
          "update_display(2, display_id='a')\nclear_output()\ndisplay({'text/html': 'raw'}, raw=True, "
          "clear=True)\n"
          "display(Image(b'\\x89PNG'))");
  ASSERT_EQ(Status(run), "ok") << Traceback(run);
  std::vector<std::string> shown;
  for (const wire::Display& display : run.displays)
    shown.push_back(DumpJson(WithoutOrder(Decoded(display.bundle))));
  const std::string clear = R"({"application/vnd.gloveport.clear-output":)";
  EXPECT_THAT(
      shown, ::testing::ElementsAre(
                 R"({"text/html":"<b>h</b>","text/plain":"<IPython.display.HTML object>"})",
                 R"({"text/markdown":"*m*","text/plain":"<IPython.display.Markdown object>"})",
                 clear + "true}", R"({"text/plain":"1","application/vnd.gloveport.display-id":"a"})",
                 R"({"text/plain":"2","application/vnd.gloveport.updates-display-id":"a"})", clear + "false}",
                 clear + "true}", R"({"text/html":"raw"})",
                 R"({"image/png":{"$bytes":"iVBORw=="},"text/plain":"<IPython.display.Image object>"})"));
  EXPECT_THAT(Message(Run("from IPython.display import HTML\nHTML(url='https://example.org')")),
              HasSubstr("network is not available"));
  EXPECT_THAT(Message(Run("from IPython import get_ipython")), HasSubstr("cannot import name"));
}

// ---- what the host is told ----

TEST_F(Session, OpenedFilesAreReportedOnceAndTheRuntimesAreNot) {
  std::ofstream(folder_.path() / "in.txt") << "x";
  const CellRun run =
      Run("import json.tool, zipfile, zoneinfo\nzoneinfo.ZoneInfo('Europe/Rome')\nfor i in range(3): "
          "open('in.txt').read()\n"
          "open('out.txt', 'w').write('y')\ntry: open('missing.txt')\nexcept OSError: pass\n"
          "import os\nos.close(os.open('in.txt', os.O_RDWR))");
  ASSERT_EQ(Status(run), "ok") << Traceback(run);
  EXPECT_THAT(EventsOf(run, "open"),
              ::testing::ElementsAre(R"({"path":"in.txt","write":false,"create":false,"allowed":true})",
                                     R"({"path":"out.txt","write":true,"create":true,"allowed":true})",
                                     R"({"path":"missing.txt","write":false,"create":false,"allowed":false})",
                                     R"({"path":"in.txt","write":true,"create":false,"allowed":true})"));
}

TEST_F(Session, BusyCellDoesNotFloodTheHost) {
  const CellRun run = Run("for i in range(5000): open(f'f{i % 1000}', 'w').close()");
  const auto events = EventsOf(run, "open");
  EXPECT_LE(events.size(), 300u);
  EXPECT_THAT(events.back(), HasSubstr("\"more\":"));
}

TEST_F(Session, ProcessesAndNetworkAreRefusedWithAHint) {
  for (const char* code :
       {"import os\nos.fork()", "import os\nos.system('true')", "import subprocess\nsubprocess.run(['true'])",
        "import multiprocessing as m\np = m.get_context('fork').Process(target=print)\np.start()"}) {
    const CellRun run = Run(code);
    EXPECT_EQ(ErrorType(run), "PermissionError") << code;
    EXPECT_THAT(Message(run), HasSubstr("no program or process can be started")) << code;
    EXPECT_THAT(EventsOf(run, "refused"), ::testing::Contains(HasSubstr("\"rule\":\"process\""))) << code;
  }
  for (const char* code :
       {"import socket\nsocket.socket()", "import socket\nsocket.create_connection(('127.0.0.1', 9))",
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')"}) {
    const CellRun run = Run(code);
    EXPECT_THAT(Message(run), HasSubstr("there is no network in here")) << code;
  }
  EXPECT_EQ(Eval("import asyncio\nawait asyncio.sleep(0, 'loops work')"), "\"loops work\"");
}

// ---- sources ----

TEST_F(Session, SourceOfClassesAndFunctionsIsFound) {
  ASSERT_EQ(Eval("import inspect, enum, dataclasses\nclass A:\n    x = 1\n\n@dataclasses.dataclass\nclass "
                 "B:\n    y: int\n    def m(self):\n        return 2\n"),
            "null");
  ASSERT_EQ(Eval("# moved\nclass A:\n    x = 2\nclass E(enum.Enum):\n    ONE = 1\n    class Inner:\n        "
                 "z = 3\n"),
            "null");
  EXPECT_EQ(Eval("inspect.getsource(A)"), "\"class A:\\n    x = 2\\n\"");
  EXPECT_EQ(Eval("inspect.getsource(B)"),
            "\"@dataclasses.dataclass\\nclass B:\\n    y: int\\n    def m(self):\\n        return 2\\n\"");
  EXPECT_EQ(Eval("inspect.getsource(E)"),
            "\"class E(enum.Enum):\\n    ONE = 1\\n    class Inner:\\n        z = 3\\n\"");
  EXPECT_EQ(Eval("import linecache\nlinecache.clearcache()\nlinecache.checkcache()\ninspect.getsource(B.m)"),
            "\"    def m(self):\\n        return 2\\n\"");
  EXPECT_EQ(ErrorType(Run("inspect.getsource(int)")), "TypeError");
}

TEST_F(Session, LineEndsOfOtherSystemsAreLines) {
  const CellRun run = Run("x = 1\r\ny = 2\r\n1/0\r\n");
  EXPECT_EQ(ErrorOf(run).IntOr("line", 0), 3);
  EXPECT_THAT(Traceback(run), HasSubstr("    1/0\n"));
}

TEST_F(Session, NullByteIsASyntaxErrorOfItsLine) {
  const CellRun run = Run(std::string("x = 1\ny = '\0'", 12));
  EXPECT_EQ(ErrorType(run), "SyntaxError");
  EXPECT_EQ(ErrorOf(run).IntOr("line", 0), 2);
}

TEST_F(Session, FutureImportsHoldForLaterCells) {
  ASSERT_EQ(Eval("from __future__ import annotations"), "null");
  EXPECT_EQ(Eval("def f(x: NotThere): pass\nf.__annotations__"), R"({"x":"NotThere"})");
}

TEST_F(Session, ContextVariablesAreSharedByCellsWithAndWithoutAwait) {
  ASSERT_EQ(Eval("import asyncio, contextvars\nv = contextvars.ContextVar('v', default=0)\nv.set(1)\n0"),
            "0");
  EXPECT_EQ(Eval("await asyncio.sleep(0)\nv.set(v.get() + 1)\nv.get()"), "2");
  EXPECT_EQ(Eval("v.get()"), "2");
}

TEST_F(Session, TasksOfOneCellGoOnInTheNext) {
  ASSERT_EQ(Eval("import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 5\nt = "
                 "asyncio.ensure_future(f()) "
                 "if 0 else None\nawait asyncio.sleep(0)\nt = asyncio.create_task(f())\n0"),
            "0");
  EXPECT_EQ(Eval("await t"), "5");
}

// ---- editors ----

TEST_F(Session, CompletesNamesAndAttributes) {
  Run("long_variable = 'text'\nclass C:\n    @property\n    def boom(self): raise SystemExit\nc = C()");
  EXPECT_EQ(Ask("complete", "x = long_v", 10), R"({"matches":["long_variable"],"start":4,"end":10})");
  EXPECT_EQ(Ask("complete", "long_variable.upp + 1", 17), R"({"matches":["upper"],"start":14,"end":17})");
  EXPECT_EQ(Ask("complete", "c.bo", 4), R"({"matches":["boom"],"start":2,"end":4})");
  EXPECT_EQ(Ask("complete", "c.boom.x", 8), R"({"matches":[],"start":7,"end":8})");
  EXPECT_EQ(Ask("complete", "", 0).substr(0, 12), R"({"matches":[)");
}

TEST_F(Session, InspectsTheNameAtTheCursor) {
  Run("def area(width, height=2):\n    \"\"\"Width times height.\"\"\"\n    return width * height");
  EXPECT_EQ(Ask("inspect", "area(3)", 2),
            R"j({"found":true,"name":"area","type":"function","doc":"Width times height.",)j"
            R"j("signature":"area(width, height=2)","file":"<cell 0>"})j");
  EXPECT_THAT(Ask("inspect", "nothing", 3), HasSubstr("\"found\":false"));
}

TEST_F(Session, TellsWhetherACellIsComplete) {
  struct {
    const char* code;
    const char* answer;
  } const table[] = {{"x = 1", R"({"status":"complete","indent":""})"},
                     {"", R"({"status":"complete","indent":""})"},
                     {"def f():", R"({"status":"incomplete","indent":"    "})"},
                     {"def f():\n    x = 1", R"({"status":"incomplete","indent":"    "})"},
                     {"def f():\n    x = 1\n", R"({"status":"complete","indent":""})"},
                     {"f(1,", R"({"status":"incomplete","indent":""})"},
                     {"s = '''a", R"({"status":"incomplete","indent":""})"},
                     {"await f()", R"({"status":"complete","indent":""})"},
                     {"x = = 1", R"({"status":"invalid","indent":""})"},
                     {"x = 1\ny = 2", R"({"status":"complete","indent":""})"}};
  for (const auto& [code, answer] : table) EXPECT_EQ(Ask("is_complete", code, 0), answer) << code;
}

TEST_F(Session, UnknownRequestIsAnError) {
  const wire::Reply reply = session().Ask("dance", Value(Value::Map()));
  EXPECT_FALSE(reply.ok);
  EXPECT_THAT(reply.error_message, HasSubstr("unknown operation 'dance'"));
}

TEST_F(Session, AtExitHandlersRunWhenTheHostClosesTheSession) {
  ASSERT_EQ(Eval("import atexit\natexit.register(lambda: open('bye', 'w').close())\n0"), "0");
  session().Close();
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "bye"));
}

}  // namespace
}  // namespace gloveport::testing
