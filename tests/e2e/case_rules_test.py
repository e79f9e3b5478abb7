#!/usr/bin/python3
"""The comparison rules of the case runner: each accepts what it should and refuses what it should."""

import copy
import unittest

from case_rules import Outcome, merged, problems_of, same
from case_tools import kind_of, make_handler, plain
from later_versions import expectation
from protocol_client import ToolError, load_line

RESULT = {"outcome": "ok", "value": 42, "repr": "42", "type": "int", "stdout": "hi\n", "stderr": "",
          "truncated": {"stdout_bytes": 0, "stderr_bytes": 0}, "error": None, "final_answer": None, "displays": [],
          "usage": {"output_bytes": 3}}
ERROR = {**RESULT, "outcome": "error", "value": None, "repr": None, "type": None,
         "error": {"type": "ValueError", "message": "bad value", "line": 2, "cell": 0, "traceback": "in cell: x"}}


def outcome(result=None, calls=(), seconds=0.1, files=None, **changes):
    result = {**copy.deepcopy(result or RESULT), **changes}
    return Outcome(result, list(calls), seconds, (files or {}).get, 0)


class Rules(unittest.TestCase):
    def test_each_key_accepts_and_refuses(self):
        final = {"value": {"a": 1}, "repr": "{'a': 1}", "explanation": ""}
        png = {"image/png": {"$bytes": ""}}
        call = {"name": "f", "args": {"a": 1}}
        table = [  # expectation, an outcome that meets it, one that does not
            ({"result": 42}, outcome(), outcome(value=43)),
            ({"result": None}, outcome(value=None), outcome(value=0)),
            ({"result_repr": "42"}, outcome(), outcome(repr="'42'")),
            ({"result_repr_contains": ["4"]}, outcome(), outcome(repr="5")),
            ({"result_type": "int"}, outcome(), outcome(type="bool")),
            ({"stdout": "hi\n"}, outcome(), outcome(stdout="hi")),
            ({"stderr": ""}, outcome(), outcome(stderr="x")),
            ({"stdout_contains": ["h", "i"]}, outcome(), outcome(stdout="h")),
            ({"stdout_not_contains": ["x"]}, outcome(), outcome(stdout="x")),
            ({"stderr_contains": ["warn"]}, outcome(stderr="a warning"), outcome()),
            ({"stdout_chars": 3}, outcome(), outcome(stdout="hi")),
            ({"error_type": "ValueError"}, outcome(ERROR), outcome()),
            ({"error_type": None}, outcome(), outcome(ERROR)),
            ({"error_type_any": ["ValueError", None]}, outcome(), outcome(ERROR, error={"type": "KeyError"})),
            ({"error_type": "ValueError", "error_message_contains": ["bad"]}, outcome(ERROR),
             outcome(ERROR, error={"type": "ValueError", "message": "good"})),
            ({"error_type": "ValueError", "error_line": 2}, outcome(ERROR),
             outcome(ERROR, error={**ERROR["error"], "line": 3})),
            ({"error_type": "ValueError", "error_line": 2, "error_cell": 0}, outcome(ERROR),
             outcome(ERROR, error={**ERROR["error"], "cell": 1})),
            ({"error_type": "ValueError", "traceback_contains": ["in cell"]}, outcome(ERROR),
             outcome(ERROR, error={**ERROR["error"], "traceback": ""})),
            ({"timeout": True}, outcome(ERROR, outcome="timeout"), outcome(ERROR)),
            ({"is_final": True}, outcome(final_answer=final), outcome()),
            ({"is_final": False}, outcome(), outcome(final_answer=final)),
            ({"final_answer": {"a": 1}}, outcome(final_answer=final), outcome()),
            ({"final_answer_repr": "{'a': 1}"}, outcome(final_answer=final), outcome(final_answer={**final, "repr": ""})),
            ({"tool_calls": [call]}, outcome(calls=[call]), outcome()),
            ({"tool_calls": []}, outcome(), outcome(calls=[call])),
            ({"images": 1}, outcome(displays=[png]), outcome(displays=[png, png])),
            ({"files": {"a": "x"}}, outcome(files={"a": b"x"}), outcome(files={"a": b"y"})),
            ({"files": {"a": {"size": 1}}}, outcome(files={"a": b"x"}), outcome(files={"a": b"xy"})),
            ({"files": {"a": {"min_size": 2}}}, outcome(files={"a": b"xyz"}), outcome(files={"a": b"x"})),
            ({"files": {"a": {"starts_with_hex": "89"}}}, outcome(files={"a": b"\x89P"}), outcome(files={"a": b"P"})),
            ({"files": {"a": {"contains": ["x"]}}}, outcome(files={"a": b"axa"}), outcome(files={"a": b"b"})),
            ({"files": {"a": {"exists": False}}}, outcome(), outcome(files={"a": b""})),
            ({}, outcome(), outcome(ERROR)),
        ]
        for expect, good, bad in table:
            with self.subTest(expect=expect):
                self.assertEqual([], problems_of(expect, good))
                self.assertNotEqual([], problems_of(expect, bad))

    def test_a_key_that_nobody_knows_is_a_problem(self):
        self.assertNotEqual([], problems_of({"resutl": 42}, outcome()))

    def test_a_timeout_must_come_within_twice_the_limit(self):
        self.assertEqual([], problems_of({"timeout": True}, outcome(ERROR, outcome="timeout", seconds=1.5), 1))
        self.assertNotEqual([], problems_of({"timeout": True}, outcome(ERROR, outcome="timeout", seconds=9), 1))

    def test_output_that_was_cut_must_be_reported(self):
        cut = {"truncated": {"stdout_bytes": 990, "stderr_bytes": 0}}
        self.assertEqual([], problems_of({"stdout_chars": 1000}, outcome(**cut, usage={"output_bytes": 1000})))
        self.assertNotEqual([], problems_of({"stdout_chars": 1000}, outcome(**cut, usage={"output_bytes": 0})))

    def test_tool_calls_compare_in_order_unless_told_otherwise(self):
        calls = [{"name": "f", "args": {"a": n}} for n in (1, 2)]
        swapped = outcome(calls=calls[::-1])
        self.assertNotEqual([], problems_of({"tool_calls": calls}, swapped))
        self.assertEqual([], problems_of({"tool_calls": calls, "tool_calls_unordered": True}, swapped))


