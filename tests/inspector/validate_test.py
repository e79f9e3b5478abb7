"""JSON Schema 2020-12: what is an error, where, and how it is said; nothing is ever fetched."""

import collections
import datetime
import enum
import fractions
import decimal
import pathlib
import sys
import unittest
import uuid

import support

try:
    import jsonschema  # noqa: F401 - only asked for
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

inspector = support.load()

Colour = enum.Enum("Colour", {"RED": "red"})
Pair = collections.namedtuple("Pair", "a b")


class Array:
    """Has what numpy arrays and scalars have."""

    dtype = "int64"

    def __init__(self, plain):
        self._plain = plain

    def tolist(self):
        return self._plain


class PlacesTest(unittest.TestCase):

    # value, schema, [(path, words of the message)]
    CASES = [
        (5, {"type": "integer"}, []),
        (5.0, {"type": "integer"}, []),
        (True, {"type": "integer"}, [("", "must be integer, got boolean true")]),
        ("5", {"type": "integer"}, [("", 'must be integer, got string "5"')]),
        ([1, "a", None], {"items": {"type": "number"}}, [("/1", 'got string "a"'), ("/2", "got null")]),
        ({"a": {"b/c~": "x"}}, {"properties": {"a": {"properties": {"b/c~": {"type": "null"}}}}},
         [("/a/b~1c~0", "must be null")]),
        ({}, {"required": ["x", "y"]}, [("", '"x" is missing'), ("", '"y" is missing')]),
        ({"a": 1, "zz": 2}, {"properties": {"a": {}}, "additionalProperties": False}, [("", "'zz'")]),
        (3, {"minimum": 4}, [("", "at least 4, got integer 3")]),
        (3, {"exclusiveMaximum": 3}, [("", "less than 3")]),
        ("abc", {"maxLength": 2}, [("", "at most 2 characters")]),
        ("abc", {"pattern": "^b"}, [("", 'the pattern "^b"')]),
        ("abc", {"enum": ["a", 1, None]}, [("", 'one of "a", 1, null')]),
        ("abc", {"const": 1}, [("", "must be 1")]),
        (0.3, {"multipleOf": 0.1}, []),
        (0.35, {"multipleOf": 0.1}, [("", "multiple of 0.1")]),
        (1e308, {"multipleOf": 3}, [("", "multiple of 3")]),
        ([1, 1], {"uniqueItems": True}, [("", "same item twice")]),
        ([1, True], {"uniqueItems": True}, []),
        ([], {"minItems": 1}, [("", "at least 1 items")]),
        ([1, "x"], {"prefixItems": [{}, {"type": "integer"}], "items": False}, [("/1", "must be integer")]),
        ([1, 2], {"prefixItems": [{}], "items": False}, [("", "Expected at most 1 item")]),
        (5, {"anyOf": [{"type": "string"}, {"type": "null"}]},
         [("", "must be string or null, got integer 5")]),
        ({"k": 1},
         {"anyOf": [{"type": "string"}, {"required": ["k"], "properties": {"k": {"type": "string"}}}]},
         [("", "nearest: at /k must be string")]),
        (5, {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [("", "more than one of the forms")]),
        (5, {"not": {"type": "integer"}}, [("", "must not match")]),
        (5, False, [("", "no value is allowed")]),
        ({"a": 1}, {"properties": {"a": False}}, [("/a", "must not be there")]),
        (5, True, []),
        ([[1], ["x"]], {"$defs": {"row": {"items": {"type": "integer"}}}, "items": {"$ref": "#/$defs/row"}},
         [("/1/0", "must be integer")]),
        ({"a": 1, "b": 2}, {"dependentRequired": {"a": ["c"]}}, [("", "'c'")]),
        ({"a": 1}, {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [("", '"b" is missing')]),
        ({"a": 1, "b": 2}, {"properties": {"a": {}}, "unevaluatedProperties": False}, [("", "b")]),
    ]

    def test_each_case(self):
        for value, schema, expected in self.CASES:
            with self.subTest(value=value, schema=schema):
                errors = inspector.validate(value, schema)
                self.assertEqual([path for path, _ in expected], [error["path"] for error in errors], errors)
                for (_, words), error in zip(expected, errors):
                    self.assertIn(words, error["message"])

    def test_errors_are_sorted_by_path_and_bounded(self):
        errors = inspector.validate({"b": ["x"] * 50, "a": 1}, {
            "properties": {"a": {"type": "string"}, "b": {"items": {"type": "integer"}}}})
        self.assertEqual(["/a"] + [f"/b/{n}" for n in range(19)], [error["path"] for error in errors])

    def test_messages_stay_short(self):
        for schema in ({"type": "integer"}, {"enum": ["y" * 5000]}, {"const": "z" * 5000},
                       {"pattern": "y" * 5000}):
            for error in inspector.validate("x" * 100_000, schema):
                self.assertLessEqual(len(error["message"]), 300)


class ValuesTest(unittest.TestCase):
    """Values that JSON does not know."""

    CASES = [
        ((1, 2), "array"), (range(3), "array"), (Pair(1, 2), "array"), (Array([1, 2]), "array"),
        (Array(5), "integer"),
        (decimal.Decimal("1.5"), "number"), (decimal.Decimal("2"), "integer"),
        (fractions.Fraction(1, 3), "number"),
        (10 ** 400, "integer"), (datetime.date(2024, 3, 31), "string"),
        (datetime.datetime(2024, 3, 31), "string"),
        (uuid.UUID(int=5), "string"), (pathlib.PurePosixPath("a"), "string"), (Colour.RED, "string"),
        (collections.OrderedDict(a=1), "object"), ({1: "a", None: "b"}, "object"),
        # None of them is anything in JSON:
        (float("nan"), None), (float("-inf"), None), (decimal.Decimal("NaN"), None), (b"x", None),
        ({1, 2}, None),
        (1j, None), (object(), None), (len, None), (datetime.timedelta(1), None),
        (decimal.Decimal("1e999999999"), None),
    ]
    TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

    def test_each_value(self):
        for value, kind in self.CASES:
            with self.subTest(value=value):
                kinds = [name for name in self.TYPES if not inspector.validate(value, {"type": name})]
                expected = {None: [], "integer": ["integer", "number"]}.get(kind, [kind])
                self.assertEqual(expected, kinds)

    def test_the_message_names_the_python_type(self):
        self.assertIn("set", inspector.validate({1}, {"type": "array"})[0]["message"])
        self.assertIn("nan", inspector.validate([float("nan")], {"items": {"type": "number"}})[0]["message"])

    def test_keys_become_texts(self):
        schema = {"properties": {"1": {"const": "a"}, "null": {"const": "b"}}, "required": ["1", "null"]}
        self.assertEqual([], inspector.validate({1: "a", None: "b"}, schema))

    def test_deep_values_are_refused(self):
        value = []
        for _ in range(5000):
            value = [value]
        with self.assertRaisesRegex(ValueError, "nested"):
            inspector.validate(value, {})


class FormatsTest(unittest.TestCase):

    # format, met, not met
    CASES = [
        ("date", ["2024-02-29"], ["2023-02-29", "20240229", "2024-2-9", ""]),
        ("time", ["13:45:00Z", "13:45:00.5+01:00", "23:59:60Z"], ["13:45", "25:00:00Z", "13:45:00"]),
        ("date-time", ["2024-03-31T13:45:00Z", "2024-03-31t13:45:00+02:00"],
         ["2024-03-31", "2024-03-31 13:45:00Z"]),
        ("duration", ["P3DT4H", "P1W", "PT0.5S"], ["P", "PT", "3D", "P1WT"]),
        ("email", ["a.b+c@example.org"], ["a", "@b", "a@", "a b@example.org", ".a@example.org", "a@-x.org"]),
        ("hostname", ["example.org", "a-b"], ["-a", "a_b", "", "a" * 64]),
        ("ipv4", ["127.0.0.1"], ["127.0.0", "256.0.0.1", "127.0.0.01"]),
        ("ipv6", ["::1", "2001:db8::8"], ["1", "::1%eth0", "12345::"]),
        ("uri", ["https://example.org/a?b#c", "urn:a:b"], ["/a", "a b:c", "http://ä"]),
        ("uri-reference", ["/a", "../b?c", ""], ["a b", "a#b#c"]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "x"]),
        ("json-pointer", ["", "/a~0b/0"], ["a", "/~2"]),
        ("regex", ["a+"], ["("]),
        ("no-such-format", ["anything"], []),
    ]

    def test_each_format(self):
        for name, met, not_met in self.CASES:
            for text in met:
                with self.subTest(format=name, text=text):
                    self.assertEqual([], inspector.validate(text, {"format": name}))
            for text in not_met:
                with self.subTest(format=name, text=text):
                    self.assertIn(name, inspector.validate(text, {"format": name})[0]["message"])

    def test_formats_are_for_texts_only(self):
        self.assertEqual([], inspector.validate(5, {"format": "date"}))


class SchemaTest(unittest.TestCase):

    REFUSED = [
        ({"$ref": "https://example.org/s.json"}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "/properties/a/$ref"),
        ({"$ref": "other.json#/a"}, "other.json"),
        ({"$dynamicRef": "https://example.org/s#x"}, "leads out"),
        ({"anyOf": [{}, {"items": {"$ref": "//example.org/s"}}]}, "/anyOf/1/items/$ref"),
        ({"odd": {"$ref": "https://example.org/s"}, "$ref": "#/odd"}, "example.org"),
        ({"$ref": "#/$defs/nope"}, "leads to nothing"),
        ({"$ref": "#nope"}, "cannot be used"),
        ({"$ref": "#"}, "refers to itself without end"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
         "without end"),
        ({"type": "wat"}, "/type"),
        ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum"),
        ({"pattern": "("}, "/pattern"),
        ({"properties": {"a": {"patternProperties": {"[": {}}}}}, "/properties/a/patternProperties"),
        ({"required": "x"}, "/required"),
        ({"properties": []}, "/properties"),
        (5, "a schema is an object or a boolean, not integer"),
        (None, "not null"),
        ("{}", "not string"),
    ]
    ACCEPTED = [
        {},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
        {"$id": "https://example.org/root", "$defs": {"b": {"$id": "b", "type": "object"}}, "$ref": "b"},
        {"$defs": {"a": {"$anchor": "x", "type": "object"}}, "$ref": "#x"},
        {"properties": {"$ref": {"type": "string"}}},
        {"properties": {"c": {"$ref": "#"}}},
        {"enum": [{"$ref": "https://example.org/data"}, {}]},
    ]

    def test_each_refusal(self):
        for schema, words in self.REFUSED:
            with self.subTest(schema=schema), self.assertRaises(ValueError) as caught:
                inspector.validate({"c": {}}, schema)
            self.assertIn(words, str(caught.exception))
            self.assertLess(len(str(caught.exception)), 500)

    def test_each_twin(self):
        for schema in self.ACCEPTED:
            with self.subTest(schema=schema):
                self.assertEqual([], inspector.validate({}, schema))

    def test_deep_schemas_are_refused(self):
        schema = {}
        for _ in range(5000):
            schema = {"not": schema}
        with self.assertRaisesRegex(ValueError, "nested"):
            inspector.validate(1, schema)

    def test_nobody_is_asked(self):
        asked = []
        sys.addaudithook(lambda event,
                         args: asked.append(event) if event in ("socket.connect", "socket.getaddrinfo",
                                                                               "urllib.Request") else None)
        for schema, _ in self.REFUSED:
            with self.assertRaises(ValueError):
                inspector.validate({"c": {}}, schema)
        self.assertEqual([], asked)


if __name__ == "__main__":
    unittest.main()
