"""Which rows an SVM is trained on, with which weights: rules, warnings, and weights against scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rescaleinv import (
    InputError,
    LeftOutWarning,
    RescaleInvariantSVC,
    Verdict,
    is_separable,
)
from rescaleinv.datasets import load
from rescaleinv.estimators.training import consistent_part
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.theory.validation import with_class_weights

INCONSISTENT = [[0.0], [1], [2], [8], [9], [10], [9.5]], [0, 0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("rule", ["misclassified", "fewest", "greedy"])
def test_rows_are_left_out_with_a_warning_that_names_them(rule):
    with pytest.warns(LeftOutWarning, match=r"1 of 7 training rows were left out.*: rows 6;") as caught:
        clf = RescaleInvariantSVC(inconsistent="drop", drop_rule=rule).fit(*INCONSISTENT)
    assert caught[0].message.rows == [6]
    assert caught[0].filename == __file__  # it points at the call
    assert clf.dropped_.tolist() == [6]
    assert clf.training_set_.row_numbers.tolist() == [0, 1, 2, 3, 4, 5]
    assert clf.certify([[5.1]])[0] is Verdict.STRONGLY_POSITIVE
    assert clf.engine_.made.left_out == 1


@pytest.mark.parametrize("rule", ["misclassified", "fewest", "greedy"])
def test_no_class_is_emptied(rule):
    rng = np.random.default_rng(3)
    features, labels = rng.integers(0, 3, (30, 2)), np.r_[1, np.zeros(29, dtype=int)]
    features[0] = 1  # one positive row, amid the others
    with pytest.warns(LeftOutWarning):
        clf = RescaleInvariantSVC(inconsistent="drop", drop_rule=rule).fit(features, labels)
    assert set(clf.training_set_.signs) == {1, -1}
    assert is_separable(clf.training_set_)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 6])
def test_a_row_of_weight_two_is_as_two_rows_where_rows_must_go(seed):
    """Unless a class is down to its last row, which is chosen in another way then."""
    rng = np.random.default_rng(seed)
    features, labels, weights = rng.normal(size=(25, 2)), rng.integers(0, 2, 25), rng.integers(0, 4, 25)
    with pytest.warns(LeftOutWarning):
        weighted = RescaleInvariantSVC(inconsistent="drop").fit(features, labels, sample_weight=weights)
    with pytest.warns(LeftOutWarning):
        repeated = RescaleInvariantSVC(inconsistent="drop").fit(
            features.repeat(weights, axis=0), labels.repeat(weights)
        )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


def test_weights_say_which_rows_go():
    features, labels = INCONSISTENT
    with pytest.warns(LeftOutWarning):
        clf = RescaleInvariantSVC(inconsistent="drop", class_weight={0: 100, 1: 1}).fit(features, labels)
    assert clf.dropped_.tolist() == [3, 4]
    assert clf.predict([[9.2]]).tolist() == [0]


def test_weights_of_a_soft_margin_are_those_of_scikit_learn():
    data = load("pima_diabetes")
    features, labels = StandardScaler().fit_transform(data.features)[:120], data.labels[:120]
    weights = np.random.default_rng(0).uniform(0.1, 3, 120)
    clf = RescaleInvariantSVC(C=0.5, class_weight={1: 3, -1: 0.5}).fit(features, labels, sample_weight=weights)
    theirs = SVC(kernel="linear", C=0.5, tol=1e-9, class_weight={1: 3, -1: 0.5})
    theirs.fit(features, labels, sample_weight=weights)
    np.testing.assert_allclose(clf.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(clf.intercept_, theirs.intercept_, atol=1e-4)


def test_balanced_classes_have_the_same_weight():
    features, labels = load("banknote").features[:, :2], load("banknote").labels
    rows = np.r_[:20, 1000:1100]
    balanced = RescaleInvariantSVC(C=0.1, class_weight="balanced").fit(features[rows], labels[rows])
    by_hand = RescaleInvariantSVC(C=0.1).fit(
        features[rows], labels[rows], sample_weight=np.where(labels[rows] == labels[0], 120 / 40, 120 / 200)
    )
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_)


# --- by themselves --------------------------------------------------------------------------------------------------


def test_weights_of_rows_are_multiplied_by_those_of_their_classes():
    labels, classes = np.array(["b", "a", "b", "b"]), np.array(["a", "b"])
    weights = np.array([1.0, 2, 3, 4])
    assert with_class_weights({"a": 10, "b": 0.5}, labels, classes, weights).tolist() == [0.5, 20, 1.5, 2]
    assert with_class_weights(None, labels, classes, weights).tolist() == weights.tolist()
    balanced = with_class_weights("balanced", labels, classes, weights)
    assert balanced[labels == "a"].sum() == pytest.approx(balanced[labels == "b"].sum())
    assert balanced.sum() == pytest.approx(weights.sum())


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("heavy", "class_weight is 'heavy': "),
        ({"c": 2.0}, r"class_weight is \{'c': 2.0\}"),
        ({"a": 0.0}, r"class_weight is \{'a': 0.0\}; weights must be positive and finite"),
        ({"a": -1.0}, "weights must be positive and finite"),
        ({"a": float("inf")}, "weights must be positive and finite"),
        ({"b": float("nan")}, "the weight of a class must be a number"),
        (7, "class_weight is 7: "),
    ],
)
def test_class_weights_that_are_none(class_weight, message):
    with pytest.raises(InputError, match=message):
        with_class_weights(class_weight, np.array(["a", "b"]), np.array(["a", "b"]), np.ones(2))


def test_a_consistent_set_stays_as_it_is_and_nobody_is_warned():
    whole = TrainingSet([[0.0], [1], [2]], [-1, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = consistent_part(whole, np.ones(3), "misclassified", None, stacklevel=1)
    assert kept.row_numbers.tolist() == [0, 1, 2]


def test_rows_that_go_are_named_by_their_numbers_in_the_data():
    """The set is a part of other data: row 8 of these is its third."""
    data = TrainingSet([[float(i)] for i in range(12)], [-1] * 8 + [1, -1, 1, 1])
    whole = data.subset(np.array([0, 5, 8, 9, 10, 11]))
    with pytest.warns(LeftOutWarning, match="1 of 6 training rows") as caught:
        kept = consistent_part(whole, np.ones(6), "fewest", None, stacklevel=1)
    assert caught[0].message.rows in ([8], [9])
    assert sorted([*kept.row_numbers.tolist(), *caught[0].message.rows]) == [0, 5, 8, 9, 10, 11]
