"""Ambiguity, discrepancy and conflict ratio: against plain SVMs, and never beyond what verdicts allow."""

import math

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from rescaleinv import RescaleInvariantSVC, minimal_norm_svm, multiplicity, strong_report
from rescaleinv.audit.multiplicities import usual_factors
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.metrics import MultiplicityFigures
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdicts

X, Y, _ = load("breast_cancer_wisconsin")
X = X[:, :4]
TRAIN, TEST = slice(0, 25), slice(25, 85)
pytestmark = pytest.mark.filterwarnings("ignore::rescaleinv.errors.LeftOutWarning")


@pytest.fixture(scope="module")
def model():
    return RescaleInvariantSVC(inconsistent="drop").fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def found(model):
    return multiplicity(model, X[TEST], groups_by=["even", "odd"] * 30, n_rescalings=120)


def test_ambiguity_is_the_neutral_share(model, found):
    verdicts = model.certify(X[TEST])
    assert found.figures.ambiguity == verdicts.neutral.mean() == verdicts.ambiguity[0]
    assert found.figures.ambiguity_at_most == verdicts.ambiguity[1]


def test_the_rescaling_that_was_found_changes_so_many_labels(model, found):
    """A plain SVM trained at that rescaling, beside the plain SVM as given."""
    rows = model.training_set_
    labels = [
        np.sign(
            minimal_norm_svm(TrainingSet(rows.features * tau, rows.signs, positive=1)).decision_function(X[TEST] * tau)
        )
        for tau in (np.ones(4), found.rescaling)
    ]
    assert (labels[0] != labels[1]).mean() == found.figures.discrepancy == found.changed.mean()
    assert 0 < found.figures.discrepancy <= found.figures.discrepancy_at_most


def test_no_rescaling_of_many_exceeds_the_bound(model, found):
    rng = np.random.default_rng(1)
    rows, given = model.training_set_, model.predict(X[TEST])
    for _ in range(30):
        svm = minimal_norm_svm(rows, 2.0 ** rng.uniform(-6, 6, 4))
        other = np.where(svm.decision_function(X[TEST]) >= 0, 1, -1)
        assert (other != given).mean() <= found.figures.discrepancy_at_most


def test_conflict_ratio_is_over_the_usual_scalers(model, found):
    rows = model.training_set_
    labels = [model.predict(X[TEST])]
    for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler()):
        scaler.fit(rows.features)
        svm = minimal_norm_svm(TrainingSet(scaler.transform(rows.features), rows.signs, positive=1))
        labels.append(np.where(svm.decision_function(scaler.transform(X[TEST])) >= 0, 1, -1))
    assert found.figures.conflict_ratio == (np.ptp(labels, axis=0) > 0).mean()


def test_usual_factors_are_those_of_scikit_learn():
    for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler()):
        scaled = scaler.fit_transform(X[:50])
        factors = usual_factors(X[:50])[type(scaler).__name__]
        np.testing.assert_allclose(np.ptp(scaled, axis=0), np.ptp(X[:50], axis=0) * factors, rtol=1e-12)


def test_groups_add_up(found):
    parts = found.groups
    assert set(parts) == {"even", "odd"}
    assert sum(one.points for one in parts.values()) == found.figures.points
    weighted = sum(one.ambiguity * one.points for one in parts.values()) / found.figures.points
    assert weighted == pytest.approx(found.figures.ambiguity)
    # each group may have a worse rescaling of its own
    assert sum(one.discrepancy * one.points for one in parts.values()) >= found.figures.discrepancy * 60 - 1e-9
    assert found.to_frame().index.tolist() == ["all", "even", "odd"]
    assert str(found).count("\n") == 2


def test_limited_ranges_and_soft_margins(model):
    points = X[TEST][:12]
    for options in ({"scale_range": 1.5}, {"C": 1.0, "scale_range": 1.5}, {"nu": 0.5}):
        soft = RescaleInvariantSVC(inconsistent="drop", **options).fit(X[TRAIN], Y[TRAIN])
        # whatever an engine can say of ν: nothing is known, so that the bound is 1
        verdicts = Verdicts.all_unknown(points, "not asked", None) if "nu" in options else None
        part = multiplicity(soft, points, verdicts=verdicts, n_rescalings=20)
        if "scale_range" in options:
            assert (part.rescaling >= 1 / 1.5 - 1e-12).all()
            assert (part.rescaling <= 1.5 + 1e-12).all()
        assert part.figures.discrepancy <= part.figures.discrepancy_at_most


def test_refused_in_one_line(model):
    with pytest.raises(InputError, match="RescaleInvariantSVC is needed"):
        multiplicity(3, X[TEST])
    with pytest.raises(InputError, match="groups_by has 2"):
        multiplicity(model, X[TEST], groups_by=["a", "b"])
    with pytest.raises(InputError, match="verdicts for 60 points"):
        multiplicity(model, X[TEST], verdicts=model.certify(X[:3]))


def test_in_the_report_and_the_summary(model, found):
    verdicts, labels = model.certify(X[TEST]), model.predict(X[TEST])
    groups = ["even", "odd"] * 30
    report = strong_report(Y[TEST], verdicts, labels, groups_by=groups, scalings={"flipped": -labels})
    assert report.multiplicity.discrepancy == 1.0  # every label of that made-up scaling is another
    assert report.multiplicity.conflict_ratio == 1.0
    assert report.groups["odd"].multiplicity.ambiguity == found.groups["odd"].ambiguity
    assert report.groups["odd"].strong.neutral == verdicts[np.arange(1, 60, 2)].neutral.sum()
    assert "ambiguity" in str(report)
    assert "odd: 30 point(s)" in str(report)
    plain = strong_report(Y[TEST], verdicts, labels)
    assert "ambiguity" not in str(plain)  # the table says it already
    assert math.isnan(plain.multiplicity.discrepancy)
    lines = verdicts.summary(groups_by=groups).splitlines()
    assert lines[0] == verdicts.summary()
    assert lines[1].startswith(f"ambiguity {verdicts.neutral.mean():.0%}")
    assert [line.split(":")[0] for line in lines[2:]] == ["even", "odd"]
    with pytest.raises(InputError, match="groups_by has 1"):
        verdicts.summary(groups_by=["a"])


def test_unknown_points_widen_the_bounds():
    figures = MultiplicityFigures.of([1, 0, 2, 2], [1, 1, 1, 1], [[1, -1, 1, 1], [1, 1, 0, -1]])
    assert (figures.ambiguity, figures.ambiguity_at_most) == (0.25, 0.75)
    assert (figures.discrepancy, figures.discrepancy_at_most) == (0.25, 0.75)
    assert figures.conflict_ratio == 0.5
    assert "up to 75.0%" in str(figures)
