"""The example notebooks, run from top to bottom."""
import os

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "notebooks")


@pytest.fixture(scope="module", autouse=True)
def python_kernel(tmp_path_factory):
    """The kernel of the Python that runs the tests, whatever kernels there are besides."""
    from ipykernel.kernelspec import install
    prefix = tmp_path_factory.mktemp("prefix")
    install(prefix=str(prefix))
    before = dict(os.environ)
    os.environ.update(JUPYTER_PATH=str(prefix / "share" / "jupyter"), JUPYTER_RUNTIME_DIR=str(prefix / "runtime"),
                      IPYTHONDIR=str(prefix / "ipython"))
    yield
    os.environ.clear()
    os.environ.update(before)


def executed(name):
    """The outputs of each code cell, by the cell's text."""
    path = os.path.join(FOLDER, name)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "notebooks are kept without outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": FOLDER}}).execute()
    if os.environ.get("GLOVEPORT_KEEP_NOTEBOOKS"):
        nbformat.write(notebook, os.path.join(os.environ["GLOVEPORT_KEEP_NOTEBOOKS"], name))
    return [(cell.source, cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def forms(outputs, mime):
    return [output.data[mime] for output in outputs if "data" in output and mime in output.data]


def printed(outputs, stream):
    return "".join(output.text for output in outputs if output.output_type == "stream" and output.name == stream)


def find(cells, text):
    return next(outputs for source, outputs in cells if text in source)


def test_campaign():
    cells = executed("campaign.ipynb")
    assert "45,211 clients" in printed(find(cells, "read_csv"), "stdout")
    assert "<table" in forms(find(cells, "clients.head()"), "text/html")[0]
    for plot in ("contacted", "by age"):
        assert len(forms(find(cells, plot), "image/png")) == 1
    assert forms(find(cells, "best.index"), "text/plain") == ["(['mar', 'dec', 'sep'], 51.99)"]
    refused = printed(find(cells, "urllib"), "stderr")
    assert "not allowed" in refused and "hint" in refused
    assert forms(find(cells, "--on without_may"), "text/plain") != forms(cells[-2][1], "text/plain") == ["11.7"]
    assert "holds" in forms(cells[-1][1], "text/html")[0]
    quiet = [printed(outputs, "stderr") for source, outputs in cells if "urllib" not in source]
    assert quiet == [""] * len(quiet)


def test_agent():
    pytest.importorskip("native_tools", reason="the examples are not built")
    cells = executed("agent.ipynb")
    assert printed(find(cells, "%glove_tools"), "stdout").startswith("contact_cost(contacts: int, channel: str = 'cellular')")
    assert forms(find(cells, 'describe("y")'), "text/plain")[0].startswith("('whether the client subscribed', 80.0, ")
    page = forms(find(cells, "%%agent"), "text/html")[-1]
    assert "51.99" in page and "contact_cost(" in page and "Evidence" in page
    assert "best_month" in forms(cells[4][1], "text/plain")[0]
    asked = find(cells, "def decide")
    assert "asked: contact_cost {'contacts': 45211" in printed(asked, "stdout")
    assert "too many: take a sample" in forms(asked, "text/plain")[0]
