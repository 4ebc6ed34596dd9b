"""Whether rescaling makes any difference to a ν-SVM: against ν-SVMs at sampled rescalings."""

from fractions import Fraction

import numpy as np
import pytest

from rescaleinv import RescaleInvariantSVC, TrainingSet, check_invariance
from rescaleinv.theory.nu_invariance import nu_svm_is_invariant
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu, nu_svm


def directions(training_set, margin, seed=0):
    rng = np.random.default_rng(seed)
    found = [nu_svm(training_set, margin, np.exp(rng.normal(size=training_set.n_features))).weights for _ in range(12)]
    return np.array([w / np.abs(w).max() for w in found])


def between(training_set, share):
    least, largest = least_nu(training_set), float(largest_nu(training_set))
    # a short fraction: a float beside it would break ties by an amount that samples can't see
    return NuMargin.of(training_set, Fraction(least + share * (largest - least)).limit_denominator(60))


@pytest.mark.parametrize("seed", range(24))
def test_the_answer_is_that_of_sampled_rescalings(seed):
    """Small grids with many ties, where both answers occur."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    rows = rng.integers(0, 3, (10, n)).astype(float)
    labels = np.where(rows[:, 0] + rng.integers(0, 2, 10) > 1, 1, -1)
    labels[:2] = 1, -1
    training_set = TrainingSet(rows, labels)
    if least_nu(training_set) >= 0.999 * float(largest_nu(training_set)):
        pytest.skip("no hyperplane at all")
    margin = between(training_set, 0.5)
    invariant, _ = nu_svm_is_invariant(training_set, margin)
    assert invariant == bool(np.ptp(directions(training_set, margin), axis=0).max() < 1e-4)


def test_both_answers_occur():
    assert check_invariance(*made(one_feature=True)).invariant
    found = check_invariance(*made(one_feature=False))
    assert not found.invariant
    assert found.weights is None


def made(one_feature):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(30, 1 if one_feature else 3))
    training_set = TrainingSet(rows, np.where(rows[:, 0] + rng.normal(size=30) > 0, 1, -1))
    return training_set, between(training_set, 0.3)


def test_features_that_are_mirror_images_of_each_other():
    rows = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [3, 2], [2, 3], [1, 1], [1, 1]], dtype=float)
    labels = np.array([-1, -1, -1, 1, 1, 1, 1, -1])
    training_set = TrainingSet(rows, labels)
    margin = between(training_set, 0.5)
    invariant, _ = nu_svm_is_invariant(training_set, margin)
    assert invariant == bool(np.ptp(directions(training_set, margin), axis=0).max() < 1e-4)


def test_the_estimator_says_it():
    rows = [[0.0], [2], [1], [3]]
    assert RescaleInvariantSVC(nu=0.9).fit(rows, [0, 0, 1, 1]).is_invariant_
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(30, 3))
    labels = np.where(wide.sum(axis=1) + rng.normal(size=30) > 0, 1, 0)
    assert not RescaleInvariantSVC(nu="auto").fit(wide, labels).is_invariant_
