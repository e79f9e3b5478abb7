"""Who includes whom: the tables of ARCHITECTURE.md against the sources."""

import os
import re
import tempfile
import unittest

import layers

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def violations(root, page):
    """What the sources below `root` include against the tables of `page`, one text each."""
    table = layers.include_table(page)
    owners = layers.owned_headers(page)
    found = []
    for path in layers.sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as source:
            text = source.read()
        folder = layers.folder_of(path, table)
        if folder is None:
            found.append(f"{path}: lies in no folder of the table in ARCHITECTURE.md; add a row")
            continue
        for quote, header in INCLUDE.findall(text):
            found.extend(_judge(root, path, folder, quote, header, table, owners))
    return found


def _judge(root, path, folder, quote, header, table, owners):
    where = f"{path} includes {header}"
    if header.startswith("gloveport/"):
        inner = header[len("gloveport/"):]
        target = layers.folder_of(inner, table)
        if target is None or not os.path.exists(os.path.join(root, inner)):
            yield f"{where}: there is no such header"
        elif target != folder and target not in table[folder]:
            yield f"{where}: {folder} may include {sorted(table[folder]) or 'nothing'}"
        return
    if quote == '"':
        yield f'{where}: our own headers are included as "gloveport/<folder>/<file>.h"'
    for prefix, folders in owners.items():
        if (header == prefix or (prefix.endswith("/") and header.startswith(prefix))) and not any(
                path.startswith(owner + "/") for owner in folders):
            yield f"{where}: only {sorted(folders)} may"


class IncludeTest(unittest.TestCase):

    def test_sources_keep_to_the_tables(self):
        self.assertEqual([], violations(layers.ROOT, layers.read_page()))

    def test_every_folder_of_the_table_exists(self):
        table = layers.include_table(layers.read_page())
        self.assertEqual([], [folder for folder in table if not os.path.isdir(os.path.join(layers.ROOT, folder))])


class CheckerTest(unittest.TestCase):
    """The checker itself, on a small tree: each refusal has an allowed twin."""

    PAGE = ("| folder | may include |\n|---|---|\n| `core/base` | nothing |\n| `core/wire` | `core/base` |\n"
            "| `interp/child` | `core/base` |\n\n"
            "| header | only in |\n|---|---|\n| `Python.h`, `pybind11/` | `interp` |\n")

    CASES = (
        ("core/wire/a.cc", '#include "gloveport/core/base/b.h"', None),
        ("core/base/a.cc", '#include "gloveport/core/wire/w.h"', "core/base may include nothing"),
        ("core/base/a.cc", '#include "gloveport/core/base/b.h"', None),
        ("core/base/a.cc", '#include "gloveport/core/base/absent.h"', "no such header"),
        ("core/base/a.cc", '#include "b.h"', "our own headers"),
        ("core/base/a.cc", "#  include <Python.h>", "only ['interp'] may"),
        ("core/base/a.cc", "#include <pybind11/embed.h>", "only ['interp'] may"),
        ("interp/child/a.cc", "#include <pybind11/embed.h>", None),
        ("interp/child/a.cc", "#include <vector>", None),
        ("tools/a.cc", "#include <vector>", "no folder of the table"),
    )

    def test_each_case(self):
        for path, line, expected in self.CASES:
            with self.subTest(path=path, line=line), tempfile.TemporaryDirectory() as root:
                for name in ("core/base/b.h", "core/wire/w.h", path):
                    os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                    with open(os.path.join(root, name), "w", encoding="utf-8") as out:
                        out.write(line + "\n" if name == path else "\n")
                found = violations(root, self.PAGE)
                if expected is None:
                    self.assertEqual([], found)
                else:
                    self.assertEqual(1, len(found), found)
                    self.assertIn(expected, found[0])


if __name__ == "__main__":
    unittest.main()
