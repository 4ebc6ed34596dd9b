"""The soft-margin SVM against libsvm, against its own optimality, and where its intercept is not unique."""

import numpy as np
import pytest
from sklearn.svm import SVC

from rescaleinv import InputError, TrainingSet, minimal_norm_svm
from rescaleinv.datasets import load
from rescaleinv.theory.soft_margin import soft_margin_svm, standardised_margins


def draw(name, n_rows=80):
    data = load(name)
    rows = np.random.default_rng(1).permutation(len(data.labels))[:n_rows]
    return data.features[rows], data.labels[rows]


def cost(svm, training_set, C, row_weights=1.0):
    margins = training_set.signs * (training_set.features @ svm.weights + svm.intercept)
    return svm.weights @ svm.weights / 2 + C * (row_weights * np.maximum(0, 1 - margins)).sum()


@pytest.mark.parametrize("name", ["banknote", "pima_diabetes", "breast_cancer_wisconsin"])
@pytest.mark.parametrize("C", [1e-4, 0.1, 10])
def test_it_is_that_of_libsvm(name, C):
    features, labels = draw(name)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    svm = soft_margin_svm(TrainingSet(features, labels), C)
    theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(features, labels)
    np.testing.assert_allclose(svm.weights, theirs.coef_[0], atol=1e-5)
    np.testing.assert_allclose(svm.intercept, theirs.intercept_[0], atol=1e-5)


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_nothing_near_it_costs_less_with_raw_units(C):
    """Features from 0.1 to 800, on which libsvm would take minutes."""
    training_set = TrainingSet(*draw("pima_diabetes"))
    svm = soft_margin_svm(training_set, C)
    least = cost(svm, training_set, C)
    rng = np.random.default_rng(0)
    spread = np.ptp(training_set.features, axis=0)
    for _ in range(200):
        step = rng.normal(size=training_set.n_features) * 10.0 ** rng.uniform(-6, 0) / spread
        turn = -step @ training_set.features.mean(axis=0)
        other = type(svm)(svm.weights + step, svm.intercept + turn, 0.0)
        assert cost(other, training_set, C) >= least * (1 - 1e-9)


def test_a_common_unit_is_a_change_of_C():
    features, labels = draw("banknote")
    plain = soft_margin_svm(TrainingSet(features, labels), 2.0)
    shrunk = soft_margin_svm(TrainingSet(features / 1024, labels), 2.0 * 1024**2)
    np.testing.assert_allclose(shrunk.weights, plain.weights * 1024, rtol=1e-9)
    assert shrunk.intercept == pytest.approx(plain.intercept, rel=1e-9)


def test_large_offsets_do_no_harm():
    features, labels = draw("banknote")
    features = features.round(3) * 1024
    plain = soft_margin_svm(TrainingSet(features, labels), 1.0)
    training_set = TrainingSet(features.round() + 2.0**40, labels)
    near = soft_margin_svm(TrainingSet(features.round(), labels), 1.0)
    far = soft_margin_svm(training_set, 1.0)
    assert not np.array_equal(near.weights, plain.weights)
    np.testing.assert_allclose(far.weights, near.weights, rtol=1e-9)
    assert (training_set.conditioning.anchor > 2.0**39).all()
    at_anchor = near.weights @ features.round().min(axis=0) + near.intercept
    assert far.value_at_anchor == pytest.approx(at_anchor, rel=1e-6)


@pytest.mark.parametrize(
    ("labels", "weights", "intercept"),
    [([-1, 1], None, 0), ([-1, -1, 1, 1], None, 0), ([-1, -1, 1], None, -1), ([-1, 1], [1, 3], 1)],
)
def test_the_intercept_of_points_that_are_all_the_same(labels, weights, intercept):
    """w = 0, and b anything between -1 and 1 if the classes weigh the same: the middle; else the heavier class's."""
    svm = soft_margin_svm(TrainingSet([[2.0, 3.0]] * len(labels), labels), 1.0, weights)
    assert svm.weights.tolist() == [0, 0]
    assert svm.intercept == intercept


def test_where_the_best_intercept_is_not_unique_it_is_the_middle():
    """A small C: all rows are inside the margin, and as many are on each side."""
    training_set = TrainingSet([[0.0], [1], [4], [5]], [-1, -1, 1, 1])
    svm = soft_margin_svm(training_set, 0.01)
    assert svm.weights[0] == pytest.approx(0.08)
    costs = [cost(type(svm)(svm.weights, svm.intercept + step, 0.0), training_set, 0.01) for step in (-0.5, 0, 0.5)]
    assert max(costs) - min(costs) < 1e-9
    # b from -1 - 0·w (the lowest negative row gets tight) … both ends as far from it
    low, high = max(-1 - 0.08 * np.array([0, 1])), min(1 - 0.08 * np.array([4, 5]))
    assert svm.intercept == pytest.approx((low + high) / 2)


def test_a_penalty_beyond_floats_is_refused():
    with pytest.raises(InputError, match="is beyond what a float can hold"):
        soft_margin_svm(TrainingSet([[0.0], [1e100], [0.5e100]], [-1, -1, 1]), 1e200)


@pytest.mark.parametrize("power", [0, 20, 40, 100])
def test_a_large_penalty_gives_the_hard_margin(power):
    """The norm of w is then too small a share of the objective for the solver to see."""
    features, labels, _ = load("breast_cancer_wisconsin")
    training_set = TrainingSet(features[:40] * 2.0**power, labels[:40])
    hard = minimal_norm_svm(training_set)
    for penalty in (1e6, 1e12):
        soft = soft_margin_svm(training_set, penalty)
        np.testing.assert_allclose(soft.weights, hard.weights, rtol=1e-9)
        np.testing.assert_allclose(soft.value_at_anchor, hard.value_at_anchor, rtol=1e-9)


def test_a_penalty_that_cuts_multipliers_off_is_no_hard_margin():
    training_set = TrainingSet([[0.0], [1], [100], [200]], [-1, 1, 1, 1])
    hard = minimal_norm_svm(training_set)
    soft = soft_margin_svm(training_set, 1.0)  # the penalty is large for the range, but below the multipliers
    assert hard.multipliers.max() > 1
    assert abs(soft.weights[0]) < abs(hard.weights[0])


def test_margins_are_rounded_so_that_a_row_on_the_hyperplane_has_the_margin_zero():
    """w = 0 is the best: every row's margin is y·b with b = -1, exactly, whatever the solver's rounding."""
    features = [[0.0], [1], [2], [3], [1], [2]]
    labels = [-1, -1, -1, -1, 1, 1]
    assert standardised_margins(TrainingSet(features, labels), np.ones(6)).tolist() == [1, 1, 1, 1, -1, -1]
