"""Small integer training sets and points on or near some classifier's hyperplane, for comparisons with brute force."""

import numpy as np
from brute_force import exact_verdict

from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.training_set import TrainingSet


def small_set(rng):
    """A separable set of integers with 1 to 3 features and 2 to 6 rows, often degenerate, sometimes with unlike units."""
    while True:
        n, m = int(rng.integers(1, 4)), int(rng.integers(2, 7))
        rows = rng.integers(0, rng.choice([2, 3, 4, 6]), (m, n)).astype(float)
        if rng.random() < 0.2:
            rows[:, 0] = 2 * rows[:, -1]
        if rng.random() < 0.15:
            rows[:, rng.integers(n)] = 3
        if rng.random() < 0.2:
            rows *= 10.0 ** rng.integers(-3, 5, n)
        labels = rng.choice([1, -1], m)
        if abs(labels.sum()) < m:
            training_set = TrainingSet(rows, labels)
            if is_separable(training_set):
                return training_set


def points_near(rng, training_set, k):
    """Points on a coarse grid around the rows, and half-way between rows: many of them on some classifier's line."""
    low, high = training_set.features.min(axis=0), training_set.features.max(axis=0)
    grid = low + np.maximum(high - low, 1) * rng.integers(-2, 7, (k, training_set.n_features)) / 4
    first, second = training_set.features[rng.integers(0, len(training_set), (2, k))]
    return np.where(rng.random((k, 1)) < 0.7, grid, (first + second) / 2)


def reference(training_set, points):
    return [int(exact_verdict(training_set, point)) for point in points]
