"""The run that README.md shows is what the example prints: every line but those left out, in this order.

Usage: demo_output_test.py CONVERSION_PROGRAM
"""

import os
import re
import subprocess
import sys
import unittest

import layers

GOAL = "What is the average conversion of this campaign, and which month converts best?"
# What differs from run to run and machine to machine.
MEASURED = re.compile(r"\d+(?:\.\d+)? (?:s|ms|MB|MiB)\b|ABI \d+")


def shown_lines():
    with open(os.path.join(layers.ROOT, "README.md"), encoding="utf-8") as page:
        block = re.search(r"```text\n(.*?)```", page.read(), re.DOTALL).group(1)
    return [line for line in block.splitlines() if line.strip(" .")]


def plain(line):
    return MEASURED.sub("#", line).rstrip()


class DemoOutputTest(unittest.TestCase):

    def test_readme_shows_what_the_example_prints(self):
        example = os.path.join("examples", "conversion")
        done = subprocess.run(
            [PROGRAM, "run", GOAL, "--file", os.path.join(example, "bank-marketing.csv"), "--tools", "contact_cost",
             "--schema", os.path.join(example, "answer.schema.json"),
             "--model", "scripted:" + os.path.join(example, "transcript.jsonl")],
            cwd=layers.ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        printed = iter([plain(line) for line in (done.stderr + done.stdout).splitlines()])
        for line in shown_lines():
            self.assertIn(plain(line), printed, f"not printed, or not in this order: {line}")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
