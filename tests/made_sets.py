"""Training sets for the tests, all separable: made ones from a seed, with 1 to 7 features, and draws of raw data.

Degenerate data is the normal case in practice, so most makers give ties of one kind or another.
"""

from collections.abc import Callable

import numpy as np

from rescaleinv.datasets import load
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet

MOST_FEATURES = 7


def _size(rng: np.random.Generator, seed: int, n_features: int | None, least: int = 1) -> tuple[int, int]:
    """Numbers of rows and features; the features run through 1, 2, …, 7 with the seed unless they are given."""
    n = max(1 + seed % MOST_FEATURES if n_features is None else n_features, least)
    return int(rng.integers(6, 25)), n


def _labels(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels by the side of a random hyperplane that runs through the widest of the gaps near the middle."""
    while True:
        weights = rng.integers(-3, 4, points.shape[1])
        scores = points @ weights
        levels = np.unique(scores)
        if len(levels) > 1:
            break
    gaps = np.diff(levels)
    near_middle = np.arange(len(gaps) // 4, len(gaps) - len(gaps) // 4)
    k = near_middle[gaps[near_middle].argmax()]
    return np.where(scores > (levels[k] + levels[k + 1]) / 2, 1, -1)


def _integer_points(rng: np.random.Generator, rows: int, n: int, most: int = 4) -> np.ndarray:
    points = rng.integers(0, most + 1, (rows, n)).astype(float)
    points[0], points[1] = 0, most  # no column is constant by accident
    return points


def gaussian(seed: int, n_features: int | None = None) -> TrainingSet:
    rng = np.random.default_rng([1, seed])
    points = rng.normal(size=_size(rng, seed, n_features))
    return TrainingSet(points, _labels(points, rng))


def integer_ties(seed: int, n_features: int | None = None) -> TrainingSet:
    rng = np.random.default_rng([2, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features))
    return TrainingSet(points, _labels(points, rng))


def binary(seed: int, n_features: int | None = None) -> TrainingSet:
    rng = np.random.default_rng([3, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features), most=1)
    return TrainingSet(points, _labels(points, rng))


def duplicated_rows(seed: int, n_features: int | None = None) -> TrainingSet:
    rng = np.random.default_rng([4, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features))
    labels = _labels(points, rng)
    again = rng.permutation(np.concatenate([np.arange(len(points)), rng.integers(0, len(points), len(points))]))
    return TrainingSet(points[again], labels[again])


def constant_feature(seed: int, n_features: int | None = None) -> TrainingSet:
    rng = np.random.default_rng([5, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features, least=2))
    points[:, rng.integers(points.shape[1])] = 5
    return TrainingSet(points, _labels(points, rng))


def proportional_features(seed: int, n_features: int | None = None) -> TrainingSet:
    rng = np.random.default_rng([6, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features, least=2))
    source, image = rng.permutation(points.shape[1])[:2]
    points[:, image] = points[:, source] * rng.choice([-7.0, -0.5, 1.0, 3.0, 250.0])
    return TrainingSet(points, _labels(points, rng))


def one_positive(seed: int, n_features: int | None = None) -> TrainingSet:
    """One positive point, outside the box of the negatives."""
    rng = np.random.default_rng([7, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features))
    points[-1, rng.integers(points.shape[1])] = rng.choice([-2, 6])
    labels = np.full(len(points), -1)
    labels[-1] = 1
    return TrainingSet(points, labels)


def decimal_ties(seed: int, n_features: int | None = None) -> TrainingSet:
    """Ties of decimal numbers, which as floats miss each other by a rounding error."""
    rng = np.random.default_rng([10, seed])
    rows, n = _size(rng, seed, n_features)
    points = _integer_points(rng, rows, n, most=3) * rng.choice([0.1, 0.33, 0.07], n)
    return TrainingSet(points, _labels(points, rng))


def nearly_tied(seed: int, n_features: int | None = None) -> TrainingSet:
    """Ties that are missed by some 1e-9."""
    rng = np.random.default_rng([11, seed])
    rows, n = _size(rng, seed, n_features)
    points = _integer_points(rng, rows, n, most=3)
    return TrainingSet(points + rng.integers(-2, 3, (rows, n)) * 2.0**-28, _labels(points, rng))


def big_offsets(seed: int, n_features: int | None = None) -> TrainingSet:
    """Years, time stamps and account numbers: differences are small against the values."""
    rng = np.random.default_rng([8, seed])
    points = _integer_points(rng, *_size(rng, seed, n_features), most=9)
    labels = _labels(points, rng)
    return TrainingSet(points + rng.choice([0.0, 1990.0, 1e6, 1.7e9, -3e12], points.shape[1]), labels)


def unlike_units(seed: int, n_features: int | None = None) -> TrainingSet:
    """Units that differ by up to 1e12."""
    rng = np.random.default_rng([9, seed])
    points = rng.normal(size=_size(rng, seed, n_features))
    labels = _labels(points, rng)
    return TrainingSet(points * 10.0 ** rng.integers(-6, 7, points.shape[1]), labels)


MAKERS: dict[str, Callable[..., TrainingSet]] = {
    maker.__name__: maker
    for maker in (
        gaussian,
        integer_ties,
        binary,
        duplicated_rows,
        constant_feature,
        proportional_features,
        one_positive,
        decimal_ties,
        nearly_tied,
        big_offsets,
        unlike_units,
    )
}


def drawn_from(name: str, seed: int, rows: int = 25) -> tuple[TrainingSet, np.ndarray]:
    """A separable part of some raw rows of a shipped data set, half of each class, and all its rows as points."""
    features, labels, _ = load(name)
    order = np.random.default_rng([seed, rows]).permutation(len(labels))
    classes = [order[labels[order] == label] for label in (-1, 1)]
    chosen = np.concatenate([classes[0][: rows // 2], classes[1][: rows - rows // 2]])
    return separable_subset(TrainingSet(features[chosen], labels[chosen])).training_set, features


def random_rescaling(rng: np.random.Generator, n_features: int, decades: float = 3) -> np.ndarray:
    """Factors that are log-uniform between 10**-decades and 10**decades."""
    return 10.0 ** rng.uniform(-decades, decades, n_features)


def real_sized():
    """18 features, 60 rows: far beyond the enumeration."""
    rng = np.random.default_rng(3)
    labels = np.where(np.arange(60) % 2, 1, -1)
    features = rng.normal(size=(60, 18)) + 0.9 * labels[:, None] * rng.random(18)
    weights = rng.normal(size=18)
    scores = features @ weights
    gap = np.median(scores[labels > 0]) - np.median(scores[labels < 0])
    features += np.outer(labels * (3 * abs(gap) + 3), weights) / (weights @ weights)
    return TrainingSet(np.round(features, 2), labels)
