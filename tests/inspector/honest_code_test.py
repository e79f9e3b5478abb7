"""No honest code is refused: cells of data work, and modules that people wrote long before any inspector."""

import os
import sysconfig
import unittest

import honest_code
import support

inspector = support.load()
ALLOWED = {"decision": "allow", "findings": []}


class HonestCodeTest(unittest.TestCase):

    def test_cells_of_data_work(self):
        rules = support.rules(tools=["search", "final_answer"])
        for what, code in honest_code.CELLS.items():
            with self.subTest(what):
                self.assertEqual(ALLOWED, inspector.check(code, rules))
                self.assertTrue(inspector.syntax(code)["complete"])

    def test_ordinary_modules_of_the_standard_library(self):
        folder = sysconfig.get_paths()["stdlib"]
        everything = {"imports": {"allow": ["*"]}}
        for name in honest_code.MODULES:
            with self.subTest(name), open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:
                self.assertEqual(ALLOWED, inspector.check(file.read(), everything))


if __name__ == "__main__":
    unittest.main()
