"""What a cell is estimated to cost, what the estimate says it does not know, and what a cell uses."""

import unittest

import support

inspector = support.load()


def rules(escalate_above=10, deny_above=100, prices=None, **more):
    prices = prices or {"pay": {"per_call": 1, "per_kib": 0}, "look": {"per_call": 0.1, "per_kib": 0},
                        "llm": {"per_call": 0, "per_kib": 1}}
    cost = {"prices": prices, "escalate_above": escalate_above, "deny_above": deny_above}
    return support.rules(tools=["pay", "look", "llm", "free"], cost=cost, **more)


def calls(code, **more):
    uses = inspector.explain(code, rules(**more))["uses"]
    return [(use["name"], use["count"], use["exact"]) for use in uses if use["kind"] == "tool"]


# Code, how often pay() runs, whether that is all that is to be known.
COUNTS = [
    ("pay(1)", 1, True),
    ("for i in range(1000): pay(i)", 1000, True),
    ("for i in range(2, 20, 3): pay(i)", 6, True),
    ("for i in range(10):\n    for j in range(10):\n        pay(i)", 100, True),
    ("n = 5 * 10\nfor i in range(n + 1): pay(i)", 51, True),
    ("xs = [1, 2, 3]\nfor x in xs: pay(x)", 3, True),
    ("xs = [1, 2, 3]\nfor i in range(len(xs)): pay(xs[i])", 3, True),
    ("for k, v in {'a': 1, 'b': 2}.items(): pay(v)", 2, True),
    ("for i, x in enumerate(sorted({1, 2})): pay(x)", 2, True),
    ("for a, b in zip([1, 2, 3], range(100)): pay(a)", 3, True),
    ("[pay(x) for x in range(7) if x]", 7, True),
    ("[pay(x + y) for x in range(7) for y in 'abc']", 21, True),
    ("sum(pay(x) for x in [0] * 12)", 12, True),
    ("list(map(pay, range(9)))", 9, True),
    ("p = pay\nfor i in range(4): p(i)", 4, True),
    ("def f(x):\n    return pay(x)\nfor i in range(6): f(i)", 6, True),
    ("f = lambda x: pay(x)\nfor i in range(6): f(i)", 6, True),
    ("def f(x):\n    pay(x); pay(x)\ndef g():\n    f(1)\n    f(2)\ng()", 4, True),
    ("import asyncio\nasync def one(i):\n    return pay(i)\nawait asyncio.gather(*[one(i) for i in range(8)])", 8, True),
    ("class A:\n    def m(self):\n        pay(1)\nfor i in range(3): A().m()", 3, True),
    ("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as e:\n    list(e.map(pay, range(5)))",
     5, True),
    ("for i in range(10**6): pay(i)", 10**6, True),
    ("for row in open('a.csv'): pay(row)", 1, False),
    ("while True: pay(1)", 1, False),
    ("n = int(input())\nfor i in range(n): pay(i)", 1, False),
    ("xs = []\nfor i in range(50): xs.append(i)\nfor x in xs: pay(x)", 1, False),
    ("def f():\n    pay(1)", 1, False),
    ("def f(n):\n    pay(n)\n    f(n - 1)\nf(3)", 1, False),
    ("import functools\nfunctools.reduce(pay, data)", 1, False),
    ("def f(n):\n    for i in range(n): pay(i)\nf(100)", 1, False),
]


