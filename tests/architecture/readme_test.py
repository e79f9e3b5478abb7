"""README.md against the tree: the program it shows, the limits and exit codes it names."""

import json
import os
import re
import unittest

import layers

PRESETS = ("default", "sandboxed_python")
# Row of the limits table -> the preset's key, and how the page writes its value.
LIMITS = {
    "wall time of a cell": ("wall_s", "{} s"),
    "CPU time of a cell": ("cpu_s", "{} s"),
    "memory, growth over a fresh interpreter": ("memory_mib", "{} MiB"),
    "output kept, each of stdout and stderr": ("output_kib", "{} KiB"),
    "open files": ("open_files", "{}"),
    "threads": ("threads", "{}"),
    "work folder and temporary files": ("disk_mib", "{} MiB"),
    "tool calls of a cell": ("tool_calls", "{}"),
}


def read(*path):
    with open(os.path.join(layers.ROOT, *path), encoding="utf-8") as file:
        return file.read()


def preset(name):
    return json.loads(re.sub(r"//[^\"\n]*$", "", read("policy", "presets", name + ".json"), flags=re.MULTILINE))


class ReadmeTest(unittest.TestCase):

    def setUp(self):
        self.page = read("README.md")

    def test_program_is_the_consumer_that_the_tests_run(self):
        shown = re.search(r"```cpp\n(.*?)```", self.page, re.DOTALL).group(1)
        self.assertEqual(read("tests", "architecture", "consumer", "consumer.cc"), shown)

    def test_limits_are_those_of_the_presets(self):
        limits = [preset(name)["limits"] for name in PRESETS]
        self.assertEqual(set(limits[0]), {key for key, _ in LIMITS.values()})
        for row, (key, form) in LIMITS.items():
            cells = " | ".join(form.format(values[key]) for values in limits)
            self.assertIn(f"| {row} | {cells} |\n", self.page)

    def test_exit_codes_are_those_of_the_command(self):
        source = read("core", "cli", "exit_code.h")
        codes = set(re.findall(r"^  kExit\w+ = (\d+),", source, re.MULTILINE))
        self.assertGreater(len(codes), 5)
        self.assertEqual(codes, set(re.findall(r"^\| (\d+) \| ", self.page, re.MULTILINE)))

    def test_files_that_pages_name_exist(self):
        for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"):
            for name in re.findall(r"`([\w./-]+/[\w.-]+\.\w+)`", read(*page.split("/"))):
                folder = os.path.dirname(page)
                self.assertTrue(any(os.path.exists(os.path.join(layers.ROOT, base, name)) for base in ("", folder)),
                                f"{page} names {name}, which does not exist")

    def test_pages_that_sources_name_exist(self):
        pages = {name for folder, _, names in os.walk(layers.ROOT) for name in names if name.endswith(".md")}
        missing = set()
        for path in layers.sources(layers.ROOT, endings=(".h", ".cc", ".py")):
            for name in re.findall(r"\b([A-Z]{3,}\.md)\b", read(*path.split("/"))):
                if name not in pages:
                    missing.add(f"{path} names {name}")
        self.assertEqual([], sorted(missing))


if __name__ == "__main__":
    unittest.main()
