"""The totals at the end of scripts/test: what counts as passed, failed and skipped. Usage: totals_test.py SCRIPTS_FOLDER"""

import contextlib
import io
import os
import sys
import tempfile
import unittest

SKIPPED_ITSELF = ('<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
                  "<system-out>setting up\nno kernel support\n</system-out></testcase>")
NOT_BUILT = ('<testcase name="e" status="notrun"><skipped message="Unable to find executable"/>'
             "<system-out/></testcase>")
PASSED = '<testcase name="a" status="run"><system-out>{}</system-out></testcase>'
FAILED = '<testcase name="b" status="fail"><failure/><system-out>x</system-out></testcase>'
GTEST = ("[ RUN      ] A.Skips\nnoise\n/a.cc:4: Skipped\nno namespaces: see doctor\n[  SKIPPED ] A.Skips (0 ms)\n"
         "[ RUN      ] A.Ok\n[       OK ] A.Ok (0 ms)\n")
UNITTEST = "test_x (__main__.B.test_x) ... skipped 'why not'\ntest_y (__main__.B.test_y) ... ok\n"


class TotalsTest(unittest.TestCase):

    def totals(self, cases, checks=""):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "dev.xml"), "w", encoding="utf-8") as out:
                out.write("<testsuite>" + "".join(cases) + "</testsuite>")
            with open(os.path.join(folder, "checks.tsv"), "w", encoding="utf-8") as out:
                out.write(checks)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = test_totals.main(folder)
        return code, printed.getvalue().splitlines()

    def test_everything_passed(self):
        code, lines = self.totals([PASSED.format("")], "format\tpass\t\n")
        self.assertEqual((0, ["2 passed, 0 failed, 0 skipped"]), (code, lines))

    def test_a_failure_is_named_and_fails_the_run(self):
        code, lines = self.totals([PASSED.format(""), FAILED])
        self.assertEqual((1, ["FAILED   dev: b", "1 passed, 1 failed, 0 skipped"]), (code, lines))

    def test_a_skip_is_shown_with_its_reason(self):
        code, lines = self.totals([PASSED.format(""), SKIPPED_ITSELF])
        self.assertEqual((0, ["skipped  dev: c: no kernel support", "1 passed, 0 failed, 1 skipped"]), (code, lines))

    def test_a_program_that_was_not_built_is_a_failure(self):
        code, lines = self.totals([PASSED.format(""), NOT_BUILT])
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped"), (code, lines[-1]))

    def test_a_run_without_tests_fails(self):
        self.assertEqual((1, ["0 passed, 0 failed, 0 skipped"]), self.totals([]))

    def test_skips_inside_of_a_passing_program_are_shown(self):
        for output, expected in ((GTEST, "A.Skips: no namespaces: see doctor"), (UNITTEST, "test_x: why not")):
            with self.subTest(expected=expected):
                _, lines = self.totals([PASSED.format(output)])
                self.assertEqual([f"skipped  dev: a: {expected}", "1 passed, 0 failed, 0 skipped"], lines)

    def test_totals_of_case_runners_are_repeated(self):
        _, lines = self.totals([PASSED.format("x\ncells: 12 passed, 1 failed, 3 skipped\n12 passed, 1 failed\n")])
        self.assertEqual(["cells: 12 passed, 1 failed, 3 skipped", "1 passed, 0 failed, 0 skipped"], lines)


if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
    import test_totals
    unittest.main()
