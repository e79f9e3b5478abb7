// Which modules a cell may import by name, and which text it may run as code.
#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "gloveport/tests/interp/child/session_fixture.h"

namespace gloveport::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Imports : public SessionFixture {
 protected:
  Imports() {
    config_.policy.imports = {.allow = {"math", "json", "os", "random", "concurrent.futures", "helpers",
                                        "xml.dom.minidom", "importlib", "nothing_like_this"},
                              .deny = {"os.path", "json.tool"},
                              .ask = {"pickle"}};
  }
};

TEST_F(Imports, AllowedModulesAndTheirSubmodulesImport) {
  for (const char* code :
       {"import math", "import json.decoder", "from json import decoder", "from concurrent import futures",
        "from concurrent.futures import ThreadPoolExecutor", "import xml.dom.minidom",
        "import importlib\nimportlib.import_module('math')", "__import__('math')", "from math import *"}) {
    EXPECT_EQ(Status(Run(code)), "ok") << code;
  }
}

TEST_F(Imports, OthersAreRefusedByNameWithAHint) {
  struct {
    const char* code;
    const char* module;
    const char* message;
  } const table[] = {
      {"import socket", "socket", "module 'socket' is not allowed here. Network is not available"},
      {"import subprocess", "subprocess", "No process can be started"},
      {"from os import path", "os.path", "module 'os.path' is not allowed"},
      {"import json.tool", "json.tool", "module 'json.tool' is not allowed"},
      {"import pickle", "pickle", "needs a person's approval"},
      {"import surely_missing", "surely_missing", "is not allowed"},
      {"from json import codecs", "codecs", "module 'codecs' is not allowed"},
      {"import importlib\nimportlib.import_module('socket')", "socket", "not allowed"},
      {"__import__('socket')", "socket", "not allowed"},
      {"exec('import socket', {})", "socket", "not allowed"},
      {"def f():\n    import socket\nf()", "socket", "not allowed"},
  };
  for (const auto& [code, module, message] : table) {
    const CellRun run = Run(code);
    EXPECT_EQ(ErrorType(run), "ImportError") << code;
    EXPECT_THAT(Message(run), HasSubstr(message)) << code;
    EXPECT_THAT(
        EventsOf(run, "refused"),
        ::testing::ElementsAre(HasSubstr(std::string("\"rule\":\"import\",\"what\":\"") + module + "\"")))
        << code;
    EXPECT_THAT(Traceback(run), Not(HasSubstr("<gloveport"))) << Traceback(run);
  }
}

class DynamicCode : public SessionFixture {
 protected:
  DynamicCode() { config_.policy.builtins.allow = {}; }
};

// The inspector refuses the plain names; these are what it cannot see.
TEST_F(DynamicCode, TextRunAsCodeIsRefusedByWhicheverName) {
  for (const char* code :
       {"__builtins__.__dict__['ev' + 'al']('1 + 1')", "f = getattr(__builtins__, 'ex' + 'ec')\nf('1')",
        "__builtins__.compile('1', 'x', 'eval')", "exec('import socket')"}) {
    const CellRun run = Run(code);
    EXPECT_EQ(ErrorType(run), "PermissionError") << code;
    EXPECT_THAT(Message(run), HasSubstr("write the code into the cell")) << code;
    EXPECT_THAT(EventsOf(run, "refused"), ::testing::ElementsAre(HasSubstr(R"("rule":"builtin")"))) << code;
  }
}

TEST_F(DynamicCode, LibrariesMayMakeCodeOfText) {
  const CellRun run =
      Run("import collections, dataclasses, typing, colorsys\n"
          "P = collections.namedtuple('P', 'x y')\n"
          "@dataclasses.dataclass\nclass D:\n    x: 'int'\n"
          "typing.get_type_hints(D)['x'], D(1), P(1, 2)");
  EXPECT_EQ(Status(run), "ok");
  EXPECT_THAT(EventsOf(run, "refused"), ::testing::IsEmpty());
}

TEST_F(SessionFixture, ImportsOfACellAreToldOnceEach) {
  const CellRun run = Run("import json\nimport json\nfrom os import path\n__import__('color' + 'sys')");
  EXPECT_THAT(EventsOf(run, "import"), ::testing::ElementsAre(R"({"module":"json","allowed":true})",
                                                              R"({"module":"os","allowed":true})",
                                                              R"({"module":"colorsys","allowed":true})"));
}

TEST_F(Imports, WhatAllowedModulesImportThemselvesWorks) {
  EXPECT_EQ(
      Eval("import json, concurrent.futures\n[json.codecs.__name__, hasattr(concurrent.futures, 'thread')]"),
      "[\"codecs\",true]");
}

TEST_F(Imports, MissingModuleThatIsAllowedIsNotFound) {
  EXPECT_EQ(ErrorType(Run("import nothing_like_this")), "ModuleNotFoundError");
}

TEST_F(Imports, WorkFolderIsDataAndNoCode) {
  std::ofstream(folder_.path() / "helpers.py") << "x = 1\n";
  EXPECT_EQ(ErrorType(Run("import helpers")), "ModuleNotFoundError");
  const CellRun run =
      Run("import importlib\nsys = importlib.import_module('importlib').sys\nsys.path.insert(0, '.')\nimport "
          "helpers");
  EXPECT_EQ(ErrorType(run), "ImportError");
  EXPECT_THAT(Message(run), HasSubstr("files of the work folder are data"));
}

}  // namespace
}  // namespace gloveport::testing