class CountTest(unittest.TestCase):

    def test_how_often_a_tool_is_called(self):
        for code, count, exact in COUNTS:
            with self.subTest(code=code):
                found = [call for call in calls(code) if call[0] == "pay"]
                self.assertEqual(count, sum(call[1] for call in found), found)
                self.assertEqual(exact, all(call[2] for call in found), found)

    def test_a_name_of_the_cell_is_no_tool(self):
        self.assertEqual([], calls("def pay(x):\n    return x\nfor i in range(1000): pay(i)"))
        self.assertEqual([], calls("from math import floor as pay\npay(2.5)"))

    def test_hostile_sizes_end_at_once(self):
        for code in ("for i in range(10**10**10): pay(i)", "x = 9**9**9\nfor i in range(x): pay(i)",
                     "for i in [0] * 10**18: pay(i)", "n = n + 1\nfor i in range(n): pay(i)",
                     "for i in range(10**14):\n" + "".join(f"{' ' * (d + 1)}for i in range(10**14):\n"
                                                            for d in range(15)) + " " * 17 + "pay(i)",
                     "".join(f"def f{i}():\n  f{i + 1}(); f{i + 1}()\n" for i in range(300)) +
                     "def f300():\n  pay(1)\nf0()"):
            with self.subTest(code=code[:60]):
                self.assertIn(inspector.check(code, rules())["decision"], ("allow", "deny"))


class CostTest(unittest.TestCase):

    def verdict(self, code, **more):
        verdict = inspector.check(code, rules(**more))
        self.assertTrue(all(item["rule"] == "cost" and item["hint"] for item in verdict["findings"]), verdict)
        return verdict["decision"], "".join(item["message"] for item in verdict["findings"])

    def test_thresholds(self):
        self.assertEqual(("allow", ""), self.verdict("for i in range(10): pay(i)"))
        decision, message = self.verdict("for i in range(11): pay(i)")
        self.assertEqual("escalate", decision)
        self.assertIn("estimated to cost 11, more than 10 (pay() in line 1: 11 calls, 11)", message)
        decision, message = self.verdict("x = 1\nfor i in range(101):\n    pay(i)")
        self.assertEqual("deny", decision)
        self.assertIn("cost 101, more than 100 (pay() in line 3", message)

    def test_only_one_threshold(self):
        self.assertEqual("deny", self.verdict("for i in range(101): pay(i)", escalate_above=None)[0])
        self.assertEqual("allow", self.verdict("for i in range(99): pay(i)", escalate_above=None)[0])
        self.assertEqual("escalate", self.verdict("for i in range(10**9): pay(i)", deny_above=None)[0])

    def test_places_add_up(self):
        code = "for i in range(6): pay(i)\nfor i in range(50): look(i)"
        self.assertEqual("escalate", self.verdict(code)[0])
        self.assertEqual("allow", self.verdict(code.replace("50", "40"))[0])

    def test_what_is_not_known_is_said(self):
        decision, message = self.verdict("for row in data:\n    for i in range(20): pay(i)")
        self.assertEqual("escalate", decision)
        self.assertIn("at least 20", message)
        self.assertIn("counted once, as the text does not tell how often: a loop of unknown length in line 1", message)
        _, message = self.verdict("for row in data: print(row)\nfor i in range(20): pay(i)")
        self.assertNotIn("at least", message)

    def test_size_of_constant_inputs(self):
        self.assertEqual("allow", self.verdict("llm('x' * 10 * 1024)")[0])
        self.assertEqual("escalate", self.verdict("llm('x' * 11 * 1024)")[0])
        self.assertEqual("escalate", self.verdict("text = 'x' * 6000\nllm(text, more=[text])")[0])
        self.assertEqual("deny", self.verdict("for i in range(100): llm('y' * 2048)")[0])
        self.assertEqual("allow", self.verdict("llm(data)")[0])

    def test_a_price_for_every_other_tool(self):
        prices = {"*": {"per_call": 6, "per_kib": 0}, "pay": {"per_call": 0, "per_kib": 0}}
        self.assertEqual("escalate", self.verdict("free(); look()", prices=prices)[0])
        self.assertEqual("allow", self.verdict("free(); pay(1)", prices=prices)[0])

    def test_without_prices_or_thresholds_nothing_is_judged(self):
        code = "for i in range(10**9): pay(i)"
        self.assertEqual("allow", inspector.check(code, support.rules(tools=["pay"]))["decision"])
        self.assertEqual("allow", self.verdict(code, escalate_above=None, deny_above=None)[0])


