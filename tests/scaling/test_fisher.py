"""Fisher's ratio as a scaling: against plain loops, in other units, and on features that are constant within the classes."""

import math

import numpy as np
import pytest

from rescaleinv.scaling import FisherScaler


def test_factors_by_loops():
    rng = np.random.default_rng(3)
    rows, labels = rng.normal(size=(20, 4)) * [1, 10, 0.1, 3], np.repeat([0, 1], 10)
    rows[labels == 1] += [0.5, 20, 0, -3]
    for j, factor in enumerate(FisherScaler().fit(rows, labels).scale_):
        means, variances = [], []
        for k in (0, 1):
            values = rows[labels == k, j].tolist()
            mean = sum(values) / len(values)
            means.append(mean)
            variances.append(sum((value - mean) ** 2 for value in values) / len(values))
        values = rows[:, j].tolist()
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
        assert factor == pytest.approx(abs(means[0] - means[1]) / math.sqrt(sum(variances)) / deviation)


def test_units_do_not_matter():
    rng = np.random.default_rng(4)
    rows, labels = rng.normal(size=(12, 3)), [0, 1] * 6
    units = np.array([8.0, 0.25, 1024.0])
    np.testing.assert_array_equal(
        FisherScaler().fit_transform(rows * units, labels), FisherScaler().fit_transform(rows, labels)
    )


def test_an_infinite_ratio_becomes_the_largest_finite_one_or_1():
    constant_within, other = [0, 0, 2, 2], [0, 2, 4, 6]
    both = FisherScaler().fit(np.column_stack([constant_within, other]), [-1, -1, 1, 1])
    ratio = 4 / math.sqrt(2)  # of the other feature: means 1 and 5, variances 1 and 1
    np.testing.assert_allclose(both.scale_, [ratio / 1, ratio / math.sqrt(5)])
    assert FisherScaler().fit(np.reshape(constant_within, (4, 1)), [-1, -1, 1, 1]).scale_.tolist() == [1.0]


def test_a_constant_feature_gets_the_factor_0():
    assert FisherScaler().fit([[7, 0], [7, 1], [7, 3], [7, 4]], [0, 0, 1, 1]).scale_[0] == 0
