"""The installed package: a staging install, a small project that finds it, builds against it and runs.

Usage: consumer_test.py BUILD_FOLDER CMAKE GENERATOR COMPILER CXX_FLAGS [LAUNCHER]
"""

import os
import shutil
import subprocess
import sys
import unittest

import layers

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class ConsumerTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.stage = os.path.join(BUILD, "stage", "prefix")
        cls.build = os.path.join(BUILD, "stage", "consumer")
        shutil.rmtree(os.path.dirname(cls.stage), ignore_errors=True)
        run(CMAKE, "--install", BUILD, "--prefix", cls.stage)

    def test_install_has_every_part(self):
        for path in ("bin/gloveport", "libexec/gloveport/gloveport-interp", "include/gloveport/gloveport.h",
                     "include/gloveport/core/host/runtime.h", "share/gloveport/presets/default.json"):
            self.assertTrue(os.path.exists(os.path.join(self.stage, path)), path)

    def test_installed_headers_are_headers_only(self):
        found = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.stage, "include"))
                 for name in names if not name.endswith(".h")]
        self.assertEqual([], found)

    def test_package_names_no_folder_of_the_source_or_build(self):
        for folder, _, names in os.walk(self.stage):
            for name in names:
                if name.endswith(".cmake"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        text = file.read()
                    self.assertNotIn(layers.ROOT, text, name)
                    self.assertNotIn(BUILD, text, name)

    def test_consumer_builds_and_runs(self):
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}"] if LAUNCHER else []
        run(CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", self.build, "-G", GENERATOR,
            f"-DCMAKE_PREFIX_PATH={self.stage}", f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS={FLAGS}",
            *launcher)
        run(CMAKE, "--build", self.build)
        # The staging folder is not the configured prefix, and what lies in the build folder must not help out.
        interp = os.path.join(self.stage, "libexec", "gloveport", "gloveport-interp")
        self.assertEqual("ok: {'mar': 381.6, 'may': 11012.8}\n",
                         run(os.path.join(self.build, "consumer"), env={**os.environ, "GLOVEPORT_INTERP": interp}))

    def test_installed_command_runs(self):
        command = os.path.join(self.stage, "bin", "gloveport")
        self.assertEqual("42\n", run(command, "exec", "-c", "print(6 * 7)"))


if __name__ == "__main__":
    BUILD, CMAKE, GENERATOR, COMPILER, FLAGS, LAUNCHER = (sys.argv[1:] + [""])[:6]
    unittest.main(argv=sys.argv[:1])