class Equality(unittest.TestCase):
    def test_numbers(self):
        for expected, actual, equal in [
                (1, 1, True), (1, True, False), (True, 1, False), (True, True, True), (0, False, False),
                (1.0, 1.0 + 1e-12, True), (1.0, 1.001, False), (1.0, 1, True), (1, 1.0, False),
                (10**30, 10**30, True), (10**30, 10**30 + 1, False), ([1, [2.5]], [1, [2.5]], True), ([1], [1, 2], False),
                ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"a": 1, "b": 2}, False), ("1", 1, False), (None, 0, False)]:
            with self.subTest(expected=expected, actual=actual):
                self.assertEqual(equal, same(expected, actual))

    def test_forms_become_plain_where_they_can(self):
        self.assertEqual([1, [2]], plain({"$tuple": [1, {"$tuple": [2]}]}))
        self.assertEqual(2**70, plain({"$int": str(2**70)}))
        self.assertEqual({"$bytes": "aGk="}, plain({"$bytes": "aGk="}))

    def test_standard_json_has_no_nan(self):
        self.assertEqual({"a": 1}, load_line('{"a":1}'))
        for text in ('{"a":NaN}', '[Infinity]', '[-Infinity]'):
            with self.assertRaises(ValueError):
                load_line(text)


class AcceptAlso(unittest.TestCase):
    def test_a_form_that_demands_an_error_drops_results(self):
        expect = {"result": 1, "final_answer": 2, "stdout": "x"}
        self.assertEqual({"stdout": "x", "error_type": "E"}, merged(expect, {"error_type": "E"}))

    def test_a_form_that_demands_success_drops_errors(self):
        expect = {"error_type": "E", "error_line": 3, "traceback_contains": ["x"], "stdout": "x"}
        self.assertEqual({"stdout": "x", "error_type": None, "result": 1}, merged(expect, {"error_type": None, "result": 1}))

    def test_other_forms_are_laid_over(self):
        self.assertEqual({"result": 2, "stdout": "x"}, merged({"result": 1, "stdout": "x"}, {"result": 2}))


