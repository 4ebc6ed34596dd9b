"""One-vs-one and one-vs-rest: predictions, and sets of classes that no rescaling may leave."""

import itertools

import numpy as np
import pandas as pd
import pytest
from estimator_checks import not_passed
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rescaleinv import (
    InputError,
    LeftOutWarning,
    NotAvailableError,
    RescaleInvariantOneVsOne,
    RescaleInvariantOneVsRest,
    RescaleInvariantSVC,
    Verdict,
    Verdicts,
)

BOTH = [RescaleInvariantOneVsOne, RescaleInvariantOneVsRest]
pytestmark = pytest.mark.filterwarnings("ignore::rescaleinv.LeftOutWarning")


def flowers():
    features, labels = load_iris(return_X_y=True)
    train = np.arange(150) % 5 == 0
    return features[train], labels[train], features[~train], labels[~train]


def wines():
    """Five of the thirteen features, and names for classes: quick to certify."""
    features, labels = load_wine(return_X_y=True)
    train = np.arange(len(labels)) % 6 == 0
    features, labels = features[:, [0, 3, 6, 9, 12]], np.array(["Barolo", "Grignolino", "Barbera"])[labels]
    return features[train], labels[train], features[~train], labels[~train]


@pytest.mark.parametrize("kind", BOTH)
def test_every_check_of_scikit_learn_passes(kind):
    bad, count = not_passed(kind.__name__)
    assert not bad
    assert count > 60


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("data", [flowers, wines])
def test_sets_hold_the_prediction_and_are_right_more_often(kind, data):
    features, labels, points, truth = data()
    clf = kind(RescaleInvariantSVC(inconsistent="drop")).fit(features, labels)
    predicted, sets = clf.predict(points), clf.predict_set(points)
    assert sets.shape == (len(points), 3)
    assert sets.dtype == bool
    numbers = np.searchsorted(clf.classes_, predicted)
    assert sets[np.arange(len(points)), numbers].all()
    certain = sets.sum(axis=1) == 1
    assert 0.3 < certain.mean() < 1
    right = predicted == truth
    assert right.mean() > 0.8
    assert right[certain].mean() >= right.mean()
    assert sets[np.arange(len(points)), np.searchsorted(clf.classes_, truth)].mean() > right.mean()


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("data", [flowers, wines])
def test_no_rescaling_leads_out_of_the_sets(kind, data):
    features, labels, points, _ = data()
    clf = kind(RescaleInvariantSVC(inconsistent="drop")).fit(features, labels)
    # the rule by which rows are left out standardises, so that rescaled data lose the same rows
    sets = clf.predict_set(points)
    rng = np.random.default_rng(0)
    for exponents in rng.integers(-4, 5, (6, features.shape[1])):
        factors = 2.0**exponents
        rescaled = clone(clf).fit(features * factors, labels)
        for ours, theirs in zip(clf.estimators_, rescaled.estimators_, strict=True):
            np.testing.assert_array_equal(ours.dropped_, theirs.dropped_)
        numbers = np.searchsorted(clf.classes_, rescaled.predict(points * factors))
        assert sets[np.arange(len(points)), numbers].all()
        np.testing.assert_array_equal(rescaled.predict_set(points * factors), sets)


def test_the_vote_is_that_of_scikit_learn():
    features, labels, points, _ = wines()
    ours = RescaleInvariantOneVsOne().fit(features, labels)
    theirs = OneVsOneClassifier(RescaleInvariantSVC()).fit(features, labels)
    np.testing.assert_array_equal(ours.predict(points), theirs.predict(points))
    np.testing.assert_allclose(ours.decision_function(points), theirs.decision_function(points))


@pytest.mark.parametrize("kind", BOTH)
def test_two_classes_are_the_binary_estimator(kind):
    features, labels, points, _ = flowers()
    two = labels != 1
    clf = kind().fit(features[two], labels[two])
    binary = RescaleInvariantSVC().fit(features[two], labels[two])
    assert len(clf.estimators_) == 1
    np.testing.assert_array_equal(clf.decision_function(points), binary.decision_function(points))
    np.testing.assert_array_equal(clf.predict(points), binary.predict(points))
    np.testing.assert_array_equal(clf.predict_set(points), binary.predict_set(points))


# --- sets from verdicts ---------------------------------------------------------------------------------------------


class Told:
    """Stands for a binary estimator whose verdicts are known."""

    def __init__(self, code, lower=np.nan, upper=np.nan):
        self.code, self.lower, self.upper = code, lower, upper

    def certify(self, features):
        code, lower, upper = np.array([[self.code], [self.lower], [self.upper]])
        nothing = np.array([""], dtype=object)
        return Verdicts(code.astype(np.int8), lower, upper, nothing, nothing, np.asarray(features, dtype=float), None)


def sets_of(kind, told, n_classes=3):
    clf = kind()
    clf.classes_, clf.n_features_in_, clf.estimators_ = np.arange(n_classes), 1, told
    return "".join("abcd"[k] for k in np.flatnonzero(clf.predict_set([[0.0]])[0]))


# of the pairs a-b, a-c, b-c: + is for the later class
@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((-1, -1, -1), "a"),
        ((-1, -1, 0), "a"),
        ((1, 1, 1), "c"),
        ((0, -1, -1), "ab"),
        ((0, 0, 0), "abc"),
        ((2, 2, 2), "abc"),  # unknown
        ((0, 1, 1), "c"),
        ((-1, 1, -1), "abc"),  # a beats b, b beats c, c beats a: a tie under every rescaling
        ((-1, 0, 0), "abc"),  # b wins the tie if c beats a and b beats c
    ],
)
def test_votes_that_are_certain_exclude_classes(verdicts, expected):
    assert sets_of(RescaleInvariantOneVsOne, [Told(code) for code in verdicts]) == expected


