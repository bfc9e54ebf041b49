"""A script of the gallery runs as the notebook that readers download."""

import shutil
from pathlib import Path

import pytest
from patience import PATIENCE

SCRIPT = Path(__file__).parents[2] / "examples" / "plot_diabetes.py"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not SCRIPT.exists(), reason="the gallery is not part of what is installed")
def test_the_first_script_runs_as_a_notebook(tmp_path):
    client = pytest.importorskip("nbclient", reason="make docs installs it")
    gallery = pytest.importorskip("sphinx_gallery.notebook", reason="make docs installs it")
    nbformat = pytest.importorskip("nbformat")
    shutil.copy(SCRIPT, tmp_path)
    gallery.python_to_jupyter_cli([str(tmp_path / SCRIPT.name)])
    notebook = nbformat.read(tmp_path / "plot_diabetes.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("frontier"))
    notebook.cells.append(nbformat.v4.new_code_cell("model"))
    where = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(notebook, timeout=PATIENCE, resources=where).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    frontier, model = (cell.outputs[-1]["data"] for cell in notebook.cells[-2:])
    assert "age:sex" in frontier["text/html"]
    assert "L0Regressor" in model["text/html"]
