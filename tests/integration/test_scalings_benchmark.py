"""benchmarks/scalings/ in small: both papers' parts run on iris and made data, and draw and write what they promise."""

import json

import numpy as np
import pytest

from benchmarks.scalings import bns as bns_part
from benchmarks.scalings import shaping as shaping_part
from benchmarks.scalings import solver
from benchmarks.scalings.common import load_text, one_vs_rest
from rescaleinv.errors import DatasetUnavailableError


@pytest.fixture(scope="module")
def bns():
    return bns_part.run(quick=True)


@pytest.fixture(scope="module")
def shaping():
    return shaping_part.run(quick=True)


def shares_of(figures):
    return [value for key, value in figures.items() if key in ("F", "AUC", "accuracy", "precision", "recall", "P@20")]


def test_every_representation_of_the_2008_paper_is_measured(bns):
    assert len(bns["representations"]) == 2 * 15 + 1
    assert all(0 <= value <= 1 for figures in bns["representations"].values() for value in shares_of(figures))
    # the made topics have words of their own, which any sensible scaling lets an SVM see
    assert bns["representations"]["BNS"]["F"] > 0.8
    assert bns["features"]["numbers"] == [10, "all"]
    assert all(len(curve) == 2 for curve in bns["features"]["curves"].values())


def test_every_variant_of_the_2009_paper_is_measured(shaping):
    assert set(shaping["lesions"]) == {*shaping_part.LESIONS, "no shaping", "full"}
    for kind in ("uci", "text"):
        figures = shaping[kind]["curves"]
        assert set(figures) == {"baseline", "scaling", "shaping", "gain"}
        gain = figures["shaping"]["AUC"][0] - figures["baseline"]["AUC"][0]
        assert figures["gain"]["AUC"][0]["mean"] == pytest.approx(gain, abs=1e-4)
    # iris versicolor against the rest: hardly linear, but shaped it is
    assert shaping["uci"]["curves"]["shaping"]["F"][-1] > shaping["uci"]["curves"]["baseline"]["F"][-1]


@pytest.mark.parametrize(("name", "part"), [("bns", bns_part), ("shaping", shaping_part)], ids=["bns", "shaping"])
def test_results_are_json_and_make_a_page_with_its_figures(name, part, tmp_path, request):
    pytest.importorskip("matplotlib")
    results = request.getfixturevalue(name)
    part.report(json.loads(json.dumps(results, allow_nan=False)), tmp_path)
    page = (tmp_path / f"scalings_{name}.md").read_text(encoding="utf-8")
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert len(drawn) >= 3
    assert all(f"({name})" in page for name in drawn)
    assert page.count("| the paper says |") == 1


def test_both_solvers_measure_the_same_tasks():
    results = json.loads(json.dumps(solver.run(quick=True), allow_nan=False))
    assert set(results["solvers"]) == {"liblinear", "libsvm"}
    one = results["solvers"]["libsvm"]
    gain = results["gain of BNS in F"]["libsvm"]["TF·IDF"]["mean"]
    assert gain == pytest.approx(one["BNS"]["F"] - one["TF·IDF"]["F"], abs=1e-4)
    assert "| the paper says |" in solver.page(results)


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("RESCALEINV_DATA", str(tmp_path))
    with pytest.raises(DatasetUnavailableError, match=r"oh10\.npz"):
        load_text("oh10")


def test_the_rarer_of_two_classes_is_the_positive_one_and_small_classes_are_left_out():
    labels = np.array(["b", "a", "b", "c", "a", "b"])
    assert [task.label for task in one_vs_rest("made", np.zeros((6, 1)), labels, least=2)] == ["a", "b"]
    two = one_vs_rest("made", np.zeros((6, 1)), np.where(labels == "b", "b", "a"), least=9)
    assert [task.label for task in two] == ["a"]
    assert [task.label for task in one_vs_rest("made", np.zeros((3, 1)), labels[:3])] == ["a"]
