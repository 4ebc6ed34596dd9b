"""The audit as a whole: degenerate tables, what is not known, and arguments that can't be."""

import numpy as np
import pytest
from estimator_checks import not_passed
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rescaleinv import RescaleInvariantSVC, scaling_audit
from rescaleinv.audit.report import render_report
from rescaleinv.datasets import load
from rescaleinv.errors import InputError

PAPER = ([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


@pytest.mark.parametrize(
    ("rows", "labels", "points"),
    [
        ([[0, 7], [1, 7]], ["a", "b"], [[0.5, 7], [0.5, 1e6]]),  # a constant feature
        ([[0, 0], [1, 2], [2, 4], [3, 6]], [0, 0, 1, 1], [[1.5, 3], [0, 9]]),  # proportional features
        ([[0, 0, 1], [0, 0, 1], [5, 5, 1], [5, 5, 1], [4, 4, 1]], [0, 0, 1, 1, 1], [[2, 2, 2]]),  # copies
        ([[3, 1], [0, 0], [0, 2], [1, 5]], [1, 0, 0, 0], [[0, 0], [3, 1], [1.5, 0.5]]),  # one positive row
    ],
)
def test_degenerate_tables(rows, labels, points):
    audit = scaling_audit(rows, labels, points)
    assert audit.consistency.holds
    assert audit.findings
    assert len(audit.to_frame()) == len(points)
    for i in np.flatnonzero(audit.verdicts.neutral):
        positive, negative = audit.two_rescalings(int(i))
        assert positive.value >= 0 > negative.value


def test_truth_that_is_not_known_is_left_out(tumours):
    features, labels = tumours[0].iloc[:, :2], tumours[1]
    truth = [None if i % 2 else label for i, label in enumerate(labels[30:50].tolist())]
    audit = scaling_audit(
        features[:30],
        labels[:30],
        features[30:50],
        truth,
        scalings={},
        estimator=RescaleInvariantSVC(inconsistent="drop"),
        class_names=("bad", "good"),
        most_radii=0,
    )
    assert audit.report.svm.tp + audit.report.svm.fp + audit.report.svm.tn + audit.report.svm.fn == 10
    assert set(audit.truth[::2]) == {"good", "bad"}
    assert set(audit.truth[1::2]) == {None}
    assert audit.to_frame()["point"].tolist() == [str(i) for i in range(30, 50)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scalings": [StandardScaler()]}, "a mapping from names"),
        ({"scalings": {"x": 3}}, "'x' is not a transformer"),
        ({"estimator": RescaleInvariantSVC(C=1.0, nu=0.5)}, "two soft margins"),
        ({"estimator": RescaleInvariantSVC(scale_range=2)}, "all rescalings"),
        ({"estimator": RescaleInvariantSVC(groups=[0, 0])}, "groups=None is needed"),
        ({"estimator": SVC()}, "a RescaleInvariantSVC is needed"),
        ({"class_names": ("a", "a")}, "two different names"),
        ({"y_test": [1]}, "1 labels for 2 points"),
        ({"y_test": [1, 7]}, "7 at point 1; the classes are -1 and 1"),
        ({"kappa": 1}, "a finite factor above 1"),
        ({"most_radii": -1}, "a whole number of at least 0"),
        ({"X_test": np.empty((0, 2))}, "X_test"),
        ({"X_test": [[1, 2, 3]]}, "feature"),
    ],
)
def test_wrong_arguments_are_said(options, message):
    arguments = {"X_train": PAPER[0], "y_train": PAPER[1], "X_test": [[0, 1], [2, 3]], **options}
    with pytest.raises(InputError, match=message):
        scaling_audit(**arguments)


def test_scikit_learns_checks_of_the_two_transformers():
    bad, count = not_passed("scaling.PositiveLogarithm", "scaling.FisherScaler")
    assert not bad
    assert count > 80


@pytest.mark.parametrize("engine", ["complex", "milp"])
def test_verdicts_without_features_are_asked_for_where_they_are_cheap(monkeypatch, engine):
    monkeypatch.setattr("rescaleinv.audit.audit._MOST_VERTICES", 1)
    audit = scaling_audit(*PAPER, [[-1, 4], [4, 4]], estimator=RescaleInvariantSVC(engine=engine), scalings={})
    assert audit.features["note"].tolist() == ["not asked", "not asked"]
    assert "without" in audit.notes[0]
    assert audit.notes[0] in str(audit)
    assert audit.verdicts.code.tolist() == [0, 1]


# --- units that are off by a limited factor -------------------------------------------------------------------------


def test_groups_and_causes():
    features, labels, _ = load("breast_cancer_wisconsin")
    groups = ["a", "b"] * 10
    audit = scaling_audit(
        features[:20, :3], labels[:20], features[20:40, :3], most_radii=0, groups_by=groups, causes=True
    )
    assert list(audit.multiplicity) == ["all", "a", "b"]
    whole = audit.multiplicity["all"]
    assert whole.ambiguity == audit.verdicts.neutral.mean()
    assert whole.discrepancy <= whole.discrepancy_at_most
    usual = audit.signs[[one.kind == "diagonal" and one.values is not None for one in audit.scalings]]
    assert whole.conflict_ratio == ((usual > 0).any(axis=0) & (usual < 0).any(axis=0)).mean()
    assert len(audit.diagnosis.pairs) == 10
    assert any("By group" in finding.text for finding in audit.findings)
    page = render_report(audit)
    assert '<section id="groups">' in page
    assert '<section id="causes">' in page
    assert all(pair.sentences()[0].split(":")[0] in page for pair in audit.diagnosis.pairs if pair.n_changed)
    with pytest.raises(InputError, match="groups_by has 2"):
        scaling_audit(features[:20, :3], labels[:20], features[20:40, :3], groups_by=["a", "b"])
