"""Every notebook runs from start to end, and what is stored of its outputs is small and of no one machine."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import rescaleinv

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def test_the_notebooks_are_there():
    assert [path.name[0] for path in NOTEBOOKS] == list("12345678")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_start_to_end(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(rescaleinv.__file__).parents[1]))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # pictures go into the notebook
    monkeypatch.setenv("TQDM_DISABLE", "1")  # a bar is shown where a cell takes long, and only then
    notebook = read(path)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", coalesce_streams=True, resources={"metadata": {"path": tmp_path}}
    ).execute()
    for before, now in zip(read(path).cells, notebook.cells, strict=True):
        if before.cell_type == "code":
            outputs = [output for output in now.outputs if not is_about_compiling(output)]
            assert [kinds(output) for output in outputs] == [kinds(output) for output in before.outputs]


def is_about_compiling(output):
    """On a machine without compiled code the first use says so, in whichever cell that is."""
    return output.get("name") == "stderr" and all(
        line.startswith("rescaleinv: compiling") for line in output["text"].splitlines()
    )


def kinds(output):
    """What sort of output it is: a picture, a table, text; warnings and errors would show here."""
    return output.get("name"), sorted(set(output.get("data", ())) - {"text/plain"})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored_is_small_and_of_no_one_machine(path):
    assert path.stat().st_size < 250_000
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert all(cell.execution_count for cell in cells)
    for output in outputs:
        text = str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
        assert output.output_type != "error"
        assert output.get("name") != "stderr"
        assert not any(part in text for part in ("/tmp", "/home", "/root", "/work", "Users"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_are_described_for_those_who_do_not_see_them(path):
    for cell in read(path).cells:
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", ())):
            assert len(cell.metadata["mystnb"]["image"]["alt"].split()) > 5
