"""Who links whom: CMake's targets against the table of ARCHITECTURE.md. Usage: link_test.py BUILD_FOLDER"""

import sys
import unittest

import layers
import targets

# What of Python a target may link only below interp/.
PYTHON = ("Python3::", "pybind11::", "libpython")


def violations(known, page):
    table = layers.include_table(page)
    folders = {target.name: target.folder for target in known}
    found = []
    for target in known:
        folder = layers.folder_of(target.folder + "/", table)
        if folder is None:
            found.append(f"{target.name}: {target.folder} is in no row of the table in ARCHITECTURE.md")
            continue
        for name in target.dependencies:
            if any(part in name for part in PYTHON) and not folder.startswith("interp"):
                found.append(f"{target.name} in {folder} links {name}: only interp/ may")
            other = layers.folder_of(folders.get(name, "") + "/", table)
            if other and other != folder and other not in table[folder]:
                found.append(f"{target.name} in {folder} links {name} of {other}, which the table does not allow")
    return found


class LinkTest(unittest.TestCase):

    def test_targets_keep_to_the_table(self):
        self.assertEqual([], violations(targets.read(BUILD), layers.read_page()))

    def test_every_library_of_the_table_is_a_target(self):
        folders = {target.folder for target in targets.read(BUILD)}
        for folder in ("core/base", "core/wire", "policy", "tools", "core/host", "interp/child"):
            self.assertIn(folder, folders)


class CheckerTest(unittest.TestCase):

    PAGE = ("| folder | may include |\n|---|---|\n| `core/base` | nothing |\n| `core/host` | `core/base` |\n"
            "| `interp/child` | `core/base` |\n")

    CASES = (
        ("core/host", ["g_base", "fmt::fmt"], None),
        ("core/base", ["g_host"], "does not allow"),
        ("interp/child", ["g_base", "pybind11::embed"], None),
        ("interp/child", ["g_host"], "does not allow"),
        ("core/host", ["pybind11::embed"], "only interp/ may"),
        ("core/other", [], "no row"),
    )

    def test_each_case(self):
        known = [targets.Target("g_base", "STATIC_LIBRARY", "core/base", "", ()),
                 targets.Target("g_host", "STATIC_LIBRARY", "core/host", "", ())]
        for folder, dependencies, expected in self.CASES:
            with self.subTest(folder=folder, dependencies=dependencies):
                subject = targets.Target("subject", "STATIC_LIBRARY", folder, "", tuple(dependencies))
                found = violations(known + [subject], self.PAGE)
                if expected is None:
                    self.assertEqual([], found)
                else:
                    self.assertEqual(1, len(found), found)
                    self.assertIn(expected, found[0])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
