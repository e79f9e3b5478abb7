"""The examples in the package's documentation, run."""
import doctest
import importlib
import pkgutil

import pytest

import gloveport

MODULES = ["gloveport"] + [f"gloveport.{found.name}" for found in pkgutil.iter_modules(gloveport.__path__)
                           if found.name not in ("_native", "__main__", "magics") and not found.ispkg]
WITH_EXAMPLES = {"gloveport", "gloveport.errors", "gloveport._agent", "gloveport._policy", "gloveport._runtime",
                 "gloveport._session", "gloveport._tools", "gloveport._values"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    module = importlib.import_module(name)
    names = {**vars(gloveport), **vars(module)}
    failed, tried = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert failed == 0
    assert tried > 0 or name not in WITH_EXAMPLES


def test_every_public_name_says_what_it_is():
    for name in gloveport.__all__:
        found = getattr(gloveport, name)
        if callable(found):
            assert found.__doc__, name


def test_front_page_program_runs(capsys):
    import os
    import re
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "..", "README.md"), encoding="utf-8") as file:
        text = file.read()
    program = re.search(r"## In Python\n.*?```python\n(.*?)```", text, re.DOTALL)[1]
    exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "ok [381.6, 11012.800000000001]\n"


def test_readme_prints_what_it_says():
    """The program of interp/python/README.md."""
    import contextlib
    import io
    import os
    import re
    page = os.path.join(os.path.dirname(__file__), "..", "..", "..", "interp", "python", "README.md")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    promised = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == promised