class Tools(unittest.TestCase):
    def test_behaviours(self):
        for behavior, args, answer in [
                ({"kind": "const", "value": 7}, {}, 7),
                ({"kind": "echo", "param": "a"}, {"a": {"$tuple": [1]}}, {"$tuple": [1]}),
                ({"kind": "args"}, {"a": 1}, {"a": 1}),
                ({"kind": "sum", "params": ["a", "b"]}, {"a": 1, "b": {"$int": str(2**60)}}, 2**60 + 1),
                ({"kind": "concat", "params": ["a", "b"], "sep": "-"}, {"a": "x", "b": 1}, "x-1"),
                ({"kind": "range", "param": "n"}, {"n": 3}, [0, 1, 2]),
                ({"kind": "repeat", "param": "n", "text": "ab"}, {"n": 2}, "abab"),
                ({"kind": "type_of", "param": "a"}, {"a": {"$bytes": ""}}, "bytes"),
                ({"kind": "bytes", "hex": "6869"}, {}, {"$bytes": "aGk="}),
                ({"kind": "lookup", "param": "k", "table": {"a": 1}, "missing_error": "no"}, {"k": "a"}, 1)]:
            with self.subTest(behavior=behavior):
                self.assertEqual(answer, make_handler(behavior)(args))

    def test_failures_carry_their_message(self):
        with self.assertRaisesRegex(ToolError, "^no such key: b$"):
            make_handler({"kind": "lookup", "param": "k", "table": {}, "missing_error": "no such key"})({"k": "b"})
        with self.assertRaisesRegex(ToolError, "^broken$"):
            make_handler({"kind": "error", "message": "broken"})({})

    def test_state_lives_as_long_as_the_handler(self):
        count = make_handler({"kind": "count"})
        self.assertEqual([1, 2, 3], [count({}) for _ in range(3)])
        flaky = make_handler({"kind": "fail_times", "times": 1, "message": "not yet", "value": 5})
        with self.assertRaises(ToolError):
            flaky({})
        self.assertEqual(5, flaky({}))

    def test_kinds(self):
        for value, kind in [(None, "null"), (True, "boolean"), (1, "integer"), ({"$int": "9"}, "integer"), (1.5, "number"),
                            ({"$float": "nan"}, "number"), ("x", "string"), ([], "array"), ({"$tuple": []}, "array"),
                            ({}, "object"), ({"a": 1}, "object"), ({"$bytes": ""}, "bytes"), ({"$set": []}, "other")]:
            with self.subTest(value=value):
                self.assertEqual(kind, kind_of(value))



class LaterVersions(unittest.TestCase):
    CASE = {"id": "cell-syntax-fstring-same-quotes",
            "expect": {"error_type": "SyntaxError", "error_line": 2, "stdout": ""}}

    def test_the_case_file_stands_for_the_version_that_it_was_written_for(self):
        self.assertEqual(self.CASE["expect"], expectation(self.CASE, lambda package: (3, 11)))

    def test_a_later_version_is_held_to_what_it_says_and_nothing_else(self):
        self.assertEqual({"error_type": None, "stdout": "1\n"}, expectation(self.CASE, lambda package: (3, 12)))

    def test_other_cases_are_left_alone(self):
        self.assertEqual({"stdout": ""}, expectation({"id": "x", "expect": {"stdout": ""}}, lambda package: (9, 9)))


if __name__ == "__main__":
    unittest.main()