def test_a_set_of_votes_holds_every_class_that_may_win():
    """All verdicts of four classes, against all ways in which the undecided pairs may go."""
    pairs = list(itertools.combinations(range(4), 2))
    rng = np.random.default_rng(0)
    for verdicts in rng.permutation(list(itertools.product([-1, 0, 1], repeat=6)))[:120]:
        winners = set()
        for outcome in itertools.product([-1, 1], repeat=6):
            if all(code in (0, side) for code, side in zip(verdicts, outcome, strict=True)):
                votes = np.bincount([pair[side > 0] for pair, side in zip(pairs, outcome, strict=True)], minlength=4)
                winners.update(np.flatnonzero(votes == votes.max()))
        found = sets_of(RescaleInvariantOneVsOne, [Told(code) for code in verdicts], 4)
        assert {"abcd"[k] for k in winners} <= set(found)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([Told(1), Told(-1), Told(-1)], "a"),
        ([Told(1), Told(0), Told(-1)], "ab"),
        ([Told(-1), Told(-1), Told(-1)], "abc"),  # nobody's point: the least negative value is predicted
        ([Told(0), Told(-1), Told(-1)], "abc"),  # a may be more negative than the others
        ([Told(2), Told(2), Told(1)], "abc"),
        ([Told(1), Told(1), Told(-1)], "ab"),
        ([Told(-1, -5, -4), Told(-1, -3, -1), Told(-1, -2, -0.5)], "bc"),
        ([Told(1, 1, 2), Told(0, -1, 0.5), Told(0, -1, 1)], "ac"),  # 1 is not more than 1
        ([Told(1, 1, 2), Told(0, -1, 0.5), Told(0)], "ac"),
    ],
)
def test_decision_values_that_are_always_larger_exclude_classes(told, expected):
    assert sets_of(RescaleInvariantOneVsRest, told) == expected


# --- in the company of others ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_in_pipelines_with_names_and_parameters_of_the_binary_estimator(kind):
    features, labels, points, truth = wines()
    names = list("vwxyz")
    frame, other = pd.DataFrame(features, columns=names), pd.DataFrame(points, columns=names)
    pipeline = make_pipeline(StandardScaler(), kind(RescaleInvariantSVC(C=1.0))).fit(frame, labels)
    assert pipeline.score(other, truth) > 0.85
    assert cross_val_score(pipeline, other, truth, cv=3).min() > 0.85
    assert pipeline.get_params()[f"{kind.__name__.lower()}__estimator__C"] == 1
    alone = kind(RescaleInvariantSVC(C=1.0)).fit(frame, labels)
    assert alone.feature_names_in_.tolist() == names
    with pytest.raises(InputError, match="feature names should match"):
        alone.predict(other[names[::-1]])
    with pytest.raises(NotAvailableError, match="C is finite, and scale_range is None"):
        alone.predict_set(other)


@pytest.mark.parametrize("kind", BOTH)
def test_rows_without_weight_are_not_there(kind):
    features, labels, points, _ = flowers()
    weights = (labels != 1).astype(float)
    clf = kind().fit(features, labels, sample_weight=weights)
    assert clf.classes_.tolist() == [0, 2]
    assert set(clf.predict(points)) == {0, 2}


@pytest.mark.parametrize("kind", BOTH)
def test_one_class_is_refused(kind):
    with pytest.raises(InputError, match="the training set has one class"):
        kind().fit([[1], [2]], [7, 7])


@pytest.mark.parametrize("kind", BOTH)
def test_rows_that_are_left_out_have_their_numbers_in_the_data(kind):
    features = np.array([[0.0], [1], [2], [10], [11], [12], [20], [21], [22], [11.5]])
    labels = np.array(list("aaabbbccca"))
    with pytest.warns(LeftOutWarning) as caught:
        clf = kind(RescaleInvariantSVC(inconsistent="drop")).fit(features, labels)
    assert any(9 in warning.message.rows for warning in caught)
    assert 9 in clf.estimators_[0].dropped_


def test_parameters_by_label_and_by_name_reach_the_pairs():
    features, labels, _, _ = wines()
    frame = pd.DataFrame(features, columns=list("vwxyz"))
    weights = {"Barolo": 5, "Barbera": 1, "Grignolino": 2}
    binary = RescaleInvariantSVC(C=0.01, class_weight=weights, scale_range=dict.fromkeys("vwxyz", 2))
    clf = RescaleInvariantOneVsOne(binary).fit(frame, labels)
    assert [estimator.classes_.tolist() for estimator in clf.estimators_] == [
        ["Barbera", "Barolo"],
        ["Barbera", "Grignolino"],
        ["Barolo", "Grignolino"],
    ]
    two = labels != "Grignolino"
    alone = RescaleInvariantSVC(C=0.01, class_weight=weights).fit(features[two], labels[two])
    np.testing.assert_allclose(clf.estimators_[0].coef_, alone.coef_, rtol=1e-6)


def test_sets_are_of_verdicts_and_never_of_guesses():
    """Points that are UNKNOWN keep the classes that they may have."""
    features, labels, points, _ = flowers()
    clf = RescaleInvariantOneVsOne(RescaleInvariantSVC(engine="complex", max_vertices=1)).fit(features, labels)
    unknown = [estimator.certify(points).unknown for estimator in clf.estimators_]
    everywhere = np.logical_and.reduce(unknown)
    assert everywhere.any()
    assert clf.predict_set(points)[everywhere].all()
    assert Verdict.UNKNOWN in list(clf.estimators_[0].certify(points))
