"""Runs one of CPython's own test modules and tells how each test ended. The same text runs in a cell and outside."""


def run_module(name):
    """{test: [status, detail]}; status is passed, failed or skipped. Subtests count as failures of their test."""
    import importlib
    import io
    import sys
    import test.support
    import traceback
    import unittest

    class Record(unittest.TestResult):
        def __init__(self):
            super().__init__()
            self.ended = {}

        def note(self, test, status, detail):
            before = self.ended.get(test.id(), ["passed"])[0]
            if before == "passed":
                self.ended[test.id()] = [status, detail[-1500:]]

        def addSuccess(self, test):
            self.ended.setdefault(test.id(), ["passed", ""])

        def addError(self, test, err):
            self.note(test, "failed", "".join(traceback.format_exception(*err)))

        addFailure = addError

        def addSkip(self, test, reason):
            self.note(test, "skipped", reason)

        def addExpectedFailure(self, test, err):
            self.addSuccess(test)

        def addUnexpectedSuccess(self, test):
            self.note(test, "failed", "unexpected success")

        def addSubTest(self, test, subtest, err):
            if err is not None:
                self.addError(test, err)

    test.support.use_resources = []  # none of those that cost much, as in a plain run of the suite
    record = Record()
    module = importlib.import_module(name)
    loader = unittest.defaultTestLoader

    def run_classes(*classes):  # for modules that set something up first and then hand over their classes
        unittest.TestSuite(map(loader.loadTestsFromTestCase, classes)).run(record)

    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.StringIO()
    try:
        if hasattr(module, "test_main"):
            module.run_unittest, module.run_doctest = run_classes, lambda *args, **options: None
            module.test_main()
        else:
            loader.loadTestsFromModule(module).run(record)
    finally:
        sys.stdout, sys.stderr = streams
    return record.ended
