"""Whether a text is Python, as the action parser asks."""

import unittest

import support

inspector = support.load()

COMPLETE = [
    # text, has_action
    ("", False),
    ("# nothing", False),
    ("x", False),
    ("x.y + 1", False),
    ("x = 1", True),
    ("x: int = 1", True),
    ("x: int", False),
    ("x += 1", True),
    ("(x := 1)", True),
    ("import math", True),
    ("from math import pi", True),
    ("print(1)", True),
    ("await f()", True),
    ("async for x in y: pass", False),
    ("def f():\n    return g()", True),
    ("if x:\n    y", False),
    ("x = '''a\nb'''", True),
    ("x = 1\r\ny = 2\r\n", True),
    ("\ufeffx = 1", True),
    ("return", False),
]
INCOMPLETE = ["for x in y:", "def f(", "x = (1,", "x = '''abc", "if a:\n    b\nelse:", "@f", "try:\n    x\n",
              "x = [\n1,",
              "class A:", "x = \\\n"]
BROKEN = [
    # text, line
    ("x = = 1", 1),
    ("x = 1\n!ls", 2),
    ("x = 'abc", 1),
    ("a b", 1),
    ("x = )", 1),
    ("if x\n    y", 1),
    ("Hello, I think the answer is 5.", 1),
    ("x = 1\n  y = 2", 2),
    ("x\0", 1),
]


class SyntaxTest(unittest.TestCase):

    def test_complete(self):
        for text, acts in COMPLETE:
            with self.subTest(text=text):
                self.assertEqual(
                    {"complete": True, "incomplete": False, "has_action": acts, "message": "", "line": 0},
                    inspector.syntax(text))

    def test_beginnings(self):
        for text in INCOMPLETE:
            with self.subTest(text=text):
                answer = inspector.syntax(text)
                self.assertEqual((False, True, False), tuple(answer[key] for key in
                                                             ("complete", "incomplete", "has_action")))
                self.assertTrue(answer["message"])

    def test_broken(self):
        for text, line in BROKEN:
            with self.subTest(text=text):
                answer = inspector.syntax(text)
                self.assertEqual((False, False, line),
                                 (answer["complete"], answer["incomplete"], answer["line"]))
                self.assertTrue(answer["message"])

    def test_the_message_is_cpythons(self):
        self.assertEqual("expected ':'", inspector.syntax("if x\n    y")["message"])
        self.assertIn("expected ':'", inspector.check("if x\n    y", {})["findings"][0]["message"])


if __name__ == "__main__":
    unittest.main()
