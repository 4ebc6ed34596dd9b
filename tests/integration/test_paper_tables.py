"""A reduced run of benchmarks/paper/tables.py (2 draws, 3 benchmarks of shipped data), and the parts that it is made of."""

import json
import math
import re
from collections import Counter
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import ttest_1samp
from sklearn.metrics import confusion_matrix

from benchmarks.paper import cautious, tables, words
from benchmarks.paper.draws import LEAST, MOST_ROWS, RANDOM, RULES, Decided, decide, split
from benchmarks.paper.draws import _grow as grow
from benchmarks.paper.figures import BENCHMARKS
from benchmarks.paper.radius import FACTORS, Radii, points_per_split, radii, share_curves
from benchmarks.paper.report import markdown
from benchmarks.paper.summary import averages, compared, figures_of, spread
from rescaleinv.datasets import load
from rescaleinv.errors import DatasetUnavailableError
from rescaleinv.theory.svm import minimal_norm_svm

REDUCED = ["--draws", "2", "--benchmarks", "2", "8", "17", "--checked", "1", "--milp-points", "1", "--jobs", "1"]
LEFT_OUT = ["--parts", "tables", "--without-conformal", "--without-figures"]  # extras, and what takes long


@pytest.fixture(scope="module")
def reduced(tmp_path_factory):
    """The results that the command wrote, and its Markdown."""
    folder = tmp_path_factory.mktemp("results")
    assert tables.main([*REDUCED, *LEFT_OUT, "--out", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["paper_tables.json", "paper_tables.md"]
    results = json.loads((folder / "paper_tables.json").read_text("utf-8"))["results"]
    return results, (folder / "paper_tables.md").read_text("utf-8")


@pytest.fixture(scope="module")
def banknote():
    return decide(split(17, 0, "misclassified"))


# --- the reduced run ------------------------------------------------------------------------------------------------


def plain_labels(rows, signs, points):
    """Of the hard-margin SVM, whose program is written for features of like size: w_j = v_j / spread_j."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    v, b = cp.Variable(rows.shape[1]), cp.Variable()
    margins = cp.multiply(signs, (rows - centre) / spread @ v + b)
    cp.Problem(cp.Minimize(cp.sum_squares(v / spread * spread.max())), [margins >= 1]).solve(solver=cp.CLARABEL)
    return np.where((points - centre) / spread @ v.value + b.value >= 0, 1, -1)


def test_the_figures_are_those_of_a_plain_svm(reduced):
    """A plain quadratic program and a confusion matrix, on the same draws (libsvm does not converge on them)."""
    found = {one["number"]: one for one in reduced[0]["tables"]["rules"]["misclassified"]["benchmarks"]}
    for number in (8, 17):
        cells = []
        for draw in range(2):
            this = split(number, draw, "misclassified")
            predicted = plain_labels(this.training_set.features, this.training_set.signs, this.test_features)
            cells.append(confusion_matrix(this.test_signs, predicted, labels=[-1, 1]).ravel())
        for name, column in zip(("TN", "FP", "FN", "TP"), np.array(cells).T, strict=True):
            figure = found[number]["figures"][f"SVM {name}"]
            assert (figure["mean"], figure["least"], figure["largest"]) == (column.mean(), column.min(), column.max())
            assert figure["paper"] == getattr(BENCHMARKS[number - 1].svm, name.lower())


def test_strong_verdicts_are_part_of_the_svms(reduced):
    for rule in RULES:
        for one in reduced[0]["tables"]["rules"][rule]["benchmarks"]:
            figures = one["figures"]
            strong = sum(figures[f"strong {name}"]["mean"] for name in ("FP", "TP", "FN", "TN"))
            assert strong == pytest.approx((1 - figures["neutral share"]["mean"] / 100) * 100)  # of 100 test points
            assert all(figures[f"strong {name}"]["mean"] <= figures[f"SVM {name}"]["mean"] for name in ("FP", "TN"))
            assert one["unknown verdicts"] == 0


def test_every_verdict_of_the_checked_draws_was_proved(reduced):
    found = reduced[0]["tables"]["checks"]
    assert found["training sets"] == 3  # those of one rule, though the three leave different rows of benchmark 8
    assert len({split(8, 0, rule).fingerprint for rule in RULES}) == 3
    assert found["points proved"] == found["points"] == 300
    assert found["verdicts that changed"] == 0
    assert (found["points asked of the MILP"], found["points on which the MILP disagrees"]) == (3, 0)


def test_the_markdown_has_the_figures(reduced):
    results, text = reduced
    banknotes = next(one for one in results["tables"]["rules"]["misclassified"]["benchmarks"] if one["number"] == 17)
    share = banknotes["figures"]["neutral share"]
    assert f"| 17 | banknote | 12.0 | {share['mean']:.1f} [{share['low']:.1f}, {share['high']:.1f}]" in text
    assert f'The rule that comes nearest is "{words.nearest_rule(results["tables"]["rules"])}"' in text
    assert (
        f"{results['tables']['checks']['points proved']:,} of {results['tables']['checks']['points']:,} verdicts"
        in text
    )
    assert "Left out of this run." in text
    assert "nan" not in text.lower().split()
    assert "None" not in re.sub(r"None: not all benchmarks were run|None\.", "", text)


def test_the_figures_are_drawn(reduced, tmp_path):
    pytest.importorskip("matplotlib", reason="the figures need matplotlib, the extra plot")
    names = tables.draw_figures(reduced[0], tmp_path)
    assert names == ["paper_neutral.png", "paper_cautious.png"]
    assert all((tmp_path / name).stat().st_size > 5000 for name in names)
    assert all(f"]({name})" in markdown(reduced[0], {"cpu_count": 2, "processor": "x"}, names) for name in names)


def test_the_report_can_be_written_again_from_the_results(reduced, tmp_path, capsys):
    again = ["--parts", "--without-figures", "--out", str(tmp_path)]  # the data are not needed either
    assert tables.main(again) == 2
    assert "there are no tables from an earlier run" in capsys.readouterr().err
    stored = json.dumps({"results": reduced[0]})
    (tmp_path / "paper_tables.json").write_text(stored, "utf-8")
    assert tables.main(again) == 0
    assert (tmp_path / "paper_tables.md").read_text("utf-8") == reduced[1]
    assert (tmp_path / "paper_tables.json").read_text("utf-8") == stored


def test_a_part_that_is_run_alone_leaves_the_other(reduced, tmp_path, monkeypatch):
    """The radii themselves are of test_share_curves."""
    (tmp_path / "paper_tables.json").write_text(json.dumps({"results": reduced[0]}), "utf-8")
    found = Radii("banknote", np.array([1.0, np.inf]), np.array([1.05, np.inf]), 0, 1.0)
    monkeypatch.setattr(tables, "radii", lambda this, n_points, ratio: found)
    options = ["--parts", "radius", "--radius-draws", "1", "--benchmarks", "17", "--without-figures", "--jobs", "1"]
    assert tables.main([*options, "--out", str(tmp_path)]) == 0
    results = json.loads((tmp_path / "paper_tables.json").read_text("utf-8"))["results"]
    assert results["tables"] == reduced[0]["tables"]
    assert results["radius"]["points"] == 2
    assert "2 points, 0.5 s per point" in (tmp_path / "paper_tables.md").read_text("utf-8")


def test_missing_data_are_named(monkeypatch, capsys):
    def unavailable(name):
        raise DatasetUnavailableError(f"data set {name!r} is not at hand")

    monkeypatch.setattr(tables, "load_quietly", unavailable)
    assert tables.main(["--benchmarks", "10", *LEFT_OUT]) == 2
    assert "'indian_liver_patient' is not at hand" in capsys.readouterr().err


def test_missing_packages_are_named(monkeypatch, capsys):
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    assert tables.main(["--benchmarks", "17"]) == 2
    assert "mapie is not installed: install it, or give --without-conformal" in capsys.readouterr().err


# --- draws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawing", [RANDOM, LEAST])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("number", [4, 13, 17])
def test_draws(number, rule, drawing):
    benchmark = BENCHMARKS[number - 1]
    for draw in range(2):
        this, again = split(number, draw, rule, drawing), split(number, draw, rule, drawing)
        assert this.fingerprint == again.fingerprint
        assert (this.test_features == again.test_features).all()
        assert abs(len(this.training_set) - benchmark.rows) <= 1
        assert benchmark.rows <= len(this.learning_signs) <= MOST_ROWS * benchmark.rows
        assert min(this.class_rows) > 0
        assert sum(this.class_rows) == len(this.training_set)
        others = 100 - len(this.learning_signs) if number == 13 else benchmark.points  # Fertility has 100 rows
        assert len(this.test_signs) == min(benchmark.points, others)
        learning, test, kept = (
            Counter(map(tuple, rows.tolist()))
            for rows in (this.learning_features, this.test_features, this.training_set.features)
        )
        assert kept <= learning
        # every row of the data is used once at most (some of them have copies)
        assert learning + test <= Counter(map(tuple, load(benchmark.data_set).features.tolist()))
        rows = this.training_set.features * this.training_set.signs[:, None]
        matrix = -np.column_stack([rows, this.training_set.signs])
        separator = linprog(np.zeros(matrix.shape[1]), matrix, -np.ones(len(matrix)), bounds=(None, None))
        assert separator.status == 0


def test_rules_are_tested_on_the_same_rows():
    splits = [split(7, 1, rule, LEAST) for rule in RULES]
    tests = [this.test_features for this in splits if this.orders_tried == 1]
    assert len(tests) > 1
    assert all((one == tests[0]).all() for one in tests)


def test_rows_are_added_until_enough_remain():
    """On a line: one row of the first four is in the way; or none can be kept but two until the eighth."""
    points, signs = np.array([[0.0], [3], [1], [2], [4], [5], [6]]), np.array([-1, 1, 1, -1, 1, 1, 1])
    size, kept = grow(points, signs, 4, "fewest")
    assert (size, len(kept)) == (5, 4)
    points, signs = np.array([[0.0]] * 3 + [[1], [0], [0], [2], [3]]), np.array([-1, 1, 1, 1, 1, 1, 1, 1])
    assert grow(points, signs, 4, "fewest")[1] is None  # the seventh is beyond 1.6 times 4


def test_as_few_rows_as_it_takes_are_fewer():
    sizes = {way: [len(split(4, draw, "greedy", way).learning_signs) for draw in range(6)] for way in (RANDOM, LEAST)}
    assert sum(sizes[LEAST]) < sum(sizes[RANDOM])
    assert len(set(sizes[RANDOM])) > 1


# --- figures --------------------------------------------------------------------------------------------------------


def test_spread_is_students_interval_of_what_is_defined():
    values = [3.0, math.nan, 5.0, 10.0, 4.0]
    found = spread(values)
    low, high = ttest_1samp([3, 5, 10, 4], 0).confidence_interval(0.95)
    assert (found["defined"], found["mean"], found["least"], found["largest"]) == (4, 5.5, 3, 10)
    assert (found["low"], found["high"]) == (pytest.approx(low), pytest.approx(high))
    assert spread([math.nan])["defined"] == 0
    assert math.isnan(spread([2.0])["low"])


@pytest.mark.parametrize(("paper", "within"), [(3, True), (10, True), (2.9, False), (10.1, False), (math.nan, None)])
def test_compared(paper, within):
    assert compared([3.0, 10.0], paper)["within range"] is within
    assert compared([math.nan], paper)["within range"] is None


def test_averages_are_of_the_kth_draws_and_leave_out_what_is_undefined(banknote):
    figures = figures_of(banknote)
    by_benchmark = {
        1: [figures | {"strong PPV": 50.0, "SVM PPV": 40.0}, figures | {"strong PPV": 70.0, "SVM PPV": 40.0}],
        2: [figures | {"strong PPV": math.nan, "SVM PPV": 60.0}, figures | {"strong PPV": 90.0, "SVM PPV": 60.0}],
    }
    found = averages(by_benchmark)
    assert (found["strong PPV"]["least"], found["strong PPV"]["largest"]) == (50, 80)
    assert (found["PPV gain"]["least"], found["PPV gain"]["largest"]) == (0, 30)
    assert math.isnan(found["neutral share"]["printed"])  # these are not all benchmarks


def test_counts_are_for_the_papers_number_of_points(banknote):
    half = replace(
        banknote,
        split=replace(banknote.split, test_signs=banknote.split.test_signs[:50]),
        codes=banknote.codes[:50],
        values=banknote.values[:50],
        standardised_values=banknote.standardised_values[:50],
    )
    counts = [figures_of(half)[f"SVM {name}"] for name in ("FP", "TP", "FN", "TN")]
    assert sum(counts) == banknote.split.benchmark.points == 100
    assert all(count % 2 == 0 for count in counts)


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: str(benchmark.number))
def test_class_rows_of_the_paper(benchmark):
    if benchmark.number == 14:
        assert benchmark.class_rows is None
    else:
        assert sum(benchmark.class_rows) == benchmark.rows
        assert math.prod(benchmark.class_rows) == benchmark.pairs


# --- other ways to be cautious --------------------------------------------------------------------------------------


def made(truth, codes, values):
    """A draw of which only the test points count."""
    learning = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    points = np.asarray(values, float)[:, None]
    this = replace(
        split(17, 0, "misclassified"),
        learning_features=learning[0],
        learning_signs=learning[1],
        test_features=points,
        test_signs=np.array(truth),
    )
    return Decided(this, np.array(codes, np.int8), np.asarray(values, float), -np.asarray(values, float), 1, 0.1)


def test_thresholds_keep_the_farthest_and_as_many_as_are_strong():
    drawn = made([1, -1, 1, -1, 1], [0, -1, 1, 0, 0], [5.0, -4.0, 1.0, 3.0, -0.5])
    found = cautious.compare(drawn, conformal=False)
    assert found.equal[cautious.STRONG].tolist() == [0, 1, 0, 1]
    assert found.equal[cautious.RAW].tolist() == [0, 1, 0, 1]  # 5 and -4
    assert found.equal[cautious.STANDARDISED].tolist() == [1, 0, 1, 0]  # the same, turned round
    assert found.curves[cautious.RAW][-1].tolist() == [1, 2, 1, 1]
    assert found.curves[cautious.RAW].sum(axis=1).tolist() == [round(c * 5) for c in cautious.COVERAGES]
    assert found.conformal is None


def test_equal_coverage_is_of_all_draws_together():
    draws = [
        cautious.compare(made([1, 1, 1, 1], [1, 0, 0, 0], [1.0, -2.0, 3.0, -4.0]), conformal=False),
        cautious.compare(made([1, 1, 1, 1], [1, 1, -1, 0], [1.0, 2.0, -3.0, 4.0]), conformal=False),
    ]
    found = cautious.at_equal_coverage(draws)
    assert found[cautious.STRONG]["coverage"] == found[cautious.RAW]["coverage"] == 0.5
    assert found[cautious.STRONG]["accuracy"] == 0.75  # 1 of 1 and 2 of 3
    assert found[cautious.RAW]["accuracy"] == 0.5  # -4 is wrong; of 4, -3, 2 one is
    gain = found[cautious.RAW]["strong accuracy minus this"]
    assert gain["difference"] == 0.25
    assert gain["low"] <= 0.25 <= gain["high"]
    assert (gain["low"], gain["high"]) == (0, 1)  # the draws alone


def test_words_say_where_the_strong_verdicts_are_worse():
    def found(low, high):
        gain = {"difference": (low + high) / 2, "low": low, "high": high}
        return {cautious.RAW: {f"strong {name} minus this": gain for name in ("accuracy", "PPV", "NPV")}}

    equal = {"1": found(-0.3, -0.1), "2": found(-0.2, -0.1), "3": found(0.1, 0.2), "4": found(-0.1, 0.1)}
    equal["5"] = found(-0.1, -0.1)
    row = words.tally(equal)[0]
    assert (row["better"], row["worse"], row["not told apart"]) == (1, 3, 1)
    assert row["mean difference"] == pytest.approx(-6)
    (line,) = words.about_other_ways(words.tally(equal))
    assert "accuracy worse (-6.0 points on average; clearly better on 1 benchmarks, clearly worse on 3)" in line


@pytest.mark.parametrize("number", [4, 17])  # sets of both classes, and empty ones
def test_conformal_sets_are_those_of_the_textbook(number):
    pytest.importorskip("mapie", reason="split-conformal prediction needs MAPIE, the extra benchmarks")
    drawn = decide(split(number, 0, "misclassified"))
    this = drawn.split
    found = cautious.compare(drawn, conformal=True).conformal
    rng = np.random.default_rng([cautious.SEED, number, 0, 1])
    train, calibrate = cautious.halves(this.learning_signs, rng)
    svm = cautious.MarginClassifier().fit(this.learning_features[train], this.learning_signs[train]).svm_
    # how wrong a label is: minus its margin; calibration rows by their own labels, in order
    wrongness = np.sort(-svm.decision_function(this.learning_features[calibrate]) * this.learning_signs[calibrate])
    values = svm.decision_function(this.test_features)
    for level, counts in zip(cautious.LEVELS, found, strict=True):
        n = len(calibrate)
        if n < 1 / (1 - level):
            assert not counts.any()
            continue
        limit = wrongness[math.ceil((n + 1) * level - 1e-9) - 1]
        positive, negative = -values <= limit, values <= limit
        decided = positive ^ negative
        expected = cautious.count(this.test_signs, np.where(positive, 1, -1), decided)
        assert counts.tolist() == expected.tolist()
    assert found.any()


@pytest.mark.parametrize("signs", [[1, -1, -1, -1, -1], [1, 1, 1, -1, -1, -1], [1, -1]])
def test_both_classes_are_trained_on(signs):
    signs = np.array(signs)
    train, calibrate = cautious.halves(signs, np.random.default_rng(1))
    assert sorted([*train, *calibrate]) == list(range(len(signs)))
    assert set(signs[train]) == {1, -1}


# --- the radius -----------------------------------------------------------------------------------------------------


def test_share_curves():
    inf = math.inf
    some = [
        Radii("banknote", np.array([1.0, 2.0]), np.array([1.05, 10.0]), 0, 1.0),
        Radii("banknote", np.array([inf, 50.0]), np.array([inf, inf]), 0, 2.0),
    ]
    found = share_curves(some, 1.1)
    curve = found["data sets"]["banknote"]
    three = int(np.searchsorted(FACTORS, 3))
    assert curve["certified"][0] == 1
    assert (curve["certified"][three], curve["not refuted"][three]) == (0.5, 0.75)
    assert (curve["certified"][-1], curve["not refuted"][-1]) == (0.25, 0.5)
    assert (curve["certified for all rescalings"], curve["not refuted at the largest factor"]) == (0.25, 0.5)
    assert (curve["median certified factor"], curve["narrowed to the wanted ratio"]) == (26, 0.5)
    assert (found["points"], found["seconds per point"]) == (4, 0.75)


@pytest.mark.parametrize("draw", [0, 1])
def test_radii_against_plain_svms(draw):
    """Inside the certified range no corner and no random rescaling changes the label; strong points have no end."""
    this = split(18, draw, "misclassified")
    points, truth = this.test_features[:12], decide(this).codes[:12]
    found = radii(this, 12, 1.2)
    assert found.contradictions == 0
    assert (np.isinf(found.certified) == (abs(truth) == 1)).all()
    assert (found.certified <= found.refuted).all()
    labels = minimal_norm_svm(this.training_set).decision_function(points) >= 0
    finite = np.flatnonzero(np.isfinite(found.certified))
    assert finite.size
    rng = np.random.default_rng(draw)
    for i in finite:
        for share in rng.uniform(-1, 1, (40, 4)):
            rescaling = found.certified[i] ** (np.sign(share) if share[0] > 0 else share)
            value = minimal_norm_svm(this.training_set, rescaling).decision_function(points[i : i + 1])[0]
            assert (value >= 0) == labels[i] or abs(value) < 1e-6


@pytest.mark.parametrize(("points", "draws", "expected"), [(60, 2, 10), (61, 2, 11), (1, 1, 1)])
def test_points_per_split(points, draws, expected):
    assert points_per_split(points, draws) == expected
