"""Clients made with the official SDKs of the Model Context Protocol, each in a process of its own."""

import json
import os
import subprocess

from node import find_node
from programs import environment

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(os.environ.get("MCP_SDK", ""), "bin", "python")
PACKAGES = os.environ.get("MCP_PACKAGES", "")
NODE = find_node(os.environ.get("MCP_SDK", ""))

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"


def _has_python():
    return os.access(PYTHON, os.X_OK) and subprocess.run([PYTHON, "-c", "import mcp.client.client"], check=False,
                                                         capture_output=True).returncode == 0


# How each is started; those that are not installed are missing.
SDKS = {}
if _has_python():
    SDKS["python"] = [PYTHON, "-B", os.path.join(HERE, "sdk_client.py")]
if NODE and os.path.isdir(os.path.join(PACKAGES, "node_modules", "@modelcontextprotocol", "client")):
    SDKS["typescript"] = [NODE, os.path.join(HERE, "sdk_client.mjs"), PACKAGES, "2"]
    SDKS["typescript v1"] = [NODE, os.path.join(HERE, "sdk_client.mjs"), PACKAGES, "1"]
MISSING = [sdk for sdk in ("python", "typescript", "typescript v1") if sdk not in SDKS]
MISSING_REASON = f"these SDKs of MCP are not installed (TypeScript's need Node 22): {', '.join(MISSING)}; scripts/test does that"


class SdkClient:
    """`target` is {"command": [...]} or {"url": ..., "headers": {...}}; `answer` is what the person says to questions:
    accept, decline or cancel, None where the client can ask nobody. Open within a `with`."""

    def __init__(self, sdk, target, revision, answer=None):
        self._process = subprocess.Popen(SDKS[sdk], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
        self.pid = self._process.pid
        self._open = {"op": "open", "target": target, "revision": revision, "answer": answer}

    def __enter__(self):
        self.opened = self.ask(**self._open)
        return self

    def __exit__(self, *_):
        try:
            self._process.communicate(json.dumps({"op": "close"}) + "\n", timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.communicate()

    def ask(self, **command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": f"the client ended with {self._process.wait(60)}"}

    def tools(self):
        return {tool["name"]: tool for tool in self.ask(op="tools")["tools"]}

    def call(self, name, **arguments):
        return self.ask(op="call", name=name, arguments=arguments)

    def call_and_cancel(self, name, **arguments):
        """Cancelled when the first progress is reported."""
        return self.ask(op="call", name=name, arguments=arguments, cancel=True)
