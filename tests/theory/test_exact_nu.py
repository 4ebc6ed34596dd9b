"""The exact ν-SVM against Clarabel, its optimality conditions, and the interval of best intercepts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks import nu_samples
from rescaleinv import TrainingSet
from rescaleinv.theory.exact_nu import exact_nu_svm_at, margin_object
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu


def overlapping(seed, m=30, n=3, integers=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(m, n)).astype(float) if integers else rng.normal(size=(m, n))
    score = X @ rng.normal(size=n)
    return TrainingSet(X, np.where(score + rng.normal(size=m) * score.std() > np.median(score), 1, -1))


def margin_between(training_set, share, weights=None):
    least, largest = least_nu(training_set, weights), float(largest_nu(training_set, weights))
    return NuMargin.of(training_set, least + share * (largest - least), weights)


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_nu_svm_at_the_rescaling(seed, integers):
    training_set = overlapping(seed, n=1 + seed, integers=integers)
    weights = 1.0 + np.arange(training_set.n_rows) % 2 if seed == 2 else None
    margin = margin_between(training_set, 0.3, weights)
    rng = np.random.default_rng(seed)
    for spread in (0, 1):
        tau = np.exp(spread * rng.normal(size=training_set.n_features))
        exact = exact_nu_svm_at(training_set, margin, tau, bits=53)
        assert exact.is_optimal
        w, low, high = nu_samples.nu_svm(training_set.features, training_set.signs, margin.caps, tau)
        point = rng.normal(size=training_set.n_features)
        values = exact.decision_values([Fraction(x) for x in point.tolist()])
        rho = float(sum(threshold[0] for threshold in exact.thresholds.values())) / 2
        assert np.allclose([float(w) / rho for w in exact.weights], w, atol=1e-4 * np.abs(w).max())
        assert np.allclose([float(value) / rho for value in values], [point @ w + low, point @ w + high], atol=1e-3)


def test_the_best_intercept_is_an_interval_where_every_multiplier_is_at_a_bound():
    training_set = TrainingSet([[0.0], [1], [2], [4], [5], [6]], [-1, -1, -1, 1, 1, 1])
    exact = exact_nu_svm_at(training_set, NuMargin.of(training_set, Fraction(2, 3)), [1])
    # two rows of each class at their caps: means 1.5 and 4.5; thresholds may lie between the second and the third row
    low, high = exact.decision_values([Fraction(3)])
    assert low < 0 < high
    assert exact.side_of([Fraction(3)]) == 0
    assert exact.side_of([Fraction(9)]) == 1
    assert exact.side_of([Fraction(-9)]) == -1


def test_with_the_largest_nu_the_intercept_has_no_bound():
    training_set = TrainingSet([[0.0], [1], [4], [5]], [-1, -1, 1, 1])
    exact = exact_nu_svm_at(training_set, NuMargin.of(training_set, 1), [1])
    assert exact.decision_values([Fraction(9)]) == (None, None)
    assert exact.side_of([Fraction(9)]) == 0
    unlike = TrainingSet([[0.0], [1], [-1], [4], [5]], [-1, -1, -1, 1, 1])
    exact = exact_nu_svm_at(unlike, NuMargin.of(unlike, largest_nu(unlike)), [1])
    least, largest = exact.decision_values([Fraction(0)])
    assert least is None
    assert largest < 0
    assert exact.side_of([Fraction(0)]) == -1
    assert exact.side_of([Fraction(9)]) == 0


@pytest.mark.parametrize("change", ["bound", "half", "crossing", "nothing"])
def test_what_is_not_optimal_is_noticed(change):
    training_set = overlapping(1)
    margin = margin_between(training_set, 0.3)
    exact = exact_nu_svm_at(training_set, margin, [1, 1, 1])
    y, caps, a = training_set.signs, margin.exact_caps, dict(exact.multipliers)
    capped = next(i for i in a if y[i] > 0 and a[i] == caps[i])
    free = next(i for i in range(training_set.n_rows) if y[i] > 0 and i not in a)
    if change == "bound":
        a[capped] += Fraction(1, 1000)
    elif change == "half":
        a[capped] -= Fraction(1, 1000)
    elif change == "crossing":
        a[free] = a.pop(capped)
    assert replace(exact, multipliers=a).is_optimal == (change == "nothing")


def test_row_weights_are_stated_where_they_differ():
    training_set = overlapping(0)
    assert margin_object(margin_between(training_set, 0.5))["row_weights"] is None
    weights = np.ones(training_set.n_rows)
    weights[3] = 2.5
    stated = margin_object(margin_between(training_set, 0.5, weights))
    assert stated["row_weights"][2:5] == ["1", "5/2", "1"]
