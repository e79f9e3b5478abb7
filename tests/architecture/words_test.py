"""Words that do not belong into the tree: paths of one machine, hosts of registries, notes to oneself."""

import os
import re
import subprocess
import tempfile
import unittest

import layers

# Spelled in pieces, so that this file does not find itself.
FORBIDDEN = {
    "note to oneself": r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b",
    "path of one machine": r"(?<![\w.])/(wo" r"rk/(main|shared|\.library)|ho" r"me/\w+/|tmp/build-\w+)",
    "home of one user": r"(?<![\w.])/ro" r"ot/",
    "host of a registry": r"\b(deb\.deb" r"ian\.org|archive\.ubun" r"tu\.com|pypi\.o" r"rg|registry\.npm" r"js\.org)\b",
}
# Data, texts of others, and attack payloads that name such paths on purpose.
EXCEPT = re.compile(r"^(tests/cases/|examples/[^/]+/[^/]+\.(csv|jsonl)$|LICENSE$)")


def tracked_files(root):
    """Files that git knows or would add; without git every file outside hidden and build folders."""
    try:
        listing = subprocess.run(["git", "-c", f"safe.directory={root}", "-C", root, "ls-files", "-z", "--cached",
                                  "--others", "--exclude-standard"], check=True, capture_output=True).stdout
        return [name.decode() for name in listing.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, subfolders, names in os.walk(root):
            subfolders[:] = [name for name in subfolders if not name.startswith((".", "build", "__pycache__"))]
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
        return found


def violations(root):
    found = []
    for path in tracked_files(root):
        full = os.path.join(root, path)
        if EXCEPT.match(path) or not os.path.isfile(full):
            continue
        with open(full, "rb") as file:
            data = file.read()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            found += [f"{path}:{number}: {what}: {line.strip()[:100]}"
                      for what, pattern in FORBIDDEN.items() if re.search(pattern, line)]
    return found


class WordsTest(unittest.TestCase):

    def test_tree_is_free_of_them(self):
        self.assertEqual([], violations(layers.ROOT))


class CheckerTest(unittest.TestCase):

    CASES = (
        ("// TO" "DO: later", True),
        ("// what is to be done", False),
        ("cd /wo" "rk/main", True),
        ("open('/wo" "rkdir/a.csv')", False),
        ("/ro" "ot/.ssh", True),
        ("build/ro" "ot/x", False),
    )

    def test_each_case(self):
        for line, forbidden in self.CASES:
            with self.subTest(line=line), tempfile.TemporaryDirectory() as root:
                with open(os.path.join(root, "a.txt"), "w", encoding="utf-8") as out:
                    out.write(line + "\n")
                self.assertEqual(forbidden, bool(violations(root)))


if __name__ == "__main__":
    unittest.main()