class AttributesTest(unittest.TestCase):

    def decision(self, code, **attributes):
        return inspector.check(code, support.rules(attributes=attributes))["decision"]

    def test_what_the_policy_lets_through(self):
        for code in ("int.__mro__", "getattr(int, '__mro__')", "'{0.__mro__}'.format(1)", "int.mro()",
                     "import operator\noperator.attrgetter('__mro__')(int)"):
            with self.subTest(code=code):
                self.assertEqual("deny", self.decision(code))
                self.assertEqual("allow", self.decision(code, allow=["__mro__"]))
                self.assertEqual("deny", self.decision(code, allow=["__mro__"], deny=["__mro__"]))
        self.assertEqual("deny", self.decision("int.__mro__\nint.__subclasses__()", allow=["__mro__"]))

    def test_members_of_modules(self):
        code = "import sys\nsys._getframe()"
        self.assertEqual("deny", self.decision(code))
        self.assertEqual("allow", self.decision(code, allow=["sys._getframe"]))
        self.assertEqual("deny", self.decision("import sys\nsys.settrace(f)", allow=["sys._getframe"]))
        # A module that the policy does not allow stays out of reach.
        self.assertEqual("deny", self.decision("import asyncio\nasyncio.subprocess", allow=["asyncio.subprocess"]))

    def test_what_the_policy_refuses(self):
        for code in ("df.to_clipboard()", "getattr(df, 'to_clipboard')", "'{0.to_clipboard}'.format(df)",
                     "class A:\n    def to_clipboard(self): pass\nA().to_clipboard()",
                     "import operator\noperator.methodcaller('to_clipboard')(df)", "from m import to_clipboard"):
            with self.subTest(code=code):
                verdict = inspector.check(code, support.rules(add=["m"], attributes={"deny": ["to_clipboard"]}))
                self.assertEqual("deny", verdict["decision"])
                self.assertEqual(["attribute"], [item["rule"] for item in verdict["findings"]])
                self.assertIn("the policy refuses", verdict["findings"][0]["message"])
                self.assertTrue(verdict["findings"][0]["hint"])
        self.assertEqual("allow", self.decision("df.to_csv('x')\nto_clipboard = 1", deny=["to_clipboard"]))

    def test_builtins_are_never_let_through(self):
        self.assertEqual("deny", self.decision("f.__builtins__", allow=["__builtins__"]))


class UsesTest(unittest.TestCase):

    def test_modules_builtins_attributes_and_tools(self):
        code = ("import json, numpy.linalg as la\nfrom urllib import parse\nfrom xml.etree import ElementTree\n"
                "eval('1')\nint.__mro__\npay(3, note='ä', to=who)\n")
        given = rules(builtins={"allow": ["eval"]}, attributes={"allow": ["__mro__"]})
        uses = inspector.explain(code, given)["uses"]
        self.assertEqual([("import", "json", 1, 8), ("import", "numpy.linalg", 1, 14),
                          ("import", "urllib.parse", 2, 20), ("import", "xml.etree", 3, 1),
                          ("builtin", "eval", 4, 1), ("attribute", "__mro__", 5, 1), ("tool", "pay", 6, 1)],
                         [(use["kind"], use["name"], use["line"], use["column"]) for use in uses])
        self.assertEqual([{"position": 0, "json": "3"}, {"name": "note", "json": '"\\u00e4"'}, {"name": "to"}],
                         uses[-1]["arguments"])

    def test_the_verdict_is_that_of_check(self):
        for code in ("import os", "x = (", "for i in range(50): pay(i)", "1"):
            with self.subTest(code=code):
                explained = inspector.explain(code, rules())
                uses = explained.pop("uses", None)
                self.assertEqual(inspector.check(code, rules()), explained)
                self.assertEqual(code == "x = (", uses is None)


if __name__ == "__main__":
    unittest.main()
