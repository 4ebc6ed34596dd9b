"""Training sets and points that are almost tied: small integers whose ties are broken by 1e-5 to 1e-12."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from brute_force import exact_verdict, exact_vertices

from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.training_set import TrainingSet


@dataclass(frozen=True)
class NearTies:
    """A training set, points on the hyperplane of some of its extreme classifiers up to ``size``, and their verdicts.

    ``hidden``: the values of every feature are far apart, so that the near tie is visible in no single feature.
    """

    training_set: TrainingSet
    points: np.ndarray
    verdicts: list[int]
    size: float
    hidden: bool


def _perturbed_set(rng: np.random.Generator, size: float, hidden: bool) -> TrainingSet:
    while True:
        n, m = int(rng.integers(2, 4)), int(rng.integers(3, 6))
        if hidden:
            rows = np.column_stack([rng.permutation(9)[:m] - 4 for _ in range(n)]).astype(float)
        else:
            rows = rng.integers(-3, 4, (m, n)).astype(float)
        labels = rng.choice([1, -1], m)
        if abs(labels.sum()) < m:
            training_set = TrainingSet(rows + size * rng.integers(-1, 2, (m, n)), labels)
            if is_separable(training_set):
                return training_set


def near_ties(rng: np.random.Generator, n_points: int) -> NearTies:
    """A set with up to so many points whose decision value at some extreme classifier is within 1000 sizes of 0."""
    while True:
        size = 10.0 ** -rng.uniform(5, 12)
        hidden = bool(rng.random() < 0.4)
        training_set = _perturbed_set(rng, size, hidden)
        vertices = exact_vertices(training_set)
        points = rng.integers(-8, 9, (60, training_set.n_features)) / 2
        points = points + size * rng.integers(-1, 2, points.shape)
        near = [
            point
            for point in points
            if min(abs(v.value(tuple(map(Fraction, point.tolist())))) for v in vertices) < 1000 * Fraction(size)
        ][:n_points]
        if near:
            verdicts = [int(exact_verdict(training_set, point)) for point in near]
            return NearTies(training_set, np.array(near), verdicts, size, hidden)
