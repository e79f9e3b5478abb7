"""What the built files need: the host side no Python, the interpreter none of the host. Usage: binaries_test.py BUILD_FOLDER"""

import re
import subprocess
import sys
import unittest

import targets

# A name that only libpython can provide.
PYTHON_SYMBOL = re.compile(r"^_?Py[A-Z_]\w*$")
# What the interpreter's program must not contain: the host's half, the network, TLS.
HOST_SYMBOL = re.compile(r"\b(gloveport::(Runtime|Session|Monitor|ToolDispatcher|ToolRegistry|Agent|HttpClient|HttpServer|"
                         r"ChatModel)\b|httplib::|SSL_CTX_new|nlohmann::)")
# Libraries that gloveport-interp may name itself. libpython brings its own (libexpat, libz) besides.
INTERP_LIBRARIES = re.compile(r"^(libpython3\.\d+\.so|libseccomp\.so|libfmt\.so|libre2\.so|libstdc\+\+\.so|libm\.so|libgcc_s\.so|"
                              r"libc\.so|ld-linux-)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined_symbols(file):
    """Names that `file` (an object, archive or program) leaves to others."""
    return {line.split()[-1].split("@")[0] for line in run("nm", "--undefined-only", file).splitlines() if " U " in line}


def needed(file):
    """The shared libraries that `file` itself names."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", file))


def closure(file):
    """The shared libraries that starting `file` would load, by name."""
    return [line.split()[0] for line in run("ldd", file).splitlines() if line.strip()]


def is_python_library(name):
    return "python" in name.lower()


class BinariesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.known = targets.read(BUILD)
        cls.host_side = [target for target in cls.known
                         if target.file and not target.folder.startswith("interp")]

    def program(self, name):
        files = [target.file for target in self.known if target.type == "EXECUTABLE" and
                 target.file.endswith("/" + name)]
        self.assertEqual(1, len(files), f"exactly one target must build the program {name}")
        return files[0]

    def test_host_libraries_need_no_python(self):
        self.assertGreater(len(self.host_side), 5)
        for target in self.host_side:
            with self.subTest(target=target.name):
                self.assertEqual([], sorted(filter(PYTHON_SYMBOL.match, undefined_symbols(target.file))))

    def test_command_loads_no_python(self):
        command = self.program("gloveport")
        self.assertEqual([], [name for name in needed(command) if is_python_library(name)])
        self.assertEqual([], [name for name in closure(command) if is_python_library(name)])

    def test_python_module_leaves_python_to_its_program(self):
        modules = [target.file for target in self.known if target.name == "gloveport_python"]
        if not modules:
            self.skipTest("the Python package is not built here")
        self.assertTrue(any(map(PYTHON_SYMBOL.match, undefined_symbols(modules[0]))))
        self.assertEqual([], [name for name in closure(modules[0]) if is_python_library(name)])
        shown = [line.split()[-1] for line in run("nm", "--dynamic", "--defined-only", modules[0]).splitlines()]
        self.assertEqual(["PyInit__native"], [name for name in shown if not name.startswith("_Z")])

    def interpreter(self):
        """The file with the child in it: a module that is preloaded into Python's program, or a program itself."""
        modules = [target.file for target in self.known if target.name == "gloveport-interp-child"]
        return modules[0] if modules else self.program("gloveport-interp")

    def test_interpreter_does_need_python(self):
        """The control: what the tests above look for is found where it must be."""
        interp = self.interpreter()
        self.assertTrue(any(map(PYTHON_SYMBOL.match, undefined_symbols(interp))))
        if interp.endswith(".so"):  # what it is preloaded into brings Python
            self.assertFalse(any(map(is_python_library, closure(interp))))
        else:
            self.assertTrue(any(map(is_python_library, needed(interp))))
            self.assertTrue(any(map(is_python_library, closure(interp))))

    def test_preloaded_module_shows_no_names_but_those_that_it_governs(self):
        """Whatever else it showed would take the place of the same name in the libraries of Python's packages."""
        interp = self.interpreter()
        if not interp.endswith(".so"):
            self.skipTest("the child is a program")
        shown = {line.split()[-1] for line in run("nm", "--dynamic", "--defined-only", interp).splitlines()}
        clock = {"clock_gettime", "gettimeofday", "time", "timespec_get"}
        chance = {"arc4random", "arc4random_buf", "arc4random_uniform", "getentropy", "getrandom"}
        self.assertEqual({"__libc_start_main"} | clock | chance, shown)

    def test_interpreter_contains_nothing_of_the_host(self):
        symbols = run("nm", "--demangle", self.interpreter())
        self.assertEqual([], sorted(set(HOST_SYMBOL.findall(symbols))))

    def test_command_does_contain_the_host(self):
        """The control of the test above: the pattern finds the host's half where it is."""
        self.assertTrue(HOST_SYMBOL.search(run("nm", "--demangle", self.program("gloveport"))))

    def test_interpreter_names_only_known_libraries(self):
        names = needed(self.interpreter())
        self.assertEqual([], [name for name in names if not INTERP_LIBRARIES.match(name)])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
