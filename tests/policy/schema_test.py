"""The shipped JSON Schema says what the codec does, and presets and examples are valid under it."""

import glob
import json
import os
import re
import sys
import types
import unittest

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = os.path.join(os.path.dirname(os.path.dirname(HERE)), "policy")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(folder):
    return glob.glob(os.path.join(POLICY, folder, "*.json"))


def without_comments(text):
    """Comments become blanks; strings are left alone."""
    pattern = r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda match: match.group(1) or " ", text, flags=re.DOTALL)


class SchemaTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(read(os.path.join(POLICY, "policy.schema.json")))
        cls.validator = jsonschema.Draft202012Validator(cls.schema)

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_presets_and_examples_are_valid(self):
        paths = files("presets") + files("examples")
        self.assertGreaterEqual(len(paths), 7)
        for path in paths:
            with self.subTest(path=path):
                policy = json.loads(without_comments(read(path)))
                self.assertEqual([], [error.message for error in self.validator.iter_errors(policy)])

    def test_attributes_are_those_that_the_inspector_refuses(self):
        names = types.ModuleType("names")
        source = read(os.path.join(os.path.dirname(POLICY), "interp", "child", "python", "inspector_names.py"))
        exec(compile(source, "inspector_names.py", "exec"), names.__dict__)
        allowed = self.schema["properties"]["attributes"]["properties"]["allow"]["items"]["anyOf"][0]["enum"]
        refused = {name for name in names.INTERNALS if names.rule_of(name) != "builtin"}
        self.assertEqual(refused, set(allowed) | {"f_builtins"})

    def test_agrees_with_the_codec(self):
        table = read(os.path.join(HERE, "agreement.txt"))
        lines = [line for line in table.splitlines() if not line.startswith("#")]
        self.assertGreater(len(lines), 50)
        for line in lines:
            with self.subTest(line=line):
                self.assertEqual(line[0] in "+~", self.validator.is_valid(json.loads(line[2:])))

    def test_names_every_preset(self):
        presets = sorted(os.path.basename(path)[:-len(".json")] for path in files("presets"))
        self.assertEqual(presets, sorted(self.schema["properties"]["extends"]["enum"]))


if __name__ == "__main__":
    unittest.main()
