"""One point's question: rows seen from the point, exactly, in units in which weights are about 1."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.theory.svm import minimal_norm_svm


@pytest.mark.parametrize("maker", sorted(made_sets.MAKERS))
def test_rows_are_those_of_the_definition(maker):
    """G = y (x - α) times the units: as rationals exactly, in floats to the last bit but one."""
    for seed in range(3):
        training_set = made_sets.MAKERS[maker](seed)
        point = training_set.features.mean(axis=0) / 3  # with many more bits than the rows
        problem = PointProblem.of(training_set, point, minimal_norm_svm(training_set).weights)
        assert problem.point == [Fraction(x) for x in point.tolist()]
        units = [Fraction(unit) for unit in problem.units.tolist()]
        assert all(unit.numerator == 1 or unit.denominator == 1 for unit in units)
        assert all((unit.numerator * unit.denominator).bit_count() == 1 for unit in units)  # powers of two
        for i, (row, sign) in enumerate(zip(training_set.features.tolist(), training_set.signs.tolist(), strict=True)):
            wanted = [
                sign * (Fraction(x) - alpha) * unit for x, alpha, unit in zip(row, problem.point, units, strict=True)
            ]
            assert [value / scale for value, scale in zip(problem.whole[i], problem.scales, strict=True)] == wanted
            np.testing.assert_allclose(problem.G[i], [float(value) for value in wanted], rtol=4e-16, atol=0)
        assert problem.positive.tolist() == (training_set.signs > 0).tolist()


def test_weights_have_the_common_size_1():
    for seed in range(5):
        training_set = made_sets.unlike_units(seed)
        weights = minimal_norm_svm(training_set, 1 / np.ptp(training_set.features, axis=0)).weights
        problem = PointProblem.of(training_set, training_set.features[0], weights)
        size = np.linalg.norm(weights / problem.units)  # w·(x - α) = (w / units)·(units (x - α))
        assert 0.7 < size < 1.5


def test_weights_of_nothing_are_no_size():
    training_set = made_sets.gaussian(0, 2)
    problem = PointProblem.of(training_set, np.zeros(2), np.zeros(2))
    np.testing.assert_array_equal(problem.units, np.ldexp(1.0, -training_set.conditioning.exponent))
