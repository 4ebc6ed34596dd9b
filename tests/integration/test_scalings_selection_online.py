"""The reproductions of the papers on selection and online learning: they run, and their pages are those of their results."""

import json
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def without_other_data(monkeypatch):
    monkeypatch.delenv("RESCALEINV_DATA", raising=False)


def test_selection_runs_on_made_text(capsys):
    from benchmarks.scalings import selection

    rows = selection.run(quick=True)["sets"]["made"]["errors"]
    assert len(rows) == 2 * (2 + 9 * 2)  # two classifiers; all features twice, nine ways with two numbers of features
    errors = {(row["classifier"], row["method"], row["matrix"], row["m"]): row["error"] for row in rows}
    assert errors["SVM", "Method 2", "TD", 10] < errors["SVM", "Method 1", "TD", 10]
    assert "made: " in capsys.readouterr().out


def test_online_runs_on_a_part_of_the_diabetes_data(capsys):
    from benchmarks.scalings import online

    one = online.run(quick=True)["sets"]["diabetes"]
    assert len(one["learners"]) == 18
    assert one["learners"]["GN"]["best"]["test"] > one["learners"]["SGD"]["best"]["test"]
    assert all(row["best"]["test"] >= row["plain"]["test"] for row in one["learners"].values())
    assert len(one["curves"]["GN"]) == one["rows"] == 90
    assert "diabetes: " in capsys.readouterr().out


@pytest.mark.parametrize("part", ["selection", "online"])
def test_the_stored_page_is_that_of_the_stored_results(part):
    module = import_module(f"benchmarks.scalings.{part}_page")
    stored = json.loads((BENCHMARKS / "results" / f"scalings_{part}.json").read_text(encoding="utf-8"))["results"]
    assert module.page(stored) == (BENCHMARKS / "results" / f"scalings_{part}.md").read_text(encoding="utf-8")


def test_printed_figures_fit_the_other_part_of_the_data():
    from benchmarks.scalings.online_printed import PRINTED, columns_are_swapped, misprints

    for name in PRINTED:
        counts = columns_are_swapped(name)
        assert sum(counts.values()) == 18
        assert counts["as headed"] == 0
    assert misprints() == [("liver", "GN+avg", "heart"), ("diabetes", "PA-I", "heart")]
