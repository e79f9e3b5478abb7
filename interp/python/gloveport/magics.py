"""%load_ext gloveport: cells of a notebook that run confined, with the notebook's functions as tools."""
from __future__ import annotations

import argparse
import html
import os
import pathlib
import shlex
import tempfile
from typing import Any, Optional

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class

from . import Agent, Runtime, Session, _tools, audit_check, audit_summary
from ._html import safe_text
from ._notebook import AgentView, ask_in_notebook, run_and_show
from ._policy import as_policy, for_notebooks
from ._rich import show_page

_MAIN = "main"  # the session that cells run in unless --on names a branch


class _Parser(argparse.ArgumentParser):
    """That raises instead of ending the notebook's process."""

    def error(self, message: str) -> Any:
        raise UsageError(f"{self.prog}: {message}\n{self.format_usage().strip()}")

    def read(self, line: str) -> argparse.Namespace:
        try:
            return self.parse_args(shlex.split(line))
        except ValueError as error:  # an open quote
            self.error(str(error))
            raise
        except SystemExit:  # --help has been printed
            return None  # type: ignore[return-value]


@magics_class
class GloveMagics(Magics):
    """The magics, and what they share: a policy, tools of the notebook, a session and its branches."""

    def __init__(self, shell: Any):
        super().__init__(shell)
        self.policy: Any = "default"
        self.tools: list = []
        self.sessions: dict = {}
        self._runtime: Optional[Runtime] = None
        self._log = ""

    @property
    def runtime(self) -> Runtime:
        """With an audit log of everything that the notebook runs, for %glove_audit."""
        if self._runtime is None:
            self._log = os.path.join(tempfile.mkdtemp(prefix="gloveport-"), "notebook.jsonl")
            self._runtime = Runtime(audit=self._log)
        return self._runtime

    def session(self, name: str = _MAIN) -> Session:
        if name not in self.sessions:
            if name != _MAIN:
                raise UsageError(f"there is no branch {name!r}: %glove_branch {name} makes it")
            self.sessions[name] = Session(for_notebooks(self.policy), tools=self.tools, runtime=self.runtime,
                                          approve=ask_in_notebook)
        return self.sessions[name]

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()

    def _configure(self, policy: Optional[str], tools: Optional[str]) -> None:
        """Another policy or other tools are another session, without the variables of the one before."""
        named = self._named(tools) if tools is not None else self.tools
        if policy is not None and as_policy(policy) == as_policy(self.policy):
            policy = None
        same = [_tools.spec_of(tool) for tool in named] == [_tools.spec_of(tool) for tool in self.tools]
        if policy is None and same:
            for old, new in zip(self.tools, named):
                if isinstance(old, _tools.Tool) and isinstance(new, _tools.Tool):
                    old.function = old.__wrapped__ = new.function  # which the notebook may have defined anew
            return
        self.policy = as_policy(policy) if policy is not None else self.policy
        self.tools = named
        if self.sessions:
            self.close()
            print("A new session begins, for its policy or tools are others than before.")

    def _named(self, names: str) -> list:
        found = {}
        for name in names.replace(",", " ").split():
            if name not in self.shell.user_ns:
                raise UsageError(f"the notebook has no function {name!r} to hand over")
            found[name] = self.shell.user_ns[name]
        return _tools.as_tools(found)

    # ---- running ----

    @cell_magic
    def glove(self, line: str, cell: str) -> None:
        """Runs the cell in a confined session, which keeps its variables from cell to cell.

        %%glove [--policy P] [--timeout S] [--tools f,g] [--on BRANCH] [-o NAME]
        """
        parser = _Parser(prog="%%glove", description="Runs the cell in a confined session.")
        parser.add_argument("--policy", help="a preset or a policy file; another one begins a new session")
        parser.add_argument("--timeout", type=float, metavar="S", help="seconds for this cell")
        parser.add_argument("--tools", help="functions of the notebook that the cell may call; others begin a new session")
        parser.add_argument("--on", default=_MAIN, metavar="BRANCH", help="a session that %%glove_branch made")
        parser.add_argument("-o", dest="output", metavar="NAME", help="a variable of the notebook for the cell's value")
        given = parser.read(line)
        if given is None:
            return
        self._configure(given.policy, given.tools)
        result = run_and_show(self.session(given.on), cell, given.timeout)
        if given.output and result.ok:
            self.shell.user_ns[given.output] = result.value

    @line_cell_magic
    def agent(self, line: str, cell: str = "") -> None:
        """Lets a model write Python until the goal is reached; its steps are shown as they come.

        %agent GOAL, with the options of
        %%agent [--model M] [--policy P] [--tools f,g] [--file F] [--max-steps N] [-o NAME] GOAL
        further instructions, if any
        """
        parser = _Parser(prog="%%agent", description="Lets a model reach a goal by writing Python.")
        parser.add_argument("--model", default=os.environ.get("GLOVEPORT_MODEL"),
                            help="openai:NAME, anthropic:NAME, scripted:FILE, or a function of the notebook; "
                                 "$GLOVEPORT_MODEL without it")
        parser.add_argument("--policy")
        parser.add_argument("--tools")
        parser.add_argument("--file", action="append", default=[], help="put into the work folder first")
        parser.add_argument("--max-steps", type=int, default=10)
        parser.add_argument("-o", dest="output", metavar="NAME", help="a variable of the notebook for the answer")
        parser.add_argument("goal", nargs="+")
        given = parser.read(line)
        if given is None:
            return
        if not given.model:
            raise UsageError("no model: --model openai:NAME, or set GLOVEPORT_MODEL")
        files = {}
        for path in given.file:
            with open(path, "rb") as file:
                files[os.path.basename(path)] = file.read()
        view = AgentView(" ".join(given.goal))
        agent = Agent(self.shell.user_ns.get(given.model, given.model), policy=given.policy or self.policy,
                      tools=self._named(given.tools) if given.tools else self.tools, runtime=self.runtime,
                      instructions=(cell or "").strip(), max_steps=given.max_steps, approve=ask_in_notebook,
                      on_step=view.on_step, on_event=view.on_event)
        result = view.run(lambda: agent.run(" ".join(given.goal), files=files), agent.interrupt)
        if given.output and result.ok:
            self.shell.user_ns[given.output] = result.answer

    # ---- what cells may do ----

    @line_magic
    def glove_tools(self, line: str) -> None:
        """%glove_tools f g: hands functions of the notebook to the session. Without names: lists those that it has."""
        if line.strip():
            self._configure(None, line)
        if not self.tools:
            print("no tools; %glove_tools f g hands functions of the notebook over")
        for tool in self.tools:
            spec = _tools.spec_of(tool)
            parameters = ", ".join(f"{p['name']}: {p['annotation']}" + (f" = {p['default']!r}" if "default" in p else "")
                                   for p in spec["parameters"])
            print(f"{'async ' if spec.get('async') else ''}{spec['name']}({parameters}) -> {spec['returns']}"
                  + (f"    {spec['description'].splitlines()[0]}" if spec["description"] else ""))

    @line_magic
    def glove_policy(self, line: str) -> None:
        """%glove_policy [P]: shows the policy of the session, or sets another one (which begins a new session)."""
        if line.strip():
            self._configure(line.strip(), None)
        policy = as_policy(self.policy).to_dict()
        rows = [("name", as_policy(self.policy).name), ("modules", ", ".join(policy.get("imports", {}).get("allow", ()))),
                *((name, value) for name, value in policy.get("limits", {}).items()),
                ("layers", ", ".join(policy.get("layers", {}).get("require", ())))]
        _show_table("Policy", rows)

    @line_magic
    def glove_audit(self, line: str) -> None:
        """%glove_audit [PATH]: what the notebook's cells did, from the audit log; with a path the log is copied there."""
        self.runtime  # noqa: B018 - begins the log
        if line.strip():
            import shutil
            shutil.copyfile(self._log, line.strip())
            print(f"copied to {line.strip()}; head {self.runtime.audit_head}")
            return
        check = audit_check(self._log)
        rows = [("log", self._log), ("records", check["records"]), ("chain", "holds" if check["holds"] else check["problem"])]
        rows += [(name, value) for name, value in audit_summary(self._log).items() if value]
        _show_table("Audit", rows)

    @line_magic
    def glove_put(self, line: str) -> None:
        """%glove_put FILE [NAME]: copies a file into the session's work folder."""
        parser = _Parser(prog="%glove_put")
        parser.add_argument("file")
        parser.add_argument("name", nargs="?")
        given = parser.read(line)
        if given is not None:
            self.session().put_file(given.name or os.path.basename(given.file), pathlib.Path(given.file))

    @line_magic
    def glove_branch(self, line: str) -> None:
        """%glove_branch NAME [--of OTHER]: a session that goes on from here on its own, for %%glove --on NAME."""
        parser = _Parser(prog="%glove_branch")
        parser.add_argument("name", nargs="?")
        parser.add_argument("--of", default=_MAIN)
        given = parser.read(line)
        if given is None:
            return
        if given.name is None:
            print("\n".join(self.sessions) or "no session yet")
            return
        if given.name in (_MAIN, given.of):
            raise UsageError(f"the name {given.name!r} is that of what it would go on from")
        branch, = self.session(given.of).branch()
        if given.name in self.sessions:  # the notebook is run once more
            print(f"The {given.name} that was there is closed.")
            self.sessions.pop(given.name).close()
        self.sessions[given.name] = branch
        print(f"{given.name} goes on from {given.of}: %%glove --on {given.name}")


