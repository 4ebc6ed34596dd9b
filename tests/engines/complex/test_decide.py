"""Points whose decision values are near zero or overflow, against brute force."""

from fractions import Fraction

import brute_force
import numpy as np
import pytest

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict


def test_a_point_whose_value_is_an_intercept_that_cancels_to_zero():
    rows = [[-3e-05, 0.0], [0.0, 0.0], [-6e-05, 0.1], [0.0, 0.1]]
    verdicts = ComplexEngine(TrainingSet(rows, [-1, -1, 1, -1])).certify([[-6e-05, 0.0]])
    assert verdicts[0] is Verdict.STRONGLY_POSITIVE
    assert verdicts.lower[0] == 0


def test_rows_that_are_nearly_tied_by_noise():
    rows = [
        [2.000000017310472, 5.234049667163691e-09, -2.0000000014180666],
        [-3.5248467955213163e-09, 0.9999999966463082, -1.0000000050951405],
        [1.999999992436146, 1.0000000058932876, 1.9999999973165432],
        [-1.7221408860779845e-08, 0.9999999843721527, -1.9999999963337192],
    ]
    training_set = TrainingSet(rows, [1, 1, -1, 1])
    points = np.random.default_rng(0).normal(size=(40, 3)) * 2
    verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
    for i, point in enumerate(points):
        assert verdicts[i] == brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()])


@pytest.mark.parametrize("seed", range(12))
def test_noise_of_all_sizes_on_integers_equals_brute_force(seed):
    rng = np.random.default_rng([13, seed])
    for _ in range(4):
        n, m = rng.integers(1, 4), rng.integers(2, 6)
        rows = rng.integers(-2, 3, (m, n)) + rng.normal(size=(m, n)) * 10.0 ** rng.integers(-14, -6)
        labels = np.where(rows @ rng.normal(size=n) > rng.normal() * 0.3, 1, -1)
        if len(set(labels.tolist())) == 1:
            continue
        training_set = TrainingSet(rows, labels)
        points = rng.integers(-3, 4, (5, n)).astype(float)
        verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
        for i, point in enumerate(points):
            assert verdicts[i] == brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()])


def test_values_that_overflow_are_decided_exactly():
    a = 1e-149
    d = a * 1e-12
    training_set = TrainingSet([[a + 2 * d, a - d], [a - d, a + 2 * d], [a, a], [0, 0]], [1, 1, -1, -1])
    verdicts = ComplexEngine(training_set).certify([[1e150, -1e150], [-1e150, -1e150]])
    for i in range(2):
        point = [Fraction(x) for x in verdicts.points[i].tolist()]
        assert verdicts[i] == brute_force.exact_verdict(training_set, point)
