#!/usr/bin/python3
"""Values of pyarrow, and columns of pandas kept in Arrow's memory, through `gloveport session` and back.

pyarrow is in no Debian package: it is looked for in the folder that PYARROW names (scripts/test makes it).
"""

import glob
import os
import sys
import unittest

from programs import GLOVEPORT, environment
from protocol_client import Client, RequestError

FOLDERS = glob.glob(os.path.join(os.environ.get("PYARROW", ""), "lib", "python3*", "site-packages"))

VALUES = """
import datetime, decimal
import pyarrow as pa
zone = pa.timestamp("us", "Europe/Berlin")
values = [
    pa.table({"a": [1, 2, None], "s": ["x", None, "y"], "t": pa.array([datetime.datetime(2024, 1, 1)] * 3, zone)}),
    pa.table({}),
    pa.table({"a": pa.chunked_array([[1], [2, 3]])}).replace_schema_metadata({"k": "v"}),
    pa.record_batch([pa.array([1, 2])], names=["x"]),
    pa.record_batch([pa.array([], pa.string())], names=["x"]),
    pa.array([1, None, 3]), pa.array([], pa.int8()), pa.array([1, 2, 3, 4])[1:3], pa.array([{"a": [1]}, None]),
    pa.array(["a", "b", "a"]).dictionary_encode(), pa.array([decimal.Decimal("1.50")], pa.decimal128(10, 2)),
    pa.array([True, None]), pa.array([b"x"]), pa.nulls(3), pa.array([float("nan"), -0.0]).cast(pa.float32()),
    pa.chunked_array([["a"], ["b", None]]), pa.chunked_array([], pa.int32()),
    pa.scalar(5), pa.scalar(None, pa.string()), pa.scalar("x"), pa.scalar({"a": 1}), pa.scalar(datetime.date(2024, 2, 29)),
    pa.schema([("a", pa.int32())], metadata={"k": "v"}), pa.field("a", pa.list_(pa.int8()), nullable=False),
    pa.decimal256(40, 3), pa.timestamp("ns", "UTC"),
]

def same(sent, back):
    if isinstance(sent, (pa.Table, pa.RecordBatch)) and not back.schema.equals(sent.schema, check_metadata=True):
        return False
    if type(back) is not type(sent) or str(getattr(sent, "type", "")) != str(getattr(back, "type", "")):
        return False
    return str(back) == str(sent) and (back.equals(sent) or "nan" in str(sent))
"""

SERIES = """
import pandas as pd
def arrow(items, kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(items, kind)])), name="n")

series = [
    pd.Series([1, 2, None], dtype="int64[pyarrow]"), pd.Series([1.5, None], dtype="float64[pyarrow]"),
    pd.Series(["x", None], dtype="string[pyarrow]"), pd.Series([True, None], dtype="bool[pyarrow]"),
    arrow([datetime.datetime(2024, 1, 1), None], pa.timestamp("us")), arrow([datetime.datetime(2024, 1, 1)], zone),
    arrow([decimal.Decimal("1.5")], pa.decimal128(10, 2)), arrow([[1, 2], None], pa.list_(pa.int64())),
    arrow(["x", "y"], pa.dictionary(pa.int8(), pa.string())), arrow(["x", None], pa.string()),
]

def kept(sent, back):
    return (repr(sent.dtype) == repr(back.dtype) and sent.name == back.name
            and sent.array.__arrow_array__().equals(back.array.__arrow_array__()))
"""


class Arrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = Client([GLOVEPORT, "session"], env=environment())
        cls.addClassCleanup(cls.client.close)

    def open(self, base="open", **members):
        policy = {"extends": base, "packages": FOLDERS, "limits": {"memory_mib": 1024}, **members}
        return self.client.open(policy, [{"name": "echo", "parameters": [{"name": "x"}]}], {"echo": lambda args: args["x"]})

    def value(self, session, code):
        result = session.run(code)
        self.assertEqual("ok", result["outcome"], (result["error"] or {}).get("traceback"))
        return result["value"]

    def test_values_come_back_from_a_tool_as_they_were(self):
        with self.open() as session:
            self.value(session, VALUES)
            self.assertEqual([], self.value(session, "[repr(v) for v in values if not same(v, echo(v))]"))
            self.assertEqual([], self.value(session, "[repr(v) for v in values if not same(v, echo([{'k': (v,)}])[0]['k'][0])]"))

    def test_large_ones_too(self):
        with self.open(limits={"memory_mib": 1024, "tool_call_kib": 65536}) as session:
            self.value(session, "import pyarrow as pa\nt = pa.table({'a': range(2_000_000)})")
            self.assertTrue(self.value(session, "echo(t).equals(t)"))

    def test_values_of_cells_answers_and_variables(self):
        with self.open("default", imports={"allow": ["pyarrow"]}) as session:
            table = self.value(session, "import pyarrow as pa\nt = pa.table({'a': [1, None]})\nt")
            self.assertEqual("table", table["$arrow"]["kind"])
            session.set("again", table)
            self.assertEqual(table, session.get("again"))
            self.assertTrue(self.value(session, "type(again) is pa.Table and again.equals(t)"))
            self.assertEqual(table, session.run("final_answer(again)")["final_answer"]["value"])

    def test_columns_of_pandas_stay_in_arrow(self):
        with self.open() as session:
            if session.run("import pandas")["error"]:
                self.skipTest("pandas is not installed")
            self.value(session, VALUES)
            self.value(session, SERIES)
            self.assertEqual([], self.value(session, "[repr(s.dtype) for s in series if not kept(s, echo(s))]"))
            self.assertEqual([], self.value(session, "[repr(s.dtype) for s in series if not kept(\n"
                                                     "    s, echo(pd.DataFrame({'c': s, 'p': range(len(s))}))['c'].rename(s.name))]"))
            self.assertTrue(self.value(session, "s = series[0]\nf = echo(pd.Series([1, 2, 3], index=pd.Index(s.array)))\n"
                                                "type(f.index.array) is type(s.array) and f.index.equals(pd.Index(s.array))"))

    def test_where_pyarrow_is_missing_the_error_says_so(self):
        with self.open() as session:
            self.value(session, "import pyarrow as pa, pandas as pd")
            values = [self.value(session, "pa.array([1])"), self.value(session, "pd.Series([1], dtype='int64[pyarrow]')")]
        with self.client.open("open", [{"name": "give", "parameters": []}], {"give": lambda args: values[0]}) as session:
            for value in values:
                with self.assertRaises(RequestError) as caught:
                    session.set("v", value)
                self.assertIn('"packages"', caught.exception.message)
            error = session.run("give()")["error"]
            self.assertEqual("ImportError", error["type"])
            self.assertIn('"packages"', error["message"])
            self.assertEqual(2, self.value(session, "1 + 1"))

    def test_what_is_no_stream_is_refused(self):
        with self.open() as session:
            ipc = self.value(session, "import pyarrow as pa\npa.array([1])")["$arrow"]["ipc"]
            for payload in ({"kind": "table", "ipc": "AAAA"}, {"kind": "table", "ipc": ipc[:320]}, {"kind": "tensor", "ipc": ipc},
                            {"kind": "table", "ipc": ""}, {"kind": "table", "ipc": 5}, {"kind": "table"}, {"kind": [], "ipc": ipc}, 5):
                with self.subTest(payload=payload), self.assertRaises(RequestError) as caught:
                    session.set("v", {"$arrow": payload})
                self.assertEqual("invalid_argument", caught.exception.code)
            session.set("v", {"$arrow": {"kind": "array", "ipc": ipc}})
            self.assertTrue(self.value(session, "v.equals(pa.array([1]))"))

    def test_what_has_no_form_is_a_type_error(self):
        with self.open() as session:
            error = session.run("import pyarrow as pa\necho(pa.RecordBatchReader.from_batches(pa.schema([]), []))")["error"]
            self.assertEqual("TypeError", error["type"])


if __name__ == "__main__":
    if not FOLDERS:
        print(f"pyarrow is not in {os.environ.get('PYARROW', 'PYARROW, which is not set')!r}: "
              "scripts/test installs it where there is a network")
        sys.exit(77)
    unittest.main()
