"""A file that grows past 500 lines is reported, one past 700 fails: ask which noun is missing."""

import os
import unittest

import layers

REPORT_ABOVE = 500
FAIL_ABOVE = 700
FOLDERS = layers.PRODUCT_FOLDERS + ("examples", "tests", "scripts", "cmake")
ENDINGS = (".h", ".cc", ".py", ".sh", ".cmake")


class SizeTest(unittest.TestCase):

    def test_files_stay_short(self):
        too_long = []
        for path in layers.sources(layers.ROOT, FOLDERS, ENDINGS):
            with open(os.path.join(layers.ROOT, path), encoding="utf-8") as source:
                lines = sum(1 for _ in source)
            if lines > REPORT_ABOVE:
                print(f"long file: {path} has {lines} lines")
            if lines > FAIL_ABOVE:
                too_long.append(f"{path}: {lines} lines")
        self.assertEqual([], too_long, f"no file may have more than {FAIL_ABOVE} lines")


if __name__ == "__main__":
    unittest.main()
