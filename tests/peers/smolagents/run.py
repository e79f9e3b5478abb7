"""Runs smolagents' own tests with Gloveport in the place of its local executor (gloveport_plugin.py).

The tests come from smolagents' source distribution, which pip fetches into CACHE the first time; nothing of them is in this
repository. Exit code 77 with the reason where they cannot be had.

Usage: run.py VENV CACHE PYTHONPATH [pytest's arguments]
"""
import glob
import os
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "1.26.0"  # that expected_skips.txt is for
PARTS = (("local executor", "test_local_python_executor.py"), ("agents", "test_agents.py"),
         ("black-box executor", "test_remote_executors.py"))
# What the repository has beside its tests and the source distribution lacks: marks, and a module that tests import.
STAND_INS = {"__init__.py": "", "utils/__init__.py": "",
             "utils/markers.py": "import pytest\n\nrequire_run_all = pytest.mark.skip(reason='needs a remote service')\n"}


def fetch(python, cache):
    """The folder of the unpacked source distribution; None where it cannot be fetched."""
    folder = os.path.join(cache, f"smolagents-{VERSION}")
    if not os.path.isdir(os.path.join(folder, "tests")):
        os.makedirs(cache, exist_ok=True)
        done = subprocess.run([python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", cache,
                               f"smolagents=={VERSION}"], capture_output=True, text=True, check=False, timeout=300)
        archives = glob.glob(os.path.join(cache, f"smolagents-{VERSION}.tar.gz"))
        if done.returncode or not archives:
            print((done.stderr.strip().splitlines() or ["pip says nothing"])[-1])
            return None
        with tarfile.open(archives[0]) as archive:
            archive.extractall(cache, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    for name, text in STAND_INS.items():
        path = os.path.join(folder, "tests", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def run_part(python, folder, test_file, path, report, arguments):
    environment = {**os.environ, "PYTHONPATH": f"{path}:{HERE}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", "pytest", "-q", "-p", "gloveport_plugin", "-p", "no:cacheprovider", "-o", "addopts=",
               "-W", "ignore", "-rs", "--tb=short", f"--junitxml={report}", f"tests/{test_file}", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False).returncode


def counts(report):
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    total, failed, skipped = (int(suite.get(name)) for name in ("tests", "failures", "skipped"))
    failed += int(suite.get("errors"))
    return total - failed - skipped, failed, skipped


def main():
    venv, cache, path = map(os.path.abspath, sys.argv[1:4])
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python) or subprocess.run([python, "-c", "import smolagents, pytest"], capture_output=True,
                                                    check=False).returncode:
        print(f"no smolagents in {venv}: scripts/test makes it with tests/interp/python/requirements.txt")
        return 77
    folder = fetch(python, cache)
    if folder is None:
        print("the source distribution of smolagents cannot be fetched")
        return 77
    failed = 0
    for name, test_file in PARTS:
        report = os.path.join(cache, re.sub(r"\W", "_", name) + ".xml")
        if os.path.exists(report):
            os.remove(report)
        code = run_part(python, folder, test_file, path, report, sys.argv[4:])
        if not os.path.exists(report):
            print(f"smolagents/{name}: pytest ended with {code} and left no report")
            return 1
        passed, bad, skipped = counts(report)
        failed += bad + (passed == 0)
        print(f"smolagents/{name.replace(' ', '_')}: {passed} passed, {bad} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