def _lines(value: Any) -> str:
    """A value of a summary in words, one thing a line."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_words(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "\n".join(map(_words, value)) if any(isinstance(item, dict) for item in value) else ", ".join(map(str, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _words(value: Any) -> str:
    return ", ".join(f"{name} {item}" for name, item in value.items()) if isinstance(value, dict) else str(value)


def _show_table(title: str, rows: list) -> None:
    rows = [(name.replace("_", " "), _lines(value)) for name, value in rows]
    style = "text-align:left;vertical-align:top;white-space:pre-wrap"
    cells = "".join(f"<tr><th style='{style.replace('pre-wrap', 'nowrap')}'>{html.escape(name)}</th><td style='{style}'>{html.escape(value)}</td></tr>"
                    for name, value in rows)
    show_page(f"<details open><summary>{html.escape(title)}</summary><table>{cells}</table></details>",
              "\n".join(safe_text(f"{name}: {value}") for name, value in rows))


def _agent_alone(lines: list) -> list:
    """A cell of one line that begins an agent's run, as a cell magic with a body: IPython refuses one without, and takes
    the question mark of a goal for a request for help."""
    said = [line for line in lines if line.strip()]
    if len(said) != 1 or not said[0].startswith(("%agent ", "%%agent ")):
        return lines
    return ["%%" + said[0].lstrip("%").rstrip("\n") + "\n", "\n"]


def load(ipython: Any) -> None:
    """What %load_ext gloveport does."""
    ipython.register_magics(GloveMagics)
    if _agent_alone not in ipython.input_transformers_cleanup:
        ipython.input_transformers_cleanup.append(_agent_alone)
