"""The ν-SVM by Wolfe's method in rationals: optimal by its own conditions, and the same as a float solver's."""

from fractions import Fraction

import attack_sets
import numpy as np
import pytest

from rescaleinv.errors import InseparableError
from rescaleinv.theory.exact_nu import ExactNuClassifier
from rescaleinv.theory.nearest_points import nearest_points
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.theory.training_set import TrainingSet


def classifier(training_set, margin, squared):
    found = nearest_points(training_set, margin.exact_caps, squared, 1000)
    multipliers = {i: a for i, a in enumerate(found) if a}
    return ExactNuClassifier(training_set, margin, multipliers, [1 / t for t in squared])


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_nu_svm_of_a_float_solver(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(6, 40))
    rows = np.round(rng.normal(size=(m, n)), 1 + seed % 2)  # ties of rows and of scores
    training_set = TrainingSet(rows, np.where(rows[:, 0] + rng.normal(size=m) + 0.1 * np.arange(m) % 2 > 0.4, 1, -1))
    margin = NuMargin.like_penalty(training_set, row_weights=rng.choice([1, 2], m) if seed % 2 else None)
    squared = [Fraction(int(t), 4) for t in rng.integers(1, 9, n)]
    exact = classifier(training_set, margin, squared)
    assert exact.is_optimal
    plain = nu_svm(training_set, margin, np.sqrt([float(t) for t in squared]))
    ours = np.array([float(w) for w in exact.weights])
    np.testing.assert_allclose(ours / np.abs(ours).max(), plain.weights / np.abs(plain.weights).max(), atol=1e-7)


@pytest.mark.parametrize("kind", sorted(attack_sets.KINDS))
def test_awkward_values(kind):
    n_found = 0
    for seed in range(500, 512):
        found = attack_sets.drawn(kind, seed, separable=False)
        if found is None:
            continue
        training_set, _ = found
        try:
            margin = attack_sets.nu_margin(np.random.default_rng(seed), training_set)
        except (InseparableError, ValueError):
            continue
        assert classifier(training_set, margin, [Fraction(1)] * training_set.n_features).is_optimal
        n_found += 1
    assert n_found


def test_it_stops_after_so_many_steps():
    training_set = TrainingSet([[0.0, 0], [0, 2], [3, 1], [4, 9]], [-1, -1, 1, 1])
    caps = NuMargin.of(training_set, 0.5).exact_caps
    assert nearest_points(training_set, caps, [Fraction(1)] * 2, 1) is None
    assert nearest_points(training_set, caps, [Fraction(1)] * 2, 20) is not None
